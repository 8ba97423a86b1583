-- name: make_copy_table
CREATE TABLE store_copy (fingerprint TEXT NOT NULL, indexed_key BIGINT NOT NULL);

-- name: drop_copy_table
DROP TABLE store_copy;

-- name: insert_copy
INSERT INTO store_copy (fingerprint, indexed_key) VALUES (:fingerprint, 0);

-- name: read_copy
SELECT fingerprint, indexed_key FROM store_copy;

-- name: note_indexed
UPDATE store_copy SET indexed_key = :session_key;

-- name: sum_revisions
SELECT
    (SELECT CAST(coalesce(sum(revision), 0) AS BIGINT) FROM session_states),
    (SELECT CAST(coalesce(sum(revision), 0) AS BIGINT) FROM memory_versions);

-- name: list_session_keys
SELECT key, id FROM sessions WHERE key > :after_key ORDER BY key LIMIT :limit_count;

-- name: list_message_ids
SELECT seq, id FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND seq >= :first_seq
ORDER BY seq LIMIT :limit_count;

-- name: list_active_items
SELECT key, user_key, place, content FROM items
WHERE status = 'active' AND (user_key, key) > (:after_user_key, :after_key)
ORDER BY user_key, key LIMIT :limit_count;
