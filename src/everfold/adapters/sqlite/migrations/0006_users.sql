-- Users: display name, who is the default one, and where each is reached.
-- What there is moves to UUIDs, here and at no other time: the transaction of a migration is committed once or not at
-- all. An id that is no UUID becomes a name that is bound to its user. The default user adopts what stood under
-- `default`, under the nil UUID and under the alias `test`.

ALTER TABLE users ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX users_default ON users (is_default) WHERE is_default = 1;

CREATE TABLE user_bindings (
    channel TEXT NOT NULL,
    own_id TEXT NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users (key),
    PRIMARY KEY (channel, own_id)
) WITHOUT ROWID;

CREATE INDEX user_bindings_user ON user_bindings (user_key);

UPDATE users SET created_at = coalesce(
    (SELECT min(created_at) FROM sessions WHERE sessions.user_key = users.key), unixepoch() * 1000000
);

-- Who becomes whom. rank: who stood for the default user, the first of them is it; owner_key: whose the rows are from
-- now on; is_uuid: the id stays, in lower case. Of ids that differ in case only one can.
CREATE TEMP TABLE renamed (
    key INTEGER PRIMARY KEY,
    old_id TEXT NOT NULL UNIQUE,
    rank INTEGER,
    owner_key INTEGER NOT NULL,
    is_uuid INTEGER NOT NULL
);

INSERT INTO renamed (key, old_id, rank, owner_key, is_uuid)
SELECT
    key,
    id,
    CASE id WHEN 'default' THEN 0 WHEN '00000000-0000-0000-0000-000000000000' THEN 1 WHEN 'test' THEN 2 END,
    key,
    lower(id) GLOB replace('########-####-####-####-############', '#', '[0-9a-f]')
    AND row_number() OVER (PARTITION BY lower(id) ORDER BY id = lower(id) DESC, key) = 1
FROM users;

UPDATE renamed SET
    owner_key = (SELECT key FROM renamed WHERE rank IS NOT NULL ORDER BY rank LIMIT 1),
    is_uuid = 0
WHERE rank IS NOT NULL;

UPDATE users SET name = id WHERE key IN (SELECT key FROM renamed WHERE NOT is_uuid);

UPDATE users SET
    name = 'default',
    is_default = 1,
    epoch = (SELECT max(epoch) FROM users WHERE key IN (SELECT key FROM renamed WHERE rank IS NOT NULL))
WHERE key IN (SELECT key FROM renamed WHERE rank IS NOT NULL AND key = owner_key);

-- A UUID of version 4. Source: RFC 9562, section 5.4.
UPDATE users
SET id = CASE
    WHEN (SELECT is_uuid FROM renamed WHERE renamed.key = users.key) THEN lower(id)
    ELSE lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
    )
END;

INSERT INTO user_bindings (channel, own_id, user_key)
SELECT 'name', old_id, owner_key FROM renamed WHERE (rank IS NULL AND NOT is_uuid) OR rank = 2;

UPDATE model_calls
SET user_id = (SELECT users.id FROM renamed JOIN users ON users.key = owner_key WHERE old_id = user_id)
WHERE user_id IN (SELECT old_id FROM renamed);

-- Adopted sessions. Of several that are current for one agent the default user's own stays so, else the newest.
UPDATE sessions SET is_current = 0
WHERE is_current = 1
    AND user_key IN (SELECT key FROM renamed WHERE key != owner_key)
    AND EXISTS (
        SELECT 1 FROM sessions AS other JOIN renamed ON renamed.key = other.user_key
        WHERE renamed.rank IS NOT NULL AND other.agent_key = sessions.agent_key AND other.is_current = 1
            AND (renamed.key = renamed.owner_key OR other.key > sessions.key)
    );

-- Their rows of the search index keep no text; the words are read back from the index itself, with their places.
CREATE VIRTUAL TABLE message_index_places USING fts5vocab (message_index, instance);

CREATE TEMP TABLE adopted_words AS
SELECT places.doc, places.col, places.offset, owner_key || substr(places.term, instr(places.term, '_')) AS word
FROM renamed
CROSS JOIN message_index_places AS places
WHERE renamed.key != renamed.owner_key
    AND places.term >= renamed.key || '_' AND places.term < renamed.key || '`';

INSERT OR REPLACE INTO message_index (rowid, own, before, scope)
SELECT
    doc,
    coalesce(group_concat(word, ' ' ORDER BY offset) FILTER (WHERE col = 'own'), ''),
    coalesce(group_concat(word, ' ' ORDER BY offset) FILTER (WHERE col = 'before'), ''),
    coalesce(group_concat(word, ' ' ORDER BY offset) FILTER (WHERE col = 'scope'), '')
FROM adopted_words
GROUP BY doc;

DROP TABLE message_index_places;
DROP TABLE adopted_words;

UPDATE sessions SET user_key = (SELECT owner_key FROM renamed WHERE renamed.key = user_key)
WHERE user_key IN (SELECT key FROM renamed WHERE key != owner_key);

DELETE FROM users WHERE key IN (SELECT key FROM renamed WHERE key != owner_key);
DROP TABLE renamed;
