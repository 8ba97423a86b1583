-- Forgetting: which sessions are erased, so that neither their ids nor their keys are given again. What a connection
-- remembers of a session's key leads nowhere then, and never to another session.

CREATE TABLE erased_sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
);

CREATE INDEX digests_event ON digests (event_id);
