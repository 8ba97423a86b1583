-- name: find_message_source
-- Whose a message is, and the hash that it is embedded under.
SELECT messages.id, sessions.user_key, sessions.agent_key, encode(messages.content_hash, 'hex')
FROM sessions
JOIN messages ON messages.user_key = sessions.user_key AND messages.session_key = sessions.key
WHERE
    sessions.id = :owner_id AND messages.seq = :seq AND messages.erased_at IS NULL AND messages.kind != 'retracted';

-- name: insert_space
INSERT INTO vector_spaces (model, dimensions) VALUES (:model, :dimensions)
ON CONFLICT (model, dimensions) DO UPDATE SET model = excluded.model
RETURNING key;

-- name: insert_vector
INSERT INTO vectors (user_key, space_key, kind, place, owner_key, half, vector)
VALUES (:user_key, :space_key, :kind, :place, :owner_key, CAST(:written AS HALFVEC), CAST(:written AS VECTOR));

-- name: find_near_vectors
-- Of all vectors of the user, or by their index where the user has one: see the function.
SELECT kind, owner_key, similarity
FROM find_near_vectors(:user_key, :space_key, CAST(:place AS BIGINT), :kinds, :written, :candidate_count, :limit_count);

-- name: list_near_indexes
-- The indexes of a user's near vectors, with their spaces.
SELECT
    indexes.relname, CAST(split_part(CAST(indexes.relname AS TEXT), '_', 4) AS BIGINT),
    CAST(pg_index.indisvalid AND pg_index.indisready AS INTEGER)
FROM pg_class AS indexes
JOIN pg_index ON pg_index.indexrelid = indexes.oid
WHERE
    indexes.relname ^@ concat('vectors_near_', CAST(:user_key AS BIGINT), '_')
    AND indexes.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('vectors'));

-- name: count_indexable
-- How many vectors a user has in each space, or :most_count where there are more, and the table that has them.
SELECT vector_spaces.key, vector_spaces.dimensions, counted.vectors_count, counted.holder
FROM vector_spaces
CROSS JOIN LATERAL (
    SELECT count(*) AS vectors_count, CAST(CAST(min(held.tableoid) AS REGCLASS) AS TEXT) AS holder
    FROM (
        SELECT tableoid FROM vectors
        WHERE user_key = :user_key AND space_key = vector_spaces.key
        LIMIT CAST(:most_count AS BIGINT)
    ) AS held
) AS counted
WHERE counted.vectors_count > 0;

-- name: read_index_rights
-- Which pgvector there is, and whether this role may make indexes.
SELECT
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    CAST(pg_has_role(relowner, 'USAGE') AS INTEGER)
FROM pg_class WHERE oid = to_regclass('vectors');

-- name: name_message_source
SELECT sessions.id, messages.seq
FROM messages
JOIN sessions ON sessions.user_key = messages.user_key AND sessions.key = messages.session_key
WHERE messages.user_key = :user_key AND messages.id = :owner_key;

-- name: list_bare_messages
-- Messages without a vector in the space, said by a person or a model.
SELECT sessions.id, messages.seq, messages.kind, origin, source, format, said_at, content, tokens, raw_tokens,
    is_boundary, content_hash, keep, cuts, lines, messages.id
FROM messages
JOIN sessions ON sessions.user_key = messages.user_key AND sessions.key = messages.session_key
WHERE messages.user_key = :user_key AND messages.id > :after AND messages.kind IN ('user', 'assistant')
    AND messages.source = 'said' AND messages.erased_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM vectors
        WHERE
            vectors.user_key = :user_key AND vectors.kind = 'message' AND vectors.owner_key = messages.id
            AND vectors.space_key = :space_key
    )
ORDER BY messages.id
LIMIT :limit_count;

-- name: read_open_writes
-- By transaction: an append has its number before it draws the keys of its messages.
SELECT
    CAST(CAST(pg_snapshot_xmin(taken) AS TEXT) AS BIGINT),
    CAST(CAST(pg_snapshot_xmax(taken) AS TEXT) AS BIGINT)
FROM pg_current_snapshot() AS taken;

-- name: count_vectors
SELECT vector_spaces.model, vector_spaces.dimensions, count(*)
FROM vectors
JOIN vector_spaces ON vector_spaces.key = vectors.space_key
WHERE vectors.user_key = :user_key
GROUP BY vector_spaces.key
ORDER BY vector_spaces.key;

-- name: drop_vectors
DELETE FROM vectors WHERE user_key = :user_key AND key IN (
    SELECT key FROM vectors
    WHERE user_key = :user_key AND space_key IS DISTINCT FROM CAST(:kept_key AS BIGINT)
    LIMIT CAST(NULLIF(:limit_count, -1) AS BIGINT)
);

-- name: count_all_vectors
SELECT count_user_vectors(:user_key);

-- name: has_vectors
SELECT to_regclass('vectors') IS NOT NULL;
