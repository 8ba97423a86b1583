-- name: insert_compaction
INSERT INTO compactions (id, user_key, session_key, ordinal, state, begun_at, plan, digest, extraction)
VALUES (:id, :user_key, :session_key, :ordinal, 'pending', :begun_at, :plan, :digest, :extraction);

-- name: insert_revision
INSERT INTO compactions (
    id, user_key, session_key, ordinal, state, begun_at, ended_at, plan, digest, revises, certificate, report, layout
)
VALUES (
    :id, :user_key, :session_key, :ordinal, 'done', :begun_at, :ended_at, :plan, 'done', :revises, :certificate, :report,
    :layout
);

-- name: move_up_held
UPDATE compactions SET ordinal = ordinal + 1
WHERE user_key = :user_key AND session_key = :session_key AND state IN ('pending', 'running', 'ready') AND certificate IS NULL;

-- name: commit_compaction
UPDATE compactions SET certificate = :certificate, report = :report, layout = :layout
WHERE id = :compaction_id AND state IN ('pending', 'running', 'ready') AND certificate IS NULL;

-- name: settle_digest
UPDATE compactions SET digest = 'done', draft = NULL, state = 'pending'
WHERE id = :compaction_id AND state IN ('pending', 'running', 'ready') AND certificate IS NOT NULL AND digest = 'pending';

-- name: end_compaction
UPDATE compactions
SET state = :state, ended_at = :ended_at, lease_until = NULL, digest = :digest, extraction = :extraction,
    problem = :problem, draft = NULL
WHERE id = :compaction_id AND state IN ('pending', 'running', 'ready') AND (certificate IS NULL) = (:state = 'cancelled');

-- name: reopen_compaction
UPDATE compactions
SET state = 'pending', ended_at = NULL, attempts = 0, digest = 'pending', problem = '',
    extraction = CASE extraction WHEN 'failed' THEN 'pending' ELSE extraction END
WHERE id = :compaction_id AND state = 'degraded';

-- name: claim_compaction
UPDATE compactions SET state = 'running', attempts = attempts + 1, lease_until = now_micros() + :duration
WHERE id = :compaction_id AND state IN ('pending', 'running') AND (lease_until IS NULL OR lease_until < now_micros());

-- name: renew_compaction
UPDATE compactions SET lease_until = now_micros() + :duration
WHERE id = :compaction_id AND state = 'running' AND attempts = :attempt;

-- name: keep_draft
UPDATE compactions SET state = 'ready', draft = :draft, extraction = :extraction, problem = ''
WHERE id = :compaction_id AND state = 'running' AND attempts = :attempt;

-- name: release_compaction
UPDATE compactions SET state = 'pending', lease_until = now_micros() + :duration, problem = :problem
WHERE id = :compaction_id AND state = 'running' AND attempts = :attempt;

-- name: drop_drafts
UPDATE compactions
SET draft = NULL, state = CASE state WHEN 'ready' THEN 'pending' ELSE state END,
    lease_until = CASE state WHEN 'ready' THEN NULL ELSE lease_until END,
    problem = CASE WHEN :is_erase THEN '' ELSE problem END
WHERE user_key = :user_key AND session_key = :session_key
    AND (state IN ('pending', 'running', 'ready') OR (:is_erase AND problem <> ''));

-- name: find_event_session
SELECT sessions.id
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE compactions.id = :compaction_id;

-- name: find_compaction
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft,
    sessions.key
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE compactions.id = :compaction_id;

-- name: list_compactions
-- A cancelled compaction has the ordinal of the one after it; no page ends between two of one ordinal.
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE sessions.id = :session_id AND ordinal > :after_ordinal AND ordinal <= coalesce(
    (
        SELECT ordinal
        FROM compactions
        JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
        WHERE sessions.id = :session_id AND ordinal > :after_ordinal AND ordinal <= :last_ordinal
        ORDER BY ordinal
        LIMIT 1 OFFSET :limit_count - 1
    ),
    :last_ordinal
)
ORDER BY ordinal, compactions.key;

-- name: list_waiting
-- A digest that is ready may wait for a cache break for days, and must not stand before what nothing works at.
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE state IN ('pending', 'running', 'ready') AND begun_at > :begun_after
    AND (state = 'ready' OR lease_until IS NULL OR lease_until < now_micros())
ORDER BY state = 'ready', begun_at, compactions.key
LIMIT :limit_count;

-- name: read_layout
SELECT layout FROM compactions WHERE id = :compaction_id;

-- name: insert_digest
INSERT INTO digests (
    id, user_key, compaction_id, kind, generator, first_seq, last_seq, tokens, content_hash, reads, text, pool
)
VALUES (
    :id, :user_key, :compaction_id, :kind, :generator, :first_seq, :last_seq, :tokens, :content_hash, :reads, :text, :pool
);

-- name: read_digest
SELECT id, compaction_id, kind, generator, first_seq, last_seq, tokens, content_hash, reads, text, pool
FROM digests
WHERE id = :digest_id;

-- name: replace_digest
UPDATE digests
SET generator = :generator, tokens = :tokens, content_hash = :content_hash, reads = :reads, text = :text, pool = :pool
WHERE id = :id;

-- name: replace_record
UPDATE compactions SET certificate = :certificate, layout = :layout WHERE id = :compaction_id;

-- name: peek_layout
SELECT substr(layout, 1, CAST(:bytes_count AS INTEGER)) FROM compactions WHERE id = :compaction_id;

-- name: find_revision
SELECT
    compactions.id, sessions.id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report,
    digest, extraction, problem, revises, draft
FROM compactions
JOIN sessions ON sessions.user_key = compactions.user_key AND sessions.key = compactions.session_key
WHERE revises = :compaction_id
ORDER BY compactions.key DESC
LIMIT 1;
