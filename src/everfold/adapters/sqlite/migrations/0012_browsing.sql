-- Browsing: what lists and pictures ask for and no turn does.

CREATE INDEX sessions_agent ON sessions (agent_key);

CREATE INDEX messages_refresh ON messages (session_key, seq) WHERE source = 'refresh';

CREATE INDEX events_revises ON events (revises) WHERE revises IS NOT NULL;
