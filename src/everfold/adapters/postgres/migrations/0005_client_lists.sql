-- expand
-- What clients of the gateway hold of sessions, as hashes: by the chain of one its session is found, and what is new told. The
-- hash of an erased message is gone, and so are the chains that were made with it.

CREATE TABLE client_messages (
    user_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    place BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    is_reply BIGINT NOT NULL,
    is_optional BIGINT NOT NULL,
    content BYTEA,
    chain BYTEA,
    attempt BYTEA,
    PRIMARY KEY (user_key, session_key, place),
    FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key)
);

CREATE INDEX client_messages_chain ON client_messages (user_key, chain) WHERE chain IS NOT NULL;

CREATE TABLE client_tails (
    user_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    tail BYTEA NOT NULL,
    PRIMARY KEY (user_key, session_key),
    FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key)
);

CREATE INDEX client_tails_tail ON client_tails (user_key, tail);
