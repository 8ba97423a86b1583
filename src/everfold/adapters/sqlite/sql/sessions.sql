-- name: find_settled_key
-- With one writer at a time a key is drawn when every lower one is committed.
SELECT 9223372036854775807 WHERE :listed <> '';

-- name: insert_user_now
INSERT INTO users (id, created_at) VALUES (:user_id, CAST(unixepoch('subsec') * 1000000 AS INTEGER))
ON CONFLICT (id) DO NOTHING;

-- name: insert_session
-- A key is never given again; see erased_sessions.
INSERT INTO sessions (
    key, id, user_key, agent_key, parent_id, branch_seq, started_by, created_at, is_current, lineage, settings,
    thread, title, folded_title
) VALUES (
    1 + max(
        coalesce((SELECT max(key) FROM sessions), 0),
        coalesce((SELECT max(key) FROM erased_sessions), 0)
    ),
    :id, :user_key, :agent_key, :parent_id, :branch_seq, :started_by, :created_at, :is_current, :lineage, :settings,
    :thread, :title, :folded_title
);

-- name: read_states
SELECT sessions.id, state FROM sessions
JOIN session_states ON session_states.session_key = sessions.key
WHERE sessions.id IN (SELECT value FROM json_each(:ids));

-- name: list_used_sessions
-- :ids is a JSON list.
SELECT id, 1 FROM sessions WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id, 0 FROM erased_sessions WHERE id IN (SELECT value FROM json_each(:ids));
