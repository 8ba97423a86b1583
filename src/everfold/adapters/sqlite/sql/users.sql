-- name: list_users_named
-- place: 0 where the name begins with the text, 1 where it stands inside; fold_name is `everfold.core.users.fold_name`.
-- What is ASCII SQLite folds by itself, which is ten times as quick.
WITH folded AS MATERIALIZED (
    SELECT
        key,
        instr(CASE WHEN octet_length(name) = length(name) THEN lower(name) ELSE fold_name(name) END, :folded) AS at
    FROM users
),
found AS (SELECT key, at > 1 AS place FROM folded WHERE at > 0 AND key <= :last_key),
last AS (SELECT at <> 1 AS place FROM folded WHERE key = :after),
page AS (
    SELECT found.key, found.place
    FROM found
    WHERE :after = 0 OR (found.place, found.key) > ((SELECT place FROM last), :after)
    ORDER BY found.place, found.key
    LIMIT :limit_count
)
SELECT id, name, is_default, created_at, channel, own_id
FROM page
JOIN users ON users.key = page.key
LEFT JOIN user_bindings ON user_key = page.key
ORDER BY page.place, page.key;
