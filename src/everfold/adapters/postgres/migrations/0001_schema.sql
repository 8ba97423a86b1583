-- All tables, as SQLite has them after its migrations. Times are whole microseconds since 1970 in UTC. Text is compared by
-- code point, whatever the locale of the database is. What may hold lone surrogates is UTF-8 as bytes.

CREATE TABLE users (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    epoch BIGINT NOT NULL DEFAULT 0,
    name TEXT COLLATE "C" NOT NULL DEFAULT '',
    folded TEXT COLLATE "C" NOT NULL DEFAULT '',
    is_default BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX users_default ON users (is_default) WHERE is_default = 1;

CREATE TABLE user_bindings (
    channel TEXT COLLATE "C" NOT NULL,
    own_id TEXT COLLATE "C" NOT NULL,
    user_key BIGINT NOT NULL REFERENCES users (key),
    PRIMARY KEY (channel, own_id)
);

CREATE INDEX user_bindings_user ON user_bindings (user_key);

CREATE TABLE agents (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE sessions (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_key BIGINT NOT NULL REFERENCES users (key),
    agent_key BIGINT NOT NULL REFERENCES agents (key),
    parent_id TEXT COLLATE "C",
    branch_seq BIGINT NOT NULL,
    started_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_current BIGINT NOT NULL,
    lineage TEXT NOT NULL,
    settings TEXT NOT NULL,
    thread TEXT COLLATE "C" NOT NULL DEFAULT ''
);

CREATE UNIQUE INDEX sessions_current ON sessions (user_key, agent_key, thread) WHERE is_current = 1;

CREATE INDEX sessions_owner ON sessions (user_key, agent_key);

CREATE INDEX sessions_agent ON sessions (agent_key);

CREATE TABLE erased_sessions (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE session_states (
    session_key BIGINT PRIMARY KEY REFERENCES sessions (key),
    revision BIGINT NOT NULL,
    state BYTEA NOT NULL
);

CREATE TABLE messages (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_key BIGINT NOT NULL REFERENCES sessions (key),
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    format TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker BYTEA,
    said_at BIGINT NOT NULL,
    client_id BYTEA,
    tokens BIGINT NOT NULL,
    raw_tokens BIGINT NOT NULL,
    sum_tokens BIGINT NOT NULL,
    turn_seq BIGINT NOT NULL,
    turns_count BIGINT NOT NULL,
    is_boundary BIGINT NOT NULL,
    keep BIGINT NOT NULL,
    content_hash BYTEA,
    calls TEXT,
    cuts BYTEA,
    lines BYTEA,
    erased_at BIGINT,
    content BYTEA
);

CREATE UNIQUE INDEX messages_seq ON messages (session_key, seq);

CREATE UNIQUE INDEX messages_client ON messages (session_key, client_id) WHERE client_id IS NOT NULL;

CREATE INDEX messages_hash ON messages (session_key, substr(content_hash, 1, 6)) WHERE content_hash IS NOT NULL;

CREATE INDEX messages_refresh ON messages (session_key, seq) WHERE source = 'refresh';

CREATE INDEX messages_erased ON messages (session_key, seq) WHERE erased_at IS NOT NULL;

-- The words of a message: "own" and "before" in their order, "words" each once with the scope words, for the index.
-- Every word has its user's key in front, as in SQLite, so that a question of one user reaches no other one's entries.
CREATE TABLE message_words (
    message_id BIGINT PRIMARY KEY REFERENCES messages (id),
    user_key BIGINT NOT NULL,
    words_count BIGINT NOT NULL,
    own TEXT NOT NULL,
    before TEXT NOT NULL,
    words TSVECTOR NOT NULL
);

-- How many messages and words a user has is read from this index alone.
CREATE INDEX message_words_user ON message_words (user_key) INCLUDE (words_count);

CREATE INDEX message_words_words ON message_words USING gin (words);

CREATE TABLE compactions (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    session_key BIGINT NOT NULL REFERENCES sessions (key),
    ordinal BIGINT NOT NULL,
    state TEXT NOT NULL,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT,
    plan BYTEA NOT NULL,
    certificate BYTEA,
    report TEXT,
    layout BYTEA,
    digest TEXT NOT NULL DEFAULT 'off',
    extraction TEXT NOT NULL DEFAULT 'off',
    problem TEXT NOT NULL DEFAULT '',
    revises TEXT COLLATE "C",
    draft BYTEA
);

CREATE INDEX compactions_degraded ON compactions (begun_at) WHERE state = 'degraded';

CREATE INDEX compactions_revises ON compactions (revises) WHERE revises IS NOT NULL;

CREATE INDEX compactions_session ON compactions (session_key, ordinal);

CREATE INDEX compactions_waiting ON compactions (session_key) WHERE state IN ('pending', 'running', 'ready');

CREATE TABLE digests (
    id TEXT COLLATE "C" PRIMARY KEY,
    compaction_id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    generator TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    content_hash TEXT NOT NULL,
    reads TEXT NOT NULL,
    text BYTEA NOT NULL,
    pool BYTEA
);

CREATE INDEX digests_compaction ON digests (compaction_id);

CREATE TABLE model_calls (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C",
    compaction_id TEXT COLLATE "C",
    purpose TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    answered_by TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_usd DOUBLE PRECISION,
    is_uncounted BIGINT NOT NULL
);

CREATE INDEX model_calls_compaction ON model_calls (compaction_id) WHERE compaction_id IS NOT NULL;

CREATE INDEX model_calls_started ON model_calls (started_at);

CREATE TABLE memory_versions (
    user_key BIGINT PRIMARY KEY REFERENCES users (key),
    revision BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    erased_revision BIGINT NOT NULL DEFAULT 0,
    last_ordinal BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE items (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_key BIGINT NOT NULL REFERENCES users (key),
    place BIGINT NOT NULL,
    status TEXT NOT NULL,
    shelf TEXT NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    written_revision BIGINT NOT NULL,
    content BYTEA NOT NULL
);

CREATE INDEX items_owner ON items (user_key, status, shelf, key);

CREATE INDEX items_place ON items (user_key, place, status, shelf, key);

CREATE INDEX items_written ON items (user_key, written_revision, status, place, shelf);

CREATE INDEX items_identity ON items (user_key, identity);

CREATE TABLE item_revisions (
    item_key BIGINT NOT NULL REFERENCES items (key),
    revision BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (item_key, revision)
);

CREATE TABLE item_evidence (
    item_key BIGINT NOT NULL REFERENCES items (key),
    session_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (item_key, session_id, seq)
);

CREATE INDEX item_evidence_message ON item_evidence (session_id, seq);

-- The words of an active item, as those of a message.
CREATE TABLE item_words (
    item_key BIGINT PRIMARY KEY REFERENCES items (key),
    user_key BIGINT NOT NULL,
    words_count BIGINT NOT NULL,
    own TEXT NOT NULL,
    words TSVECTOR NOT NULL
);

CREATE INDEX item_words_user ON item_words (user_key) INCLUDE (words_count);

CREATE INDEX item_words_words ON item_words USING gin (words);

CREATE TABLE topics (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_key BIGINT NOT NULL REFERENCES users (key),
    place BIGINT NOT NULL,
    status TEXT NOT NULL,
    name BYTEA NOT NULL,
    revision BIGINT NOT NULL,
    content BYTEA NOT NULL
);

CREATE INDEX topics_status ON topics (user_key, status, place);

CREATE INDEX topics_name ON topics (user_key, name);

CREATE TABLE topic_revisions (
    topic_key BIGINT NOT NULL REFERENCES topics (key),
    revision BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (topic_key, revision)
);

CREATE TABLE dreams (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_key BIGINT NOT NULL REFERENCES users (key),
    agent_key BIGINT NOT NULL REFERENCES agents (key),
    state TEXT NOT NULL,
    content BYTEA NOT NULL
);

CREATE INDEX dreams_owner ON dreams (user_key, key);

CREATE INDEX dreams_agent ON dreams (user_key, agent_key, key);

CREATE TABLE dream_topics (
    dream_key BIGINT NOT NULL REFERENCES dreams (key),
    position BIGINT NOT NULL,
    topic_id TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (dream_key, position)
);

CREATE INDEX dream_topics_topic ON dream_topics (topic_id);

CREATE TABLE extractions (
    user_key BIGINT NOT NULL REFERENCES users (key),
    ordinal BIGINT NOT NULL,
    agent_key BIGINT NOT NULL REFERENCES agents (key),
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    session_id TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (user_key, ordinal)
);

CREATE INDEX extractions_agent ON extractions (user_key, agent_key, ordinal);

CREATE TABLE memory_cursors (
    user_key BIGINT NOT NULL REFERENCES users (key),
    agent_key BIGINT NOT NULL REFERENCES agents (key),
    read_through BIGINT NOT NULL DEFAULT 0,
    last_ordinal BIGINT NOT NULL DEFAULT 0,
    made_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_key, agent_key)
);

CREATE INDEX memory_cursors_waiting ON memory_cursors (made_at) WHERE last_ordinal > read_through;

CREATE TABLE session_memory (
    session_key BIGINT PRIMARY KEY REFERENCES sessions (key),
    user_key BIGINT NOT NULL REFERENCES users (key),
    extracted_seq BIGINT NOT NULL,
    model_seq BIGINT NOT NULL,
    tokens_count BIGINT NOT NULL,
    calls_count BIGINT NOT NULL,
    snapshot BYTEA NOT NULL,
    snapshot_revision BIGINT NOT NULL,
    snapshot_compaction TEXT NOT NULL,
    has_snapshot BIGINT NOT NULL
);

CREATE INDEX session_memory_user ON session_memory (user_key);

CREATE TABLE memory_audit (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_key BIGINT NOT NULL REFERENCES users (key),
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    content BYTEA NOT NULL
);

CREATE INDEX memory_audit_user ON memory_audit (user_key, at, key);

CREATE TABLE leases (
    user_key BIGINT NOT NULL REFERENCES users (key),
    work TEXT COLLATE "C" NOT NULL,
    about TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    lease_until BIGINT NOT NULL,
    PRIMARY KEY (user_key, work, about)
);

-- The time as leases read it: the present moment, also within a transaction that has waited.
CREATE FUNCTION now_micros() RETURNS BIGINT LANGUAGE sql VOLATILE AS
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)';

CREATE TABLE api_keys (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT COLLATE "C" NOT NULL,
    scope_kind TEXT NOT NULL,
    scope_name TEXT NOT NULL,
    is_read_only BIGINT NOT NULL,
    secret_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);

CREATE UNIQUE INDEX api_keys_name ON api_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE known_requests (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    request_hash TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    status BIGINT,
    content_type TEXT NOT NULL DEFAULT '',
    location TEXT NOT NULL DEFAULT '',
    keeps_body BIGINT NOT NULL DEFAULT 1,
    body BYTEA
);

CREATE UNIQUE INDEX known_requests_key ON known_requests (key_id, idempotency_key);

CREATE INDEX known_requests_made ON known_requests (made_at);
