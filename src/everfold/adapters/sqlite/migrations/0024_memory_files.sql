-- Memory files: text that an agent keeps for itself of a user, by path.

CREATE TABLE memory_files (
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    path TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    chars_count INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (user_key, agent_key, path)
);
