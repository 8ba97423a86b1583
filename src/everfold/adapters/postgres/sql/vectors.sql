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
-- The nearest :candidate_count by halved floats, of all that the user has; of them the nearest :limit_count by their floats.
SELECT vectors.kind, vectors.owner_key, 1 - (vectors.vector <=> CAST(:written AS VECTOR)) AS similarity
FROM (
    SELECT key
    FROM vectors
    WHERE
        user_key = :user_key AND space_key = :space_key
        AND kind IN (SELECT json_array_elements_text(CAST(:kinds AS JSON)))
        AND (CAST(:place AS BIGINT) IS NULL OR place IN (0, :place))
    ORDER BY half <=> CAST(:written AS HALFVEC)
    LIMIT :candidate_count
) AS candidate
JOIN vectors ON vectors.user_key = :user_key AND vectors.key = candidate.key
ORDER BY similarity DESC, vectors.key
LIMIT :limit_count;

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
