-- name: insert_space
INSERT INTO vector_spaces (model, dimensions) VALUES (:model, :dimensions);

-- name: find_message_source
-- Whose a message is, and the hash that it is embedded under.
SELECT messages.id, sessions.user_key, sessions.agent_key, lower(hex(messages.content_hash))
FROM sessions
JOIN messages ON messages.user_key = sessions.user_key AND messages.session_key = sessions.key
WHERE
    sessions.id = :owner_id AND messages.seq = :seq AND messages.erased_at IS NULL AND messages.kind != 'retracted';

-- name: insert_vector
INSERT INTO vectors (user_key, space_key, kind, place, owner_key, code, vector)
VALUES (:user_key, :space_key, :kind, :place, :owner_key, :code, :vector);

-- name: find_near_vectors
-- The nearest :candidate_count by their codes, from the index alone; of them the nearest :limit_count by their floats.
SELECT vectors.kind, vectors.owner_key, 1 - vec_distance_cosine(vectors.vector, :vector) AS similarity
FROM (
    SELECT key
    FROM vectors INDEXED BY vectors_code
    WHERE user_key = :user_key AND space_key = :space_key AND kind IN (SELECT value FROM json_each(:kinds))
        AND (:place IS NULL OR place IN (0, :place))
    ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(:code))
    LIMIT :candidate_count
) AS candidate
CROSS JOIN vectors ON vectors.key = candidate.key
ORDER BY similarity DESC, vectors.key
LIMIT :limit_count;

-- name: name_message_source
SELECT sessions.id, messages.seq
FROM messages
JOIN sessions ON sessions.key = messages.session_key
WHERE messages.id = :owner_key;

-- name: list_bare_messages
-- Messages without a vector in the space, said by a person or a model. The inner query sorts keys alone.
SELECT sessions.id, messages.seq, messages.kind, origin, source, format, said_at, content, tokens, raw_tokens,
    is_boundary, content_hash, keep, cuts, lines, messages.id
FROM (
    SELECT messages.id AS id
    FROM sessions
    CROSS JOIN messages INDEXED BY messages_seq
        ON messages.user_key = sessions.user_key AND messages.session_key = sessions.key
    WHERE sessions.user_key = :user_key AND messages.id > :after AND messages.kind IN ('user', 'assistant')
        AND messages.source = 'said' AND messages.erased_at IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM vectors
            WHERE
                vectors.user_key = :user_key AND vectors.kind = 'message' AND vectors.owner_key = messages.id AND vectors.space_key = :space_key
        )
    ORDER BY messages.id
    LIMIT :limit_count
) AS bare
CROSS JOIN messages ON messages.id = bare.id
CROSS JOIN sessions ON sessions.key = messages.session_key
ORDER BY bare.id;

-- name: count_vectors
SELECT vector_spaces.model, vector_spaces.dimensions, count(*)
FROM vectors INDEXED BY vectors_code
JOIN vector_spaces ON vector_spaces.key = vectors.space_key
WHERE vectors.user_key = :user_key
GROUP BY vectors.space_key
ORDER BY vectors.space_key;

-- name: drop_vectors
DELETE FROM vectors WHERE key IN (
    SELECT key FROM vectors INDEXED BY vectors_code
    WHERE user_key = :user_key AND space_key IS NOT :kept_key
    LIMIT :limit_count
);
