-- name: read_state
SELECT revision, CASE WHEN revision IS NOT DISTINCT FROM :known_revision THEN NULL ELSE state END
FROM session_states
WHERE user_key = :user_key AND session_key = :session_key;

-- name: write_state
UPDATE session_states SET revision = :revision, state = :state
WHERE user_key = :user_key AND session_key = :session_key AND revision = :expected_revision;

-- name: settle_message
UPDATE messages SET tokens = :tokens, sum_tokens = :sum_tokens, is_boundary = :is_boundary, cuts = :cuts
WHERE user_key = :user_key AND session_key = :session_key AND seq = :seq;

-- name: read_messages
SELECT
    seq, kind, origin, source, format, said_at, content, tokens, raw_tokens, is_boundary, content_hash, keep, cuts, lines
FROM messages
WHERE
    user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq AND erased_at IS NULL
    AND (kind != 'retracted' OR :retracted = 1)
ORDER BY seq;

-- name: read_short_messages
SELECT
    seq, kind, origin, source, format, said_at, content, tokens, raw_tokens, is_boundary, content_hash, keep, cuts, lines
FROM messages
WHERE
    user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq AND erased_at IS NULL
    AND kind != 'retracted' AND length(content) <= :most_bytes
ORDER BY seq;

-- name: read_notes
-- The content is what lines quote from; those of a long message are written out.
SELECT
    seq, kind, origin, CASE kind WHEN 'retracted' THEN NULL ELSE speaker END, said_at, tokens, raw_tokens, is_boundary,
    keep, CASE kind WHEN 'retracted' THEN NULL ELSE content_hash END, sum_tokens, turn_seq, turns_count, calls, lines,
    CASE WHEN length(content) <= :long_bytes THEN content END
FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq
ORDER BY seq;

-- name: find_client
SELECT seq, content_hash FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND client_id = :client_id AND seq <= :last_seq;

-- name: find_hash
-- The index has the first bytes only; two messages hardly ever share them.
SELECT seq FROM messages
WHERE
    user_key = :user_key AND session_key = :session_key AND substr(content_hash, 1, 6) = substr(:content_hash, 1, 6)
    AND content_hash = :content_hash AND seq <= :last_seq AND kind != 'retracted'
ORDER BY seq DESC
LIMIT 1;

-- name: find_boundary
SELECT seq FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq AND is_boundary = 1
ORDER BY seq
LIMIT 1;

-- name: read_contents
SELECT seq, content, content_hash, erased_at, kind FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq
ORDER BY seq;

-- name: find_message_id
SELECT messages.id, messages.user_key, sessions.agent_key, sessions.key, messages.erased_at IS NOT NULL
FROM messages
JOIN sessions ON sessions.user_key = messages.user_key AND sessions.key = messages.session_key
WHERE messages.user_key = :user_key AND session_key = :session_key AND seq = :seq;

-- name: erase_message
UPDATE messages
SET content = NULL, content_hash = NULL, calls = NULL, cuts = NULL, lines = NULL, speaker = NULL,
    erased_at = :erased_at
WHERE user_key = :user_key AND id = :message_id AND erased_at IS NULL;

-- name: retract_message
UPDATE messages
SET kind = 'retracted', tokens = 0, sum_tokens = :sum_tokens, turn_seq = :turn_seq, turns_count = :turns_count,
    is_boundary = :is_boundary, keep = 0, calls = NULL, cuts = NULL, lines = NULL
WHERE user_key = :user_key AND id = :message_id;

-- name: list_erased
SELECT seq FROM messages
WHERE
    user_key = :user_key AND session_key = :session_key AND seq BETWEEN :first_seq AND :last_seq
    AND (erased_at IS NOT NULL OR :retracted = 1 AND kind = 'retracted')
ORDER BY seq;

-- name: list_refreshes
SELECT seq FROM messages
WHERE
    user_key = :user_key AND session_key = :session_key AND source = 'refresh'
    AND seq BETWEEN :first_seq AND :last_seq AND erased_at IS NULL AND kind != 'retracted'
ORDER BY seq;

-- name: hold_memory_epoch
SELECT epoch FROM memory_versions WHERE user_key = :user_key;

-- name: begin_memory
INSERT INTO memory_versions (user_key, revision, epoch) VALUES (:user_key, 0, 0) ON CONFLICT (user_key) DO NOTHING;

-- name: write_turn_recall
INSERT INTO turn_recalls (session_key, user_key, content) VALUES (:session_key, :user_key, :content)
ON CONFLICT (user_key, session_key) DO UPDATE SET content = excluded.content;

-- name: read_turn_recall
SELECT content FROM turn_recalls WHERE user_key = :user_key AND session_key = :session_key;

-- name: erase_turn_recall
DELETE FROM turn_recalls WHERE user_key = :user_key AND session_key = :session_key;

-- name: forget_turn_recalls
DELETE FROM turn_recalls WHERE user_key = :user_key;
