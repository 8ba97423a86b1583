-- name: tell_others
INSERT INTO told (told_by, content) VALUES (?, ?);

-- name: wake_others
SELECT pg_notify('everfold_told', '');

-- name: forget_told
DELETE FROM told WHERE told_at < now_micros() - :kept AND xid < CAST(CAST(:settled AS TEXT) AS XID8);

-- name: find_told_end
-- Where everything before has ended.
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT);

-- name: list_told
SELECT CAST(CAST(xid AS TEXT) AS BIGINT), id, told_by, content
FROM told
WHERE
    (xid, id) > (CAST(CAST(:xid AS TEXT) AS XID8), :id) AND xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xid, id
LIMIT :limit_count;

-- name: read_shared_settings
SELECT version, content FROM shared_settings WHERE name = 'agents';

-- name: find_written_settings
SELECT 1 FROM shared_settings WHERE name = 'agents' AND version = :version AND content = :content;

-- name: write_shared_settings
INSERT INTO shared_settings (name, version, content)
SELECT 'agents', 1, :content WHERE :expected_version = 0
ON CONFLICT (name) DO NOTHING;

-- name: replace_shared_settings
UPDATE shared_settings SET version = version + 1, content = :content
WHERE name = 'agents' AND version = :expected_version;
