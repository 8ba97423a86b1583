-- Names follow the words of the field: an event is a compaction, a head of memory a version, an access key an API key.
-- The keys of stored JSON follow too. In JSON a quote within a text is escaped, so `"name":` is always a key.

ALTER TABLE events RENAME TO compactions;
ALTER TABLE digests RENAME COLUMN event_id TO compaction_id;
ALTER TABLE model_calls RENAME COLUMN event_id TO compaction_id;
ALTER TABLE session_memory RENAME COLUMN snapshot_event TO snapshot_compaction;
ALTER TABLE memory_heads RENAME TO memory_versions;
ALTER TABLE access_keys RENAME TO api_keys;

DROP INDEX events_degraded;
DROP INDEX events_revises;
DROP INDEX events_session;
DROP INDEX events_waiting;
DROP INDEX digests_event;
DROP INDEX model_calls_event;
DROP INDEX access_keys_name;
CREATE INDEX compactions_degraded ON compactions(begun_at) WHERE state = 'degraded';
CREATE INDEX compactions_revises ON compactions(revises) WHERE revises IS NOT NULL;
CREATE INDEX compactions_session ON compactions(session_key, ordinal);
CREATE INDEX compactions_waiting ON compactions(session_key) WHERE state IN ('pending', 'running', 'ready');
CREATE INDEX digests_compaction ON digests(compaction_id);
CREATE INDEX model_calls_compaction ON model_calls(compaction_id) WHERE compaction_id IS NOT NULL;
CREATE UNIQUE INDEX api_keys_name ON api_keys(name) WHERE revoked_at IS NULL;

UPDATE sessions SET settings = replace(replace(settings, '"force_ratio":', '"hard_limit_ratio":'), '"volatile_ratio":', '"suffix_ratio":');
UPDATE session_states SET state = CAST(replace(replace(replace(replace(CAST(state AS TEXT),
    '"event_id":', '"compaction_id":'), '"events_count":', '"compactions_count":'),
    '"held_events":', '"pending_compactions":'), '"breaks":', '"cache_breaks":') AS BLOB);
UPDATE compactions SET plan = CAST(replace(replace(replace(CAST(plan AS TEXT),
    '"trigger":"revision"', '"trigger":"late_digest"'),
    '"fine_cap_tokens":', '"digest_cap_tokens":'), '"coarse_cap_tokens":', '"rollup_cap_tokens":') AS BLOB);
UPDATE compactions SET report = replace(replace(replace(replace(replace(report,
    '"trigger":"revision"', '"trigger":"late_digest"'),
    '"fine_tokens":', '"own_digest_tokens":'), '"coarse_tokens":', '"rollup_tokens":'),
    '"break_after_tokens":', '"cache_break_after_tokens":'), '"break_cost_tokens":', '"resent_tokens":')
WHERE report IS NOT NULL;
UPDATE extractions SET content = CAST(replace(CAST(content AS TEXT), '"event_id":', '"compaction_id":') AS BLOB);
UPDATE digests SET kind = CASE kind WHEN 'coarse' THEN 'rollup' ELSE 'digest' END;
