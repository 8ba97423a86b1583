-- Vectors of messages, items and topics: floats in little-endian order of length 1, and a code of one bit for each.
-- Plain tables: what is erased takes its vectors with it whether or not the extension that compares them is there.
-- "owner_key" is messages.id, items.key or topics.key; "place" is 0 for what is of the user tier, else an agent's key.

CREATE TABLE vector_spaces (
    key INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL
);

CREATE UNIQUE INDEX vector_spaces_model ON vector_spaces (model, dimensions);

CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL REFERENCES users (key),
    space_key INTEGER NOT NULL REFERENCES vector_spaces (key),
    kind TEXT NOT NULL,
    place INTEGER NOT NULL,
    owner_key INTEGER NOT NULL,
    code BLOB NOT NULL,
    vector BLOB NOT NULL
);

CREATE UNIQUE INDEX vectors_owner ON vectors (kind, owner_key, space_key);

-- Everything that the first pass of a search reads, one user's rows of one space side by side.
CREATE INDEX vectors_code ON vectors (user_key, space_key, kind, place, code);

CREATE TRIGGER messages_erased AFTER UPDATE OF erased_at ON messages WHEN NEW.erased_at IS NOT NULL
BEGIN
    DELETE FROM vectors WHERE kind = 'message' AND owner_key = OLD.id;
END;

CREATE TRIGGER messages_deleted AFTER DELETE ON messages
BEGIN
    DELETE FROM vectors WHERE kind = 'message' AND owner_key = OLD.id;
END;

CREATE TRIGGER items_changed AFTER UPDATE ON items
WHEN NEW.status != 'active' OR NEW.identity != OLD.identity OR NEW.place != OLD.place
BEGIN
    DELETE FROM vectors WHERE kind = 'item' AND owner_key = OLD.key;
END;

CREATE TRIGGER items_deleted AFTER DELETE ON items
BEGIN
    DELETE FROM vectors WHERE kind = 'item' AND owner_key = OLD.key;
END;

CREATE TRIGGER topics_changed AFTER UPDATE ON topics
BEGIN
    DELETE FROM vectors WHERE kind = 'topic' AND owner_key = OLD.key;
END;

CREATE TRIGGER topics_deleted AFTER DELETE ON topics
BEGIN
    DELETE FROM vectors WHERE kind = 'topic' AND owner_key = OLD.key;
END;
