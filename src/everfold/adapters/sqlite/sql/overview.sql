-- name: count_users
SELECT count(*) FROM users;

-- name: count_sessions
SELECT count(*) FROM sessions;

-- name: count_events
SELECT count(*) FROM events;

-- name: count_waiting
SELECT state, count(*), min(begun_at) FROM events WHERE state IN ('pending', 'running', 'ready') GROUP BY state;

-- name: count_degraded
SELECT count(*) FROM events WHERE state = 'degraded';

-- name: list_agents
SELECT id FROM agents WHERE key IN (SELECT agent_key FROM sessions) ORDER BY id;

-- name: list_unfinished
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE state IN ('pending', 'running', 'ready')
ORDER BY begun_at, events.key
LIMIT :limit_count;

-- name: list_degraded
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE state = 'degraded'
ORDER BY begun_at DESC, events.key DESC
LIMIT :limit_count;

-- name: sum_spend
SELECT model, purpose, count(*), total(input_tokens), total(cached_tokens), total(output_tokens), total(cost_usd),
    total(is_uncounted)
FROM model_calls
WHERE started_at >= :since
GROUP BY model, purpose
ORDER BY model, purpose;
