-- name: find_client_chain
SELECT sessions.id
FROM client_messages
JOIN sessions ON sessions.key = client_messages.session_key
WHERE client_messages.user_key = :user_key AND client_messages.chain = :chain AND sessions.user_key = :user_key AND sessions.agent_key = :agent_key
ORDER BY sessions.key DESC
LIMIT :limit_count;

-- name: find_client_tail
SELECT sessions.id
FROM client_tails
JOIN sessions ON sessions.key = client_tails.session_key
WHERE client_tails.user_key = :user_key AND client_tails.tail = :tail AND sessions.user_key = :user_key AND sessions.agent_key = :agent_key
ORDER BY sessions.key DESC
LIMIT :limit_count;

-- name: find_client_erased
SELECT sessions.id
FROM sessions
WHERE
    sessions.user_key = :user_key AND sessions.agent_key = :agent_key AND substr(sessions.thread, 1, CAST(:prefix_chars AS INTEGER)) = :key_prefix
    AND EXISTS (
        SELECT 1 FROM client_messages
        WHERE client_messages.user_key = :user_key AND client_messages.session_key = sessions.key AND client_messages.content IS NULL
    )
ORDER BY sessions.key DESC
LIMIT :limit_count;

-- name: count_client_messages
SELECT count(*) FROM client_messages WHERE user_key = :user_key AND session_key = :session_key;

-- name: read_client_chain
SELECT chain FROM client_messages WHERE user_key = :user_key AND session_key = :session_key AND place = :place;

-- name: read_client_messages
SELECT seq, kind, is_reply, is_optional, content, chain, attempt
FROM client_messages
WHERE user_key = :user_key AND session_key = :session_key
ORDER BY place;

-- name: delete_client_messages
DELETE FROM client_messages WHERE user_key = :user_key AND session_key = :session_key AND place >= :first_place;

-- name: insert_client_message
INSERT INTO client_messages (
    user_key, session_key, place, seq, kind, is_reply, is_optional, content, chain, attempt
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: write_client_tail
INSERT INTO client_tails (user_key, session_key, tail) VALUES (:user_key, :session_key, :tail)
ON CONFLICT (user_key, session_key) DO UPDATE SET tail = excluded.tail;

-- name: read_client_tail
SELECT tail FROM client_tails WHERE user_key = :user_key AND session_key = :session_key;

-- name: delete_client_tail
DELETE FROM client_tails WHERE user_key = :user_key AND session_key = :session_key;

-- name: forget_client_tail
-- The tail is the hash of the last three messages that a client must hold.
DELETE FROM client_tails
WHERE user_key = :user_key AND session_key = :session_key AND :seq IN (
    SELECT seq FROM client_messages WHERE user_key = :user_key AND session_key = :session_key AND is_optional = 0 ORDER BY place DESC LIMIT 3
);

-- name: forget_client_chains
UPDATE client_messages SET chain = NULL
WHERE user_key = :user_key AND session_key = :session_key AND place >= (
    SELECT min(place) FROM client_messages WHERE user_key = :user_key AND session_key = :session_key AND seq = :seq
);

-- name: forget_client_content
UPDATE client_messages SET content = NULL WHERE user_key = :user_key AND session_key = :session_key AND seq = :seq;
