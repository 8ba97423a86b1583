-- Operators look for the events whose digest failed for good: few among many.
CREATE INDEX messages_erased ON messages(session_key, seq) WHERE erased_at IS NOT NULL;

CREATE INDEX events_degraded ON events(begun_at) WHERE state = 'degraded';
