-- Leases: who does a piece of work of a user now (an answer, a dream, a refresh), and until when that is believed.

CREATE TABLE leases (
    user_key INTEGER NOT NULL REFERENCES users (key),
    work TEXT NOT NULL,
    about TEXT NOT NULL,
    holder TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (user_key, work, about)
) WITHOUT ROWID;

DROP TABLE dream_leases;

DROP TABLE refresh_leases;
