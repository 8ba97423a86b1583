-- name: find_erased_session
SELECT key FROM erased_sessions WHERE id = :session_id;

-- name: list_stored_messages
SELECT seq, kind, origin, source, format, said_at, client_id, content, erased_at, is_boundary
FROM messages
WHERE user_key = :user_key AND session_key = :session_key AND seq > :after_seq
ORDER BY seq
LIMIT :limit_count;

-- name: list_session_lineages
SELECT sessions.key, sessions.id, agents.id, lineage
FROM sessions
JOIN agents ON agents.key = sessions.agent_key
WHERE user_key = :user_key
ORDER BY sessions.key;

-- name: bury_session
INSERT INTO erased_sessions (key, id) SELECT key, id FROM sessions WHERE user_key = :user_key AND key = :session_key;

-- name: erase_session_messages
DELETE FROM messages WHERE user_key = :user_key AND session_key = :session_key;

-- name: erase_session_digests
DELETE FROM digests WHERE user_key = :user_key AND compaction_id IN (
    SELECT id FROM compactions WHERE user_key = :user_key AND session_key = :session_key
);

-- name: anonymise_session_calls
UPDATE model_calls SET user_id = '', session_id = NULL, compaction_id = NULL
WHERE session_id = :session_id
    OR compaction_id IN (
        SELECT compactions.id
        FROM sessions
        JOIN compactions ON compactions.user_key = sessions.user_key AND compactions.session_key = sessions.key
        WHERE sessions.id = :session_id
    );

-- name: anonymise_user_calls
UPDATE model_calls SET user_id = '', session_id = NULL, compaction_id = NULL WHERE user_id = :user_id;

-- name: erase_session_events
DELETE FROM compactions WHERE user_key = :user_key AND session_key = :session_key;

-- name: erase_session_state
DELETE FROM session_states WHERE user_key = :user_key AND session_key = :session_key;

-- name: erase_session_memory
DELETE FROM session_memory WHERE user_key = :user_key AND session_key = :session_key;

-- name: erase_session_row
DELETE FROM sessions WHERE user_key = :user_key AND key = :session_key;

-- name: count_snapshots
SELECT count(*) FROM session_memory WHERE user_key = :user_key AND has_snapshot = 1;

-- name: pass_over_log
-- After a wipe: what was said before it is not extracted again, and that a snapshot was taken away is known.
INSERT INTO session_memory (
    session_key, user_key, extracted_seq, model_seq, tokens_count, calls_count, snapshot, snapshot_revision,
    snapshot_compaction, has_snapshot
)
SELECT key, user_key, last_seq, last_seq, 0, 0, :snapshot, :revision, '', 0
FROM (
    SELECT
        key, user_key,
        coalesce((SELECT max(seq) FROM messages WHERE messages.user_key = sessions.user_key AND session_key = sessions.key), branch_seq) AS last_seq
    FROM sessions
    WHERE user_key = :user_key
) AS own
WHERE last_seq > 0;

-- name: count_memory
SELECT
    (SELECT count(*) FROM items WHERE user_key = :user_key) + (SELECT count(*) FROM topics WHERE user_key = :user_key)
    + (SELECT count(*) FROM dreams WHERE user_key = :user_key)
    + (SELECT count(*) FROM extractions WHERE user_key = :user_key)
    + (SELECT count(*) FROM memory_files WHERE user_key = :user_key);

-- name: put_ordinal
UPDATE memory_versions SET last_ordinal = :ordinal WHERE user_key = :user_key;

-- name: raise_ordinal
UPDATE memory_versions SET last_ordinal = :ordinal WHERE user_key = :user_key AND last_ordinal < :ordinal;
