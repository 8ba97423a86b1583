-- Every row carries its owner, and every unique constraint and foreign key begins with it: the tables can be partitioned by
-- a hash of `user_key`, in this database or over several, as they are. Apart from the tables that ids and names are looked
-- up in (users, user_bindings, agents, session_owners, erased_sessions, vector spaces), API keys and known requests.

ALTER TABLE session_states ADD COLUMN user_key BIGINT;
ALTER TABLE messages ADD COLUMN user_key BIGINT;
ALTER TABLE compactions ADD COLUMN user_key BIGINT;
ALTER TABLE digests ADD COLUMN user_key BIGINT;
ALTER TABLE item_revisions ADD COLUMN user_key BIGINT;
ALTER TABLE item_evidence ADD COLUMN user_key BIGINT;
ALTER TABLE topic_revisions ADD COLUMN user_key BIGINT;
ALTER TABLE dream_topics ADD COLUMN user_key BIGINT;

UPDATE session_states SET user_key = sessions.user_key FROM sessions WHERE sessions.key = session_key;
UPDATE messages SET user_key = sessions.user_key FROM sessions WHERE sessions.key = session_key;
UPDATE compactions SET user_key = sessions.user_key FROM sessions WHERE sessions.key = session_key;
UPDATE digests SET user_key = coalesce(
    (SELECT compactions.user_key FROM compactions WHERE compactions.id = digests.compaction_id), 0
);
UPDATE item_revisions SET user_key = items.user_key FROM items WHERE items.key = item_key;
UPDATE item_evidence SET user_key = items.user_key FROM items WHERE items.key = item_key;
UPDATE topic_revisions SET user_key = topics.user_key FROM topics WHERE topics.key = topic_key;
UPDATE dream_topics SET user_key = dreams.user_key FROM dreams WHERE dreams.key = dream_key;

ALTER TABLE session_states DROP CONSTRAINT session_states_session_key_fkey;
ALTER TABLE messages DROP CONSTRAINT messages_session_key_fkey;
ALTER TABLE message_words DROP CONSTRAINT message_words_message_id_fkey;
ALTER TABLE compactions DROP CONSTRAINT compactions_session_key_fkey;
ALTER TABLE item_revisions DROP CONSTRAINT item_revisions_item_key_fkey;
ALTER TABLE item_evidence DROP CONSTRAINT item_evidence_item_key_fkey;
ALTER TABLE item_words DROP CONSTRAINT item_words_item_key_fkey;
ALTER TABLE topic_revisions DROP CONSTRAINT topic_revisions_topic_key_fkey;
ALTER TABLE dream_topics DROP CONSTRAINT dream_topics_dream_key_fkey;
ALTER TABLE session_memory DROP CONSTRAINT session_memory_session_key_fkey;
ALTER TABLE turn_recalls DROP CONSTRAINT turn_recalls_session_key_fkey;

-- Sessions. An id comes from a client, so that two users may bring the same one: it
-- is the first one's for ever, also when the session was erased.
CREATE TABLE session_owners (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_key BIGINT NOT NULL
);

INSERT INTO session_owners (id, user_key) SELECT id, user_key FROM sessions;

CREATE FUNCTION keep_session_owner() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_owners (id, user_key) VALUES (NEW.id, NEW.user_key);
    RETURN NULL;
END
$$;

CREATE TRIGGER sessions_owned AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION keep_session_owner();

ALTER TABLE sessions DROP CONSTRAINT sessions_id_key;
ALTER TABLE sessions DROP CONSTRAINT sessions_pkey;
ALTER TABLE sessions ADD PRIMARY KEY (user_key, key);
ALTER TABLE sessions ADD CONSTRAINT sessions_id_key UNIQUE (user_key, id);
CREATE INDEX sessions_alone ON sessions (id);
CREATE INDEX sessions_listed ON sessions (key);

ALTER TABLE session_states ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE session_states DROP CONSTRAINT session_states_pkey;
ALTER TABLE session_states ADD PRIMARY KEY (user_key, session_key);
ALTER TABLE session_states ADD FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key);

ALTER TABLE session_memory DROP CONSTRAINT session_memory_pkey;
ALTER TABLE session_memory ADD PRIMARY KEY (user_key, session_key);
ALTER TABLE session_memory ADD FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key);
DROP INDEX session_memory_user;

ALTER TABLE turn_recalls DROP CONSTRAINT turn_recalls_pkey;
ALTER TABLE turn_recalls ADD PRIMARY KEY (user_key, session_key);
ALTER TABLE turn_recalls ADD FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key);
DROP INDEX turn_recalls_user;

-- Messages.
ALTER TABLE messages ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE messages DROP CONSTRAINT messages_pkey;
ALTER TABLE messages ADD PRIMARY KEY (user_key, id);
ALTER TABLE messages ADD FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key);
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

ALTER TABLE message_words DROP CONSTRAINT message_words_pkey;
ALTER TABLE message_words ADD PRIMARY KEY (user_key, message_id);
ALTER TABLE message_words ADD FOREIGN KEY (user_key, message_id) REFERENCES messages (user_key, id);

-- Compactions.
ALTER TABLE compactions ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE compactions DROP CONSTRAINT compactions_pkey;
ALTER TABLE compactions DROP CONSTRAINT compactions_id_key;
ALTER TABLE compactions ADD PRIMARY KEY (user_key, key);
ALTER TABLE compactions ADD CONSTRAINT compactions_id_key UNIQUE (user_key, id);
ALTER TABLE compactions ADD FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key);
CREATE INDEX compactions_alone ON compactions (id);
DROP INDEX compactions_session;
CREATE INDEX compactions_session ON compactions (user_key, session_key, ordinal);

ALTER TABLE digests ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE digests DROP CONSTRAINT digests_pkey;
ALTER TABLE digests ADD PRIMARY KEY (user_key, id);
CREATE INDEX digests_alone ON digests (id);
DROP INDEX digests_compaction;
CREATE INDEX digests_compaction ON digests (user_key, compaction_id);

ALTER TABLE model_calls DROP CONSTRAINT model_calls_pkey;
ALTER TABLE model_calls DROP CONSTRAINT model_calls_id_key;
ALTER TABLE model_calls ADD PRIMARY KEY (user_id, key);
CREATE INDEX model_calls_listed ON model_calls (key);
CREATE INDEX model_calls_alone ON model_calls (id);

-- Memory.
ALTER TABLE items DROP CONSTRAINT items_pkey;
ALTER TABLE items DROP CONSTRAINT items_id_key;
ALTER TABLE items ADD PRIMARY KEY (user_key, key);
ALTER TABLE items ADD CONSTRAINT items_id_key UNIQUE (user_key, id);
CREATE INDEX items_alone ON items (id);

ALTER TABLE item_revisions ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE item_revisions DROP CONSTRAINT item_revisions_pkey;
ALTER TABLE item_revisions ADD PRIMARY KEY (user_key, item_key, revision);
ALTER TABLE item_revisions ADD FOREIGN KEY (user_key, item_key) REFERENCES items (user_key, key);

ALTER TABLE item_evidence ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE item_evidence DROP CONSTRAINT item_evidence_pkey;
ALTER TABLE item_evidence ADD PRIMARY KEY (user_key, item_key, session_id, seq);
ALTER TABLE item_evidence ADD FOREIGN KEY (user_key, item_key) REFERENCES items (user_key, key);

ALTER TABLE item_words DROP CONSTRAINT item_words_pkey;
ALTER TABLE item_words ADD PRIMARY KEY (user_key, item_key);
ALTER TABLE item_words ADD FOREIGN KEY (user_key, item_key) REFERENCES items (user_key, key);

ALTER TABLE topics DROP CONSTRAINT topics_pkey;
ALTER TABLE topics DROP CONSTRAINT topics_id_key;
ALTER TABLE topics ADD PRIMARY KEY (user_key, key);
ALTER TABLE topics ADD CONSTRAINT topics_id_key UNIQUE (user_key, id);
CREATE INDEX topics_alone ON topics (id);

ALTER TABLE topic_revisions ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE topic_revisions DROP CONSTRAINT topic_revisions_pkey;
ALTER TABLE topic_revisions ADD PRIMARY KEY (user_key, topic_key, revision);
ALTER TABLE topic_revisions ADD FOREIGN KEY (user_key, topic_key) REFERENCES topics (user_key, key);

ALTER TABLE dreams DROP CONSTRAINT dreams_pkey;
ALTER TABLE dreams DROP CONSTRAINT dreams_id_key;
ALTER TABLE dreams ADD PRIMARY KEY (user_key, key);
ALTER TABLE dreams ADD CONSTRAINT dreams_id_key UNIQUE (user_key, id);
CREATE INDEX dreams_alone ON dreams (id);
DROP INDEX dreams_owner;

ALTER TABLE dream_topics ALTER COLUMN user_key SET NOT NULL;
ALTER TABLE dream_topics DROP CONSTRAINT dream_topics_pkey;
ALTER TABLE dream_topics ADD PRIMARY KEY (user_key, dream_key, position);
ALTER TABLE dream_topics ADD FOREIGN KEY (user_key, dream_key) REFERENCES dreams (user_key, key);
DROP INDEX dream_topics_topic;
CREATE INDEX dream_topics_topic ON dream_topics (user_key, topic_id);

ALTER TABLE extractions DROP CONSTRAINT extractions_id_key;
ALTER TABLE extractions ADD CONSTRAINT extractions_id_key UNIQUE (user_key, id);
CREATE INDEX extractions_alone ON extractions (id);

ALTER TABLE memory_audit DROP CONSTRAINT memory_audit_pkey;
ALTER TABLE memory_audit ADD PRIMARY KEY (user_key, key);
