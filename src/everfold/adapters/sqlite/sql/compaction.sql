-- name: insert_event
INSERT INTO events (id, session_key, ordinal, state, begun_at, plan)
SELECT :id, :session_key, :ordinal, 'pending', :begun_at, :plan
WHERE NOT EXISTS (
    SELECT 1 FROM events WHERE session_key = :session_key AND state IN ('pending', 'running', 'ready')
);

-- name: claim_event
UPDATE events SET state = 'running', attempts = attempts + 1, lease_until = :lease_until
WHERE id = :event_id AND (state = 'pending' OR (state = 'running' AND lease_until < :now));

-- name: commit_event
UPDATE events
SET state = 'done', ended_at = :ended_at, lease_until = NULL, certificate = :certificate, report = :report,
    layout = :layout
WHERE id = :event_id AND state IN ('pending', 'running', 'ready');

-- name: end_event
UPDATE events SET state = :state, ended_at = :ended_at, lease_until = NULL
WHERE id = :event_id AND state IN ('pending', 'running', 'ready');

-- name: find_event
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    sessions.key
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE events.id = :event_id;

-- name: list_events
SELECT
    events.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report
FROM events
JOIN sessions ON sessions.key = events.session_key
WHERE sessions.id = :session_id AND ordinal > :after_ordinal AND ordinal <= :last_ordinal
ORDER BY ordinal, events.key
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
