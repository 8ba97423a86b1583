-- name: forget_old_requests
-- A row that another transaction removes or clears is left to it, or to the next write: nothing is waited for.
DELETE FROM known_requests WHERE key IN (
    SELECT key FROM known_requests WHERE made_at < :kept_since FOR UPDATE SKIP LOCKED
);

-- name: hold_off_erases
-- A write takes its place before an erase takes the answers, or after its commit. The number is that of `lock_user`, and -1 no
-- user's key.
SELECT pg_advisory_xact_lock_shared(1163282500, -1);

-- name: hold_off_requests
SELECT pg_advisory_xact_lock(1163282500, -1);

-- name: allow_many_answers
-- 100,000 answers took 1.4 s, and a large installation keeps millions a day: the end of an erase has ten minutes for them.
SELECT set_config('statement_timeout', '600000', TRUE);
