-- name: insert_access_key
INSERT INTO api_keys (
    id, name, scope_kind, scope_name, is_read_only, secret_hash, created_at, expires_at, revoked_at, last_used_at
)
VALUES (
    :id, :key_name, :scope_kind, :scope_name, :is_read_only, :secret_hash, :created_at, :expires_at, :revoked_at,
    :last_used_at
);

-- name: find_access_key_place
SELECT key FROM api_keys WHERE id = :id;

-- name: get_access_key
SELECT
    id, name, scope_kind, scope_name, is_read_only, secret_hash, created_at, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE id = :id;

-- name: find_access_key
SELECT
    id, name, scope_kind, scope_name, is_read_only, secret_hash, created_at, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE secret_hash = :secret_hash;

-- name: find_access_key_named
SELECT id FROM api_keys WHERE name = :key_name AND revoked_at IS NULL;

-- name: list_access_keys
SELECT
    id, name, scope_kind, scope_name, is_read_only, secret_hash, created_at, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE key > :after AND key <= :last_key
ORDER BY key
LIMIT :limit_count;

-- name: find_other_admin_key
SELECT id FROM api_keys
WHERE
    id <> :id AND scope_kind = 'admin' AND is_read_only = 0 AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > :at)
LIMIT 1;

-- name: revoke_access_key
UPDATE api_keys SET revoked_at = :revoked_at WHERE id = :id AND revoked_at IS NULL;

-- name: touch_access_key
UPDATE api_keys SET last_used_at = :used_at
WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :used_at);

-- name: forget_old_requests
DELETE FROM known_requests WHERE made_at < :kept_since;

-- name: find_known_request
SELECT request_hash, made_at, status, content_type, location, etag, body
FROM known_requests
WHERE key_id = :key_id AND idempotency_key = :idempotency_key;

-- name: insert_known_request
INSERT INTO known_requests (key_id, idempotency_key, request_hash, made_at)
VALUES (:key_id, :idempotency_key, :request_hash, :made_at)
ON CONFLICT (key_id, idempotency_key) DO NOTHING;

-- name: answer_request
UPDATE known_requests
SET
    status = :status,
    content_type = :content_type,
    location = :location,
    etag = :etag,
    body = CASE WHEN keeps_body = 1 THEN :body ELSE body END
WHERE key_id = :key_id AND idempotency_key = :idempotency_key AND made_at = :made_at AND status IS NULL;

-- name: give_request_back
DELETE FROM known_requests
WHERE key_id = :key_id AND idempotency_key = :idempotency_key AND made_at = :made_at AND status IS NULL;

-- name: forget_answers
UPDATE known_requests SET body = NULL, keeps_body = 0 WHERE status IS NOT NULL AND keeps_body = 1;

-- name: forget_open_answers
-- Those of the writes that run, and of what has ended meanwhile.
UPDATE known_requests SET body = NULL, keeps_body = 0 WHERE keeps_body = 1;

-- name: hold_off_erases
-- Nothing: with one writer at a time none is open.
SELECT 1 WHERE 1 = 0;

-- name: hold_off_requests
-- Nothing, as above.
SELECT 1 WHERE 1 = 0;

-- name: allow_many_answers
-- Nothing: no statement that writes has a limit.
SELECT 1 WHERE 1 = 0;
