-- name: insert_user_now
INSERT INTO users (id, created_at) VALUES (:user_id, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT))
ON CONFLICT (id) DO NOTHING;

-- name: add_user
INSERT INTO users (id, name, folded, is_default, created_at)
VALUES (:user_id, :display_name, :folded, :is_default, :created_at);

-- name: rename_user
UPDATE users SET name = :display_name, folded = :folded WHERE id = :user_id;

-- name: list_users_named
-- place: 0 where the name begins with the text, 1 where it stands inside.
WITH found AS (
    SELECT key, CASE WHEN strpos(folded, :folded) = 1 THEN 0 ELSE 1 END AS place FROM users
    WHERE strpos(folded, :folded) > 0 AND key <= :last_key
),
last AS (SELECT CASE WHEN strpos(folded, :folded) = 1 THEN 0 ELSE 1 END AS place FROM users WHERE key = :after),
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
