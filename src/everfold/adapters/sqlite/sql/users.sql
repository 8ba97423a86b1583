-- name: find_user_row
SELECT
    id, name, is_default, created_at,
    (SELECT json_group_array(json_array(channel, own_id)) FROM user_bindings AS own WHERE own.user_key = users.key)
FROM users
WHERE id = :user_id;

-- name: find_default_user
SELECT
    id, name, is_default, created_at,
    (SELECT json_group_array(json_array(channel, own_id)) FROM user_bindings AS own WHERE own.user_key = users.key)
FROM users
WHERE is_default = 1;

-- name: find_bound_user
SELECT
    id, name, is_default, created_at,
    (SELECT json_group_array(json_array(channel, own_id)) FROM user_bindings AS own WHERE own.user_key = users.key)
FROM user_bindings
JOIN users ON users.key = user_bindings.user_key
WHERE channel = :channel AND own_id = :own_id;

-- name: list_users
SELECT
    id, name, is_default, created_at,
    (SELECT json_group_array(json_array(channel, own_id)) FROM user_bindings AS own WHERE own.user_key = users.key)
FROM users
WHERE key > :after
ORDER BY key
LIMIT :limit_count;

-- name: list_users_named
-- place: 0 where the name begins with the text, 1 where it stands inside; fold_name is `everfold.core.users.fold_name`.
-- What is ASCII SQLite folds by itself, which is ten times as quick.
WITH folded AS MATERIALIZED (
    SELECT
        key,
        instr(CASE WHEN octet_length(name) = length(name) THEN lower(name) ELSE fold_name(name) END, :folded) AS at
    FROM users
),
found AS (SELECT key, at > 1 AS place FROM folded WHERE at > 0),
last AS (SELECT at <> 1 AS place FROM folded WHERE key = :after)
SELECT
    id, name, is_default, created_at,
    (SELECT json_group_array(json_array(channel, own_id)) FROM user_bindings AS own WHERE own.user_key = users.key)
FROM found
JOIN users ON users.key = found.key
WHERE :after = 0 OR (found.place, found.key) > ((SELECT place FROM last), :after)
ORDER BY found.place, found.key
LIMIT :limit_count;
