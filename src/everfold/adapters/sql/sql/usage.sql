-- name: insert_call
INSERT INTO model_calls (
    id, user_id, session_id, compaction_id, purpose, model, answered_by, attempt, started_at, duration_ms, outcome,
    input_tokens, cached_tokens, output_tokens, cost_usd, is_uncounted
)
VALUES (
    :id, :user_id, :session_id, :compaction_id, :purpose, :model, :answered_by, :attempt, :started_at, :duration_ms, :outcome,
    :input_tokens, :cached_tokens, :output_tokens, :cost_usd, :is_uncounted
);

-- name: find_call_key
SELECT key FROM model_calls WHERE id = :id;

-- name: find_listed_call
SELECT key FROM model_calls
WHERE id = :id
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
    AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
    AND (CAST(:compaction_id AS TEXT) IS NULL OR compaction_id = :compaction_id);

-- name: sum_event_cost
SELECT coalesce(sum(cost_usd), 0.0) FROM model_calls
WHERE compaction_id = :compaction_id AND (CAST(:since AS BIGINT) IS NULL OR started_at >= :since);

-- name: sum_cost
SELECT coalesce(sum(cost_usd), 0.0) FROM model_calls WHERE started_at >= :since;

-- name: sum_all_cost
SELECT coalesce(sum(cost_usd), 0.0) FROM model_calls;

-- name: list_calls
SELECT
    id, user_id, session_id, compaction_id, purpose, model, answered_by, attempt, started_at, duration_ms, outcome,
    input_tokens, cached_tokens, output_tokens, cost_usd, is_uncounted
FROM model_calls
WHERE key > :after AND key <= :last_key
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
    AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
    AND (CAST(:compaction_id AS TEXT) IS NULL OR compaction_id = :compaction_id)
ORDER BY key
LIMIT :limit_count;
