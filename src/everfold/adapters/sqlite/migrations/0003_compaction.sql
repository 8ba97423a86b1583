-- Compaction: events with their plan, certificate, report and the layout that they committed; digests.
-- Plans, certificates and reports are JSON; layouts and pools are compressed JSON.

CREATE TABLE events (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    ordinal INTEGER NOT NULL,
    state TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    plan BLOB NOT NULL,
    certificate TEXT,
    report TEXT,
    layout BLOB
);

CREATE INDEX events_session ON events (session_key, ordinal);

CREATE INDEX events_waiting ON events (session_key) WHERE state IN ('pending', 'running', 'ready');

CREATE TABLE digests (
    id TEXT PRIMARY KEY,
    event_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    generator TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    reads TEXT NOT NULL,
    text BLOB NOT NULL,
    pool BLOB
) WITHOUT ROWID;
