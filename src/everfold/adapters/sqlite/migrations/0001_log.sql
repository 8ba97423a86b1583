-- The log: users and agents by integer key, sessions, their state, and messages.
-- Times are whole microseconds since 1970 in UTC. Content is the client's JSON as bytes; it and
-- every other blob that holds text are UTF-8 in which lone surrogates may stand.

CREATE TABLE users (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE agents (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
);

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    parent_id TEXT,
    branch_seq INTEGER NOT NULL,
    started_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    is_current INTEGER NOT NULL,
    lineage TEXT NOT NULL,
    settings TEXT NOT NULL
);

CREATE UNIQUE INDEX sessions_current ON sessions (user_key, agent_key) WHERE is_current = 1;

CREATE TABLE session_states (
    session_key INTEGER PRIMARY KEY REFERENCES sessions (key),
    revision INTEGER NOT NULL,
    state BLOB NOT NULL
);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    format TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker BLOB,
    said_at INTEGER NOT NULL,
    client_id BLOB,
    tokens INTEGER NOT NULL,
    raw_tokens INTEGER NOT NULL,
    sum_tokens INTEGER NOT NULL,
    turn_seq INTEGER NOT NULL,
    turns_count INTEGER NOT NULL,
    is_boundary INTEGER NOT NULL,
    keep INTEGER NOT NULL,
    content_hash BLOB,
    calls TEXT,
    cuts TEXT,
    lines TEXT,
    erased_at INTEGER,
    content BLOB
);

CREATE UNIQUE INDEX messages_seq ON messages (session_key, seq);

CREATE UNIQUE INDEX messages_client ON messages (session_key, client_id) WHERE client_id IS NOT NULL;
