-- Refresh leases: whose context refresh of a user and an agent is on its way, and until when it is believed to be.

CREATE TABLE refresh_leases (
    user_key INTEGER NOT NULL REFERENCES users (key),
    agent_key INTEGER NOT NULL REFERENCES agents (key),
    holder TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (user_key, agent_key)
) WITHOUT ROWID;
