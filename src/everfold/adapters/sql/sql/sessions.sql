-- name: insert_user
INSERT INTO users (id, created_at) VALUES (:user_id, :created_at) ON CONFLICT (id) DO NOTHING;

-- name: insert_agent
INSERT INTO agents (id) VALUES (:agent_id) ON CONFLICT (id) DO NOTHING;

-- name: find_owner
SELECT users.key, agents.key FROM users, agents WHERE users.id = :user_id AND agents.id = :agent_id;

-- name: find_user
SELECT key FROM users WHERE id = :user_id;

-- name: find_agent
SELECT key FROM agents WHERE id = :agent_id;

-- name: insert_state
INSERT INTO session_states (user_key, session_key, revision, state)
SELECT user_key, key, :revision, :state FROM sessions WHERE id = :session_id;

-- name: find_parent_state
SELECT state
FROM sessions
JOIN session_states ON session_states.user_key = sessions.user_key AND session_key = sessions.key
WHERE sessions.id = :session_id;

-- name: find_session
SELECT
    sessions.key, sessions.id, users.id, agents.id, parent_id, branch_seq, started_by, sessions.created_at, is_current,
    lineage, settings, thread, title
FROM sessions
JOIN users ON users.key = sessions.user_key
JOIN agents ON agents.key = sessions.agent_key
WHERE sessions.id = :session_id;

-- name: find_current_session
SELECT
    sessions.key, sessions.id, users.id, agents.id, parent_id, branch_seq, started_by, sessions.created_at, is_current,
    lineage, settings, thread, title
FROM sessions
JOIN users ON users.key = sessions.user_key
JOIN agents ON agents.key = sessions.agent_key
WHERE users.id = :user_id AND agents.id = :agent_id AND thread = :thread AND is_current = 1;

-- name: list_sessions
-- Each of the four ways to ask has an index of its own; those that are not asked cost nothing. :title_pattern is a pattern of LIKE,
-- empty where titles do not matter.
WITH titled AS (
    SELECT key FROM sessions
    WHERE CAST(:user_key AS BIGINT) IS NULL AND folded_title <> '' AND folded_title LIKE :title_pattern ESCAPE '!'
    UNION ALL
    SELECT key FROM sessions
    WHERE user_key = :user_key AND folded_title <> '' AND folded_title LIKE :title_pattern ESCAPE '!'
)
SELECT
    sessions.key, sessions.id, users.id, agents.id, parent_id, branch_seq, started_by, sessions.created_at, is_current,
    lineage, settings, thread, title
FROM (
    SELECT key FROM sessions WHERE CAST(:user_key AS BIGINT) IS NULL AND CAST(:agent_key AS BIGINT) IS NULL AND key > :after_key AND key <= :last_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE user_key = :user_key AND CAST(:agent_key AS BIGINT) IS NULL AND key > :after_key AND key <= :last_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE CAST(:user_key AS BIGINT) IS NULL AND agent_key = :agent_key AND key > :after_key AND key <= :last_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE user_key = :user_key AND agent_key = :agent_key AND key > :after_key AND key <= :last_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    ORDER BY key
    LIMIT :limit_count
) AS page
JOIN sessions ON sessions.key = page.key
JOIN users ON users.key = sessions.user_key
JOIN agents ON agents.key = sessions.agent_key
ORDER BY page.key;

-- name: list_newest_sessions
WITH titled AS (
    SELECT key FROM sessions
    WHERE CAST(:user_key AS BIGINT) IS NULL AND folded_title <> '' AND folded_title LIKE :title_pattern ESCAPE '!'
    UNION ALL
    SELECT key FROM sessions
    WHERE user_key = :user_key AND folded_title <> '' AND folded_title LIKE :title_pattern ESCAPE '!'
)
SELECT
    sessions.key, sessions.id, users.id, agents.id, parent_id, branch_seq, started_by, sessions.created_at, is_current,
    lineage, settings, thread, title
FROM (
    SELECT key FROM sessions WHERE CAST(:user_key AS BIGINT) IS NULL AND CAST(:agent_key AS BIGINT) IS NULL AND key < :before_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE user_key = :user_key AND CAST(:agent_key AS BIGINT) IS NULL AND key < :before_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE CAST(:user_key AS BIGINT) IS NULL AND agent_key = :agent_key AND key < :before_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    UNION ALL
    SELECT key FROM sessions WHERE user_key = :user_key AND agent_key = :agent_key AND key < :before_key
        AND created_at >= :since AND created_at < :until AND (:title_pattern = '' OR key IN (SELECT key FROM titled))
    ORDER BY key DESC
    LIMIT :limit_count
) AS page
JOIN sessions ON sessions.key = page.key
JOIN users ON users.key = sessions.user_key
JOIN agents ON agents.key = sessions.agent_key
ORDER BY page.key DESC;

-- name: list_owned_sessions
SELECT
    sessions.key, sessions.id, users.id, agents.id, parent_id, branch_seq, started_by, sessions.created_at, is_current,
    lineage, settings, thread, title
FROM sessions
JOIN users ON users.key = sessions.user_key
JOIN agents ON agents.key = sessions.agent_key
WHERE sessions.user_key = :user_key AND sessions.agent_key = :agent_key
ORDER BY sessions.key;

-- name: clear_current
UPDATE sessions SET is_current = 0 WHERE user_key = :user_key AND agent_key = :agent_key AND thread = :thread AND is_current = 1;

-- name: set_current
UPDATE sessions SET is_current = 1 WHERE id = :session_id;

-- name: update_settings
UPDATE sessions SET settings = :settings WHERE id = :session_id;

-- name: set_title
UPDATE sessions SET title = :title, folded_title = :folded_title WHERE id = :session_id;

-- name: drop_title
UPDATE sessions SET title = '', folded_title = '' WHERE user_key = :user_key AND key = :session_key AND title <> '';

-- name: raise_revision
UPDATE session_states SET revision = revision + 1
WHERE (user_key, session_key) = (SELECT user_key, key FROM sessions WHERE id = :session_id);

-- name: find_keys
SELECT key, user_key, agent_key, lineage FROM sessions WHERE id = :session_id;

-- name: count_user_rows
-- About how many rows a user has, from one index lookup a session; then how many sessions, and how many of those are of
-- another agent than :agent_key; none where that is NULL.
SELECT
    CAST(coalesce(sum((SELECT max(seq) FROM messages WHERE messages.user_key = sessions.user_key AND session_key = sessions.key) - sessions.branch_seq), 0) AS BIGINT),
    count(*),
    count(*) FILTER (WHERE sessions.agent_key <> :agent_key)
FROM sessions
WHERE sessions.user_key = :user_key;

-- name: find_followed
SELECT sessions.id, path, file_id, read_bytes, left_seq
FROM followed_transcripts LEFT JOIN sessions ON sessions.user_key = followed_transcripts.user_key AND sessions.key = session_key
WHERE followed_transcripts.user_key = :user_key AND followed_transcripts.agent_key = :agent_key AND followed_transcripts.name = :conversation;

-- name: list_followed
SELECT users.id, agents.id, followed_transcripts.name, sessions.id, path, file_id, read_bytes, left_seq
FROM followed_transcripts
JOIN users ON users.key = followed_transcripts.user_key
JOIN agents ON agents.key = followed_transcripts.agent_key
LEFT JOIN sessions ON sessions.user_key = followed_transcripts.user_key AND sessions.key = session_key
ORDER BY followed_transcripts.user_key, followed_transcripts.agent_key, followed_transcripts.name;

-- name: list_followed_of
SELECT users.id, agents.id, followed_transcripts.name, sessions.id, path, file_id, read_bytes, left_seq
FROM followed_transcripts
JOIN users ON users.key = followed_transcripts.user_key
JOIN agents ON agents.key = followed_transcripts.agent_key
LEFT JOIN sessions ON sessions.user_key = followed_transcripts.user_key AND sessions.key = session_key
WHERE users.id = :user_id
ORDER BY followed_transcripts.agent_key, followed_transcripts.name;

-- name: keep_followed
INSERT INTO followed_transcripts (user_key, agent_key, name, session_key, path, file_id, read_bytes, left_seq)
VALUES (:user_key, :agent_key, :conversation, :session_key, :path, :file_id, :read_bytes, :left_seq)
ON CONFLICT (user_key, agent_key, name) DO UPDATE
SET session_key = :session_key, path = :path, file_id = :file_id, read_bytes = :read_bytes, left_seq = :left_seq;

-- name: leave_followed
UPDATE followed_transcripts SET session_key = NULL, path = :path, file_id = '', left_seq = 0
WHERE user_key = :user_key AND session_key = :session_key;
