-- name: insert_user_now
INSERT INTO users (id, created_at) VALUES (:user_id, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT))
ON CONFLICT (id) DO NOTHING;

-- name: add_user
INSERT INTO users (id, name, folded, is_default, created_at)
VALUES (:user_id, :display_name, :folded, :is_default, :created_at);

-- name: rename_user
UPDATE users SET name = :display_name, folded = :folded WHERE id = :user_id;

-- name: find_user_row
SELECT
    id, name, is_default, created_at,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(channel, own_id)), '[]') AS TEXT)
        FROM user_bindings AS own
        WHERE own.user_key = users.key
    )
FROM users
WHERE id = :user_id;

-- name: find_default_user
SELECT
    id, name, is_default, created_at,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(channel, own_id)), '[]') AS TEXT)
        FROM user_bindings AS own
        WHERE own.user_key = users.key
    )
FROM users
WHERE is_default = 1;

-- name: find_bound_user
SELECT
    id, name, is_default, created_at,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(channel, own_id)), '[]') AS TEXT)
        FROM user_bindings AS own
        WHERE own.user_key = users.key
    )
FROM user_bindings
JOIN users ON users.key = user_bindings.user_key
WHERE channel = :channel AND own_id = :own_id;

-- name: list_users
SELECT
    id, name, is_default, created_at,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(channel, own_id)), '[]') AS TEXT)
        FROM user_bindings AS own
        WHERE own.user_key = users.key
    )
FROM users
WHERE key > :after
ORDER BY key
LIMIT :limit_count;

-- name: list_users_named
-- place: 0 where the name begins with the text, 1 where it stands inside.
WITH found AS (
    SELECT key, CASE WHEN strpos(folded, :folded) = 1 THEN 0 ELSE 1 END AS place FROM users WHERE strpos(folded, :folded) > 0
),
last AS (SELECT CASE WHEN strpos(folded, :folded) = 1 THEN 0 ELSE 1 END AS place FROM users WHERE key = :after)
SELECT
    id, name, is_default, created_at,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(channel, own_id)), '[]') AS TEXT)
        FROM user_bindings AS own
        WHERE own.user_key = users.key
    )
FROM found
JOIN users ON users.key = found.key
WHERE :after = 0 OR (found.place, found.key) > ((SELECT place FROM last), :after)
ORDER BY found.place, found.key
LIMIT :limit_count;
