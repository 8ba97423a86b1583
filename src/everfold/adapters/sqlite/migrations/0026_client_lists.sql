-- What clients of the gateway hold of sessions, as hashes: by the chain of one its session is found, and what is new told. The
-- hash of an erased message is gone, and so are the chains that were made with it.

CREATE TABLE client_messages (
    user_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    place INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    is_reply INTEGER NOT NULL,
    is_optional INTEGER NOT NULL,
    content BLOB,
    chain BLOB,
    attempt BLOB,
    PRIMARY KEY (user_key, session_key, place),
    FOREIGN KEY (session_key) REFERENCES sessions (key)
) WITHOUT ROWID;

CREATE INDEX client_messages_chain ON client_messages (user_key, chain) WHERE chain IS NOT NULL;

CREATE TABLE client_tails (
    user_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    tail BLOB NOT NULL,
    PRIMARY KEY (user_key, session_key),
    FOREIGN KEY (session_key) REFERENCES sessions (key)
) WITHOUT ROWID;

CREATE INDEX client_tails_tail ON client_tails (user_key, tail);
