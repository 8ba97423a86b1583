-- Every row carries its owner, and every unique index begins with it, so that no other schema is needed where the rows of
-- different users are in different places. What finds a row by the keys of its session names the user too.

ALTER TABLE messages ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE compactions ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE digests ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE item_revisions ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE item_evidence ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE topic_revisions ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dream_topics ADD COLUMN user_key INTEGER NOT NULL DEFAULT 0;

UPDATE messages SET user_key = (SELECT sessions.user_key FROM sessions WHERE sessions.key = session_key);
UPDATE compactions SET user_key = (SELECT sessions.user_key FROM sessions WHERE sessions.key = session_key);
UPDATE digests SET user_key = coalesce(
    (SELECT compactions.user_key FROM compactions WHERE compactions.id = compaction_id), 0
);
UPDATE item_revisions SET user_key = (SELECT items.user_key FROM items WHERE items.key = item_key);
UPDATE item_evidence SET user_key = (SELECT items.user_key FROM items WHERE items.key = item_key);
UPDATE topic_revisions SET user_key = (SELECT topics.user_key FROM topics WHERE topics.key = topic_key);
UPDATE dream_topics SET user_key = (SELECT dreams.user_key FROM dreams WHERE dreams.key = dream_key);

-- Made anew, so that its owner stands before the state, which is long.
CREATE TABLE owned_states (
    session_key INTEGER PRIMARY KEY REFERENCES sessions (key),
    user_key INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    state BLOB NOT NULL
);

INSERT INTO owned_states (session_key, user_key, revision, state)
SELECT session_key, sessions.user_key, revision, state
FROM session_states
JOIN sessions ON sessions.key = session_key;

DROP TABLE session_states;
ALTER TABLE owned_states RENAME TO session_states;
CREATE UNIQUE INDEX session_states_owner ON session_states (user_key, session_key);

DROP INDEX messages_seq;
DROP INDEX messages_client;
DROP INDEX messages_hash;
DROP INDEX messages_refresh;
DROP INDEX messages_erased;
CREATE UNIQUE INDEX messages_seq ON messages (user_key, session_key, seq);
CREATE UNIQUE INDEX messages_client ON messages (user_key, session_key, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX messages_hash ON messages (user_key, session_key, substr(content_hash, 1, 6)) WHERE content_hash IS NOT NULL;
CREATE INDEX messages_refresh ON messages (user_key, session_key, seq) WHERE source = 'refresh';
CREATE INDEX messages_erased ON messages (user_key, session_key, seq) WHERE erased_at IS NOT NULL;

DROP INDEX compactions_session;
CREATE INDEX compactions_session ON compactions (user_key, session_key, ordinal);

CREATE TABLE owned_memory (
    user_key INTEGER NOT NULL REFERENCES users (key),
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    extracted_seq INTEGER NOT NULL,
    model_seq INTEGER NOT NULL,
    tokens_count INTEGER NOT NULL,
    calls_count INTEGER NOT NULL,
    snapshot BLOB NOT NULL,
    snapshot_revision INTEGER NOT NULL,
    snapshot_compaction TEXT NOT NULL,
    has_snapshot INTEGER NOT NULL,
    PRIMARY KEY (user_key, session_key)
) WITHOUT ROWID;

INSERT INTO owned_memory (
    user_key, session_key, extracted_seq, model_seq, tokens_count, calls_count, snapshot, snapshot_revision,
    snapshot_compaction, has_snapshot
)
SELECT
    user_key, session_key, extracted_seq, model_seq, tokens_count, calls_count, snapshot, snapshot_revision,
    snapshot_compaction, has_snapshot
FROM session_memory;

DROP TABLE session_memory;
ALTER TABLE owned_memory RENAME TO session_memory;

CREATE TABLE owned_recalls (
    user_key INTEGER NOT NULL REFERENCES users (key),
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    content BLOB NOT NULL,
    PRIMARY KEY (user_key, session_key)
) WITHOUT ROWID;

INSERT INTO owned_recalls (user_key, session_key, content) SELECT user_key, session_key, content FROM turn_recalls;

DROP TABLE turn_recalls;
ALTER TABLE owned_recalls RENAME TO turn_recalls;

DROP INDEX vectors_owner;
CREATE UNIQUE INDEX vectors_owner ON vectors (user_key, kind, owner_key, space_key);

DROP TRIGGER messages_erased;
CREATE TRIGGER messages_erased AFTER UPDATE OF erased_at ON messages WHEN NEW.erased_at IS NOT NULL
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'message' AND owner_key = OLD.id;
END;

DROP TRIGGER messages_retracted;
CREATE TRIGGER messages_retracted AFTER UPDATE OF kind ON messages WHEN NEW.kind = 'retracted'
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'message' AND owner_key = OLD.id;
END;

DROP TRIGGER messages_deleted;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'message' AND owner_key = OLD.id;
END;

DROP TRIGGER items_changed;
CREATE TRIGGER items_changed AFTER UPDATE ON items
WHEN NEW.status != 'active' OR NEW.identity != OLD.identity OR NEW.place != OLD.place
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'item' AND owner_key = OLD.key;
END;

DROP TRIGGER items_deleted;
CREATE TRIGGER items_deleted AFTER DELETE ON items
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'item' AND owner_key = OLD.key;
END;

DROP TRIGGER topics_changed;
CREATE TRIGGER topics_changed AFTER UPDATE ON topics
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'topic' AND owner_key = OLD.key;
END;

DROP TRIGGER topics_deleted;
CREATE TRIGGER topics_deleted AFTER DELETE ON topics
BEGIN
    DELETE FROM vectors WHERE user_key = OLD.user_key AND kind = 'topic' AND owner_key = OLD.key;
END;

-- Ids of memory are unique within a user; the constraints of the first tables hold besides.
CREATE UNIQUE INDEX items_id ON items (user_key, id);
CREATE UNIQUE INDEX dreams_id ON dreams (user_key, id);
