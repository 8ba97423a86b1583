-- name: count_users
SELECT count(*) FROM users;

-- name: count_sessions
SELECT count(*) FROM sessions;

-- name: count_compactions
SELECT count(*) FROM compactions;

-- name: count_waiting
SELECT state, count(*), min(begun_at) FROM compactions WHERE state IN ('pending', 'running', 'ready') GROUP BY state;

-- name: count_degraded
SELECT count(*) FROM compactions WHERE state = 'degraded';

-- name: list_agents
SELECT id FROM agents WHERE key IN (SELECT agent_key FROM sessions) ORDER BY id;

-- name: list_unfinished
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE state IN ('pending', 'running', 'ready')
ORDER BY begun_at, compactions.key
LIMIT :limit_count;

-- name: list_degraded
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE state = 'degraded'
ORDER BY begun_at DESC, compactions.key DESC
LIMIT :limit_count;

-- name: sum_spend
SELECT
    model, purpose, count(*), CAST(sum(input_tokens) AS BIGINT), CAST(sum(cached_tokens) AS BIGINT),
    CAST(sum(output_tokens) AS BIGINT), coalesce(sum(cost_usd), 0.0), CAST(sum(is_uncounted) AS BIGINT)
FROM model_calls
WHERE started_at >= :since
GROUP BY model, purpose
ORDER BY model, purpose;
