-- Access: keys, of whose secrets only the hash is here, and the writes that are carried out once.

CREATE TABLE access_keys (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scope_kind TEXT NOT NULL,
    scope_name TEXT NOT NULL,
    is_read_only INTEGER NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
);

CREATE UNIQUE INDEX access_keys_name ON access_keys (name) WHERE revoked_at IS NULL;

-- "status" is NULL while a write runs; "keeps_body" is 0 from an erase on, whether or not the answer was there by then.
CREATE TABLE known_requests (
    key INTEGER PRIMARY KEY,
    key_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    status INTEGER,
    content_type TEXT NOT NULL DEFAULT '',
    location TEXT NOT NULL DEFAULT '',
    keeps_body INTEGER NOT NULL DEFAULT 1,
    body BLOB
);

CREATE UNIQUE INDEX known_requests_key ON known_requests (key_id, idempotency_key);

CREATE INDEX known_requests_made ON known_requests (made_at);
