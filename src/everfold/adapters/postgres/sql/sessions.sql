-- name: lock_user
-- The first key is Everfold's own, `EVFD`: it keeps apart what other programs lock in the same database.
-- With it comes the transaction's id, which a commit without an answer is looked up by.
SELECT
    CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
    pg_advisory_xact_lock(1163282500, CAST(:user_key % 2147483647 AS INTEGER));

-- name: insert_session
-- A key of a sequence is never given again.
INSERT INTO sessions (
    id, user_key, agent_key, parent_id, branch_seq, started_by, created_at, is_current, lineage, settings,
    thread, title, folded_title
) VALUES (
    :id, :user_key, :agent_key, :parent_id, :branch_seq, :started_by, :created_at, :is_current, :lineage, :settings,
    :thread, :title, :folded_title
);

-- name: write_state
-- With it comes the transaction's id, as with `lock_user`.
UPDATE session_states SET revision = :revision, state = :state
WHERE user_key = :user_key AND session_key = :session_key AND revision = :expected_revision
RETURNING CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);

-- name: read_states
SELECT sessions.id, state FROM sessions
JOIN session_states ON session_states.user_key = sessions.user_key AND session_states.session_key = sessions.key
WHERE sessions.id IN (SELECT json_array_elements_text(CAST(:ids AS JSON)));

-- name: list_used_sessions
-- :ids is a JSON list.
SELECT id, 1 FROM sessions WHERE id IN (SELECT json_array_elements_text(CAST(:ids AS JSON)))
UNION ALL
SELECT id, 0 FROM erased_sessions WHERE id IN (SELECT json_array_elements_text(CAST(:ids AS JSON)));

-- name: hold_memory_epoch
-- An erase waits until what was written under this epoch is stored, and takes it then.
SELECT epoch FROM memory_versions WHERE user_key = :user_key FOR SHARE;

-- name: find_settled_key
SELECT find_settled_key(:listed);

-- name: find_transaction
SELECT CAST(CAST(pg_current_xact_id_if_assigned() AS TEXT) AS BIGINT);

-- name: read_transaction_status
SELECT pg_xact_status(CAST(CAST(:transaction_id AS TEXT) AS XID8));

-- name: read_server_life
-- The server's statistics begin anew with each recovery from a crash.
SELECT CAST(EXTRACT(EPOCH FROM stats_reset) * 1000000 AS BIGINT) FROM pg_stat_bgwriter;
