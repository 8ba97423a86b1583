-- What the running turn of a session shows of memory and the past, so that every step of it shows the same bytes, whoever
-- opens the session. A row is replaced by the next turn's; an erase takes those of all sessions of the user.

CREATE TABLE turn_recalls (
    session_key INTEGER PRIMARY KEY REFERENCES sessions (key),
    user_key INTEGER NOT NULL REFERENCES users (key),
    content BLOB NOT NULL
);

CREATE INDEX turn_recalls_user ON turn_recalls (user_key);
