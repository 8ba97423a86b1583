-- name: insert_event
INSERT INTO events (id, session_key, ordinal, state, begun_at, plan, digest, extraction)
VALUES (:id, :session_key, :ordinal, 'pending', :begun_at, :plan, :digest, :extraction);

-- name: insert_revision
INSERT INTO events (
    id, session_key, ordinal, state, begun_at, ended_at, plan, digest, revises, certificate, report, layout
)
VALUES (
    :id, :session_key, :ordinal, 'done', :begun_at, :ended_at, :plan, 'done', :revises, :certificate, :report, :layout
);

-- name: move_up_held
UPDATE events SET ordinal = ordinal + 1
WHERE session_key = :session_key AND state IN ('pending', 'running', 'ready') AND certificate IS NULL;

-- name: commit_event
UPDATE events SET certificate = :certificate, report = :report, layout = :layout
WHERE id = :event_id AND state IN ('pending', 'running', 'ready') AND certificate IS NULL;

-- name: settle_digest
UPDATE events SET digest = 'done', draft = NULL, state = 'pending'
WHERE id = :event_id AND state IN ('pending', 'running', 'ready') AND certificate IS NOT NULL;

-- name: end_event
UPDATE events
SET state = :state, ended_at = :ended_at, lease_until = NULL, digest = :digest, extraction = :extraction,
    problem = :problem, draft = NULL
WHERE id = :event_id AND state IN ('pending', 'running', 'ready');

-- name: reopen_event
UPDATE events
SET state = 'pending', ended_at = NULL, attempts = 0, digest = 'pending', problem = '',
    extraction = CASE extraction WHEN 'failed' THEN 'pending' ELSE extraction END
WHERE id = :event_id AND state = 'degraded';

-- name: claim_event
UPDATE events SET state = 'running', attempts = attempts + 1, lease_until = :lease_until
WHERE id = :event_id AND state IN ('pending', 'running') AND (lease_until IS NULL OR lease_until < :now);

-- name: renew_lease
UPDATE events SET lease_until = :lease_until WHERE id = :event_id AND state = 'running' AND attempts = :attempt;

-- name: keep_draft
UPDATE events SET state = 'ready', draft = :draft, extraction = :extraction, problem = ''
WHERE id = :event_id AND state = 'running' AND attempts = :attempt;

-- name: release_event
UPDATE events SET state = 'pending', lease_until = :not_before, problem = :problem
WHERE id = :event_id AND state = 'running' AND attempts = :attempt;

-- name: drop_drafts
UPDATE events
SET draft = NULL, state = CASE state WHEN 'ready' THEN 'pending' ELSE state END,
    lease_until = CASE state WHEN 'ready' THEN NULL ELSE lease_until END
WHERE session_key = :session_key AND state IN ('pending', 'running', 'ready');

-- name: find_event_session
SELECT sessions.id
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE events.id = :event_id;

-- name: find_event
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft,
    sessions.key
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE events.id = :event_id;

-- name: list_events
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE sessions.id = :session_id AND ordinal > :after_ordinal AND ordinal <= :last_ordinal
ORDER BY ordinal, events.key
LIMIT :limit_count;

-- name: list_waiting
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE state IN ('pending', 'running', 'ready') AND begun_at > :begun_after
    AND (state = 'ready' OR lease_until IS NULL OR lease_until < :now)
ORDER BY begun_at, events.key
LIMIT :limit_count;

-- name: read_layout
SELECT layout FROM events WHERE id = :event_id;

-- name: insert_digest
INSERT INTO digests (id, event_id, kind, generator, first_seq, last_seq, tokens, content_hash, reads, text, pool)
VALUES (:id, :event_id, :kind, :generator, :first_seq, :last_seq, :tokens, :content_hash, :reads, :text, :pool);

-- name: read_digest
SELECT id, event_id, kind, generator, first_seq, last_seq, tokens, content_hash, reads, text, pool
FROM digests
WHERE id = :digest_id;

-- name: replace_digest
UPDATE digests
SET generator = :generator, tokens = :tokens, content_hash = :content_hash, reads = :reads, text = :text, pool = :pool
WHERE id = :id;

-- name: replace_record
UPDATE events SET certificate = :certificate, layout = :layout WHERE id = :event_id;

-- name: peek_layout
SELECT substr(layout, 1, :bytes_count) FROM events WHERE id = :event_id;

-- name: find_revision
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE revises = :event_id
ORDER BY events.key DESC
LIMIT 1;
