-- Memory: items and topics with their revisions, dreams, extractions, what sessions keep of it, and its audit.
-- "content" is the JSON of one revision. The newest one stands with its item, the ones before it apart.
-- "place" is 0 for what is of the user tier, else the key of the one agent that it is given to.
-- Evidence and extractions name sessions by their ids, so that both outlive them.

CREATE TABLE memory_heads (
    user_key INTEGER PRIMARY KEY REFERENCES users (key),
    revision INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    erased_revision INTEGER NOT NULL DEFAULT 0,
    last_ordinal INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE items (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users (key),
    place INTEGER NOT NULL,
    status TEXT NOT NULL,
    shelf TEXT NOT NULL,
    identity TEXT NOT NULL,
    revision INTEGER NOT NULL,
    written_revision INTEGER NOT NULL,
    content BLOB NOT NULL
);

CREATE INDEX items_owner ON items (user_key, status, shelf, key);

CREATE INDEX items_place ON items (user_key, place, status, shelf, key);

CREATE INDEX items_written ON items (user_key, written_revision, status, place, shelf);

CREATE INDEX items_identity ON items (user_key, identity);

CREATE TABLE item_revisions (
    item_key INTEGER NOT NULL REFERENCES items (key),
    revision INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (item_key, revision)
) WITHOUT ROWID;

CREATE TABLE item_evidence (
    item_key INTEGER NOT NULL REFERENCES items (key),
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (item_key, session_id, seq)
) WITHOUT ROWID;

CREATE INDEX item_evidence_message ON item_evidence (session_id, seq);

-- One row for each active item, keyed by items.key; words carry the user's key as in message_index.
-- "scope" holds "17__u" for the user tier, "17__a<agent>" for an agent's own. It keeps its text, since only then a
-- deleted row's words can be taken out of the index at once.
CREATE VIRTUAL TABLE item_index USING fts5 (
    own,
    scope,
    tokenize = "ascii tokenchars '_'"
);

INSERT INTO item_index (item_index, rank) VALUES ('secure-delete', 1);

-- How many rows hold a word, read by one lookup a word.
CREATE VIRTUAL TABLE item_index_words USING fts5vocab (item_index, row);

CREATE TABLE topics (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users (key),
    place INTEGER NOT NULL,
    status TEXT NOT NULL,
    name BLOB NOT NULL,
    revision INTEGER NOT NULL,
    content BLOB NOT NULL
);

CREATE INDEX topics_status ON topics (user_key, status, place);

CREATE INDEX topics_name ON topics (user_key, name);

CREATE TABLE topic_revisions (
    topic_key INTEGER NOT NULL REFERENCES topics (key),
    revision INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (topic_key, revision)
) WITHOUT ROWID;

CREATE TABLE dreams (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    state TEXT NOT NULL,
    content BLOB NOT NULL
);

CREATE INDEX dreams_owner ON dreams (user_key, key);

CREATE INDEX dreams_agent ON dreams (user_key, agent_key, key);

-- The revisions that a dream writes, or would write.
CREATE TABLE dream_topics (
    dream_key INTEGER NOT NULL REFERENCES dreams (key),
    position INTEGER NOT NULL,
    topic_id TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (dream_key, position)
) WITHOUT ROWID;

CREATE INDEX dream_topics_topic ON dream_topics (topic_id);

CREATE TABLE extractions (
    user_key INTEGER NOT NULL REFERENCES users (key),
    ordinal INTEGER NOT NULL,
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (user_key, ordinal)
) WITHOUT ROWID;

CREATE INDEX extractions_agent ON extractions (user_key, agent_key, ordinal);

CREATE TABLE memory_cursors (
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    read_through INTEGER NOT NULL DEFAULT 0,
    last_ordinal INTEGER NOT NULL DEFAULT 0,
    made_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_key, agent_key)
) WITHOUT ROWID;

-- What the dreamer looks for: extractions that no dream has read, by when the last was made.
CREATE INDEX memory_cursors_waiting ON memory_cursors (made_at) WHERE last_ordinal > read_through;

CREATE INDEX sessions_owner ON sessions (user_key, agent_key);

CREATE TABLE session_memory (
    session_key INTEGER PRIMARY KEY REFERENCES sessions (key),
    user_key INTEGER NOT NULL REFERENCES users (key),
    extracted_seq INTEGER NOT NULL,
    model_seq INTEGER NOT NULL,
    tokens_count INTEGER NOT NULL,
    calls_count INTEGER NOT NULL,
    snapshot BLOB NOT NULL,
    snapshot_revision INTEGER NOT NULL,
    snapshot_event TEXT NOT NULL,
    has_snapshot INTEGER NOT NULL
);

CREATE INDEX session_memory_user ON session_memory (user_key);

CREATE TABLE memory_audit (
    key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL REFERENCES users (key),
    at INTEGER NOT NULL,
    content BLOB NOT NULL
);

CREATE INDEX memory_audit_user ON memory_audit (user_key, at);
