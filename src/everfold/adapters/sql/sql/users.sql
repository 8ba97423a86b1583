-- name: add_user
INSERT INTO users (id, name, is_default, created_at) VALUES (:user_id, :display_name, :is_default, :created_at);

-- name: bind_user
INSERT INTO user_bindings (channel, own_id, user_key)
SELECT :channel, :own_id, key FROM users WHERE id = :user_id;

-- name: unbind_user
DELETE FROM user_bindings WHERE user_key = (SELECT key FROM users WHERE id = :user_id);

-- name: rename_user
UPDATE users SET name = :display_name WHERE id = :user_id;
