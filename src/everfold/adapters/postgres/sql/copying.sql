-- name: list_columns
-- The tables of the schema that ours are in, in the order of names. Those of vectors are PostgreSQL's own: an embedder makes
-- the vectors of a copy anew.
SELECT
    CAST(tables.relname AS TEXT), CAST(columns.attname AS TEXT),
    CAST(coalesce(array_position(CAST(keys.indkey AS SMALLINT []), columns.attnum) + 1, 0) AS BIGINT)
FROM pg_class AS tables
JOIN pg_attribute AS columns ON columns.attrelid = tables.oid AND columns.attnum > 0 AND NOT columns.attisdropped
LEFT JOIN pg_index AS keys ON keys.indrelid = tables.oid AND keys.indisprimary
WHERE
    tables.relkind IN ('r', 'p') AND NOT tables.relispartition
    AND tables.relname NOT IN ('vectors', 'vector_spaces')
    AND tables.relnamespace = CAST(current_schema() AS REGNAMESPACE)
ORDER BY tables.relname, columns.attnum;

-- name: list_types
SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT)
FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :table;

-- name: skip_erased_keys
-- A key of an erased session is never given again.
SELECT setval(pg_get_serial_sequence('sessions', 'key'), max(key))
FROM (SELECT key FROM sessions UNION ALL SELECT key FROM erased_sessions) AS given;

-- name: list_made_keys
-- The columns whose numbers the database gives itself.
SELECT CAST(column_name AS TEXT)
FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :table AND is_identity = 'YES';
