-- expand
-- How far the transcript files of other programs have been imported. An erase of the session keeps name and position, so
-- that what was erased does not come back from the file.
CREATE TABLE followed_transcripts (
    user_key BIGINT NOT NULL REFERENCES users (key),
    agent_key BIGINT NOT NULL REFERENCES agents (key),
    name TEXT COLLATE "C" NOT NULL,
    session_key BIGINT,
    path BYTEA NOT NULL,
    file_id TEXT NOT NULL,
    read_bytes BIGINT NOT NULL,
    left_seq BIGINT NOT NULL,
    PRIMARY KEY (user_key, agent_key, name),
    FOREIGN KEY (user_key, session_key) REFERENCES sessions (user_key, key)
);

CREATE INDEX followed_transcripts_session ON followed_transcripts (user_key, session_key);
