-- Session keys: a user and an agent have one current session for each key. The column is called `thread` because `key`
-- is the integer key of a session here. Sessions without a session key have the empty one.

ALTER TABLE sessions ADD COLUMN thread TEXT NOT NULL DEFAULT '';

DROP INDEX sessions_current;

CREATE UNIQUE INDEX sessions_current ON sessions (user_key, agent_key, thread) WHERE is_current = 1;
