-- How far the transcript files of other programs have been imported. An erase of the session keeps name and position, so
-- that what was erased does not come back from the file.

CREATE TABLE followed_transcripts (
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    name TEXT NOT NULL,
    session_key INTEGER REFERENCES sessions (key),
    path BLOB NOT NULL,
    file_id TEXT NOT NULL,
    read_bytes INTEGER NOT NULL,
    left_seq INTEGER NOT NULL,
    PRIMARY KEY (user_key, agent_key, name)
);

CREATE INDEX followed_transcripts_session ON followed_transcripts (user_key, session_key);
