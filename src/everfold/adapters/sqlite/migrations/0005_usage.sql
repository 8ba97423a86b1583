-- Calls of a model: one row for each attempt, with what it used and cost. Nothing that was said is in it.

CREATE TABLE model_calls (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    session_id TEXT,
    event_id TEXT,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    answered_by TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL,
    is_uncounted INTEGER NOT NULL
);

CREATE INDEX model_calls_event ON model_calls (event_id) WHERE event_id IS NOT NULL;

CREATE INDEX model_calls_started ON model_calls (started_at);
