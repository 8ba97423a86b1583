-- name: find_user_row
-- As each query of users below: a row for every binding of a user, one without a binding for a user who has none.
SELECT id, name, is_default, created_at, channel, own_id
FROM users
LEFT JOIN user_bindings ON user_key = users.key
WHERE id = :user_id;

-- name: find_default_user
SELECT id, name, is_default, created_at, channel, own_id
FROM users
LEFT JOIN user_bindings ON user_key = users.key
WHERE is_default = 1;

-- name: find_bound_user
SELECT id, name, is_default, created_at, channel, own_id
FROM users
JOIN user_bindings ON user_key = users.key
WHERE users.key = (SELECT user_key FROM user_bindings WHERE channel = :channel AND own_id = :own_id);

-- name: list_users
SELECT id, name, is_default, created_at, channel, own_id
FROM (SELECT key, id, name, is_default, created_at FROM users WHERE key > :after AND key <= :last_key ORDER BY key LIMIT :limit_count) AS page
LEFT JOIN user_bindings ON user_key = page.key
ORDER BY page.key;

-- name: add_user
INSERT INTO users (id, name, is_default, created_at) VALUES (:user_id, :display_name, :is_default, :created_at);

-- name: bind_user
INSERT INTO user_bindings (channel, own_id, user_key)
SELECT :channel, :own_id, key FROM users WHERE id = :user_id;

-- name: unbind_user
DELETE FROM user_bindings WHERE user_key = (SELECT key FROM users WHERE id = :user_id);

-- name: rename_user
UPDATE users SET name = :display_name WHERE id = :user_id;
