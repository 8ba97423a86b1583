-- Operators look for the events whose digest failed for good: few among many.
CREATE INDEX events_degraded ON events(begun_at) WHERE state = 'degraded';
