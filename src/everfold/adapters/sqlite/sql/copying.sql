-- name: list_columns
-- Without the full-text tables and the tables in which SQLite keeps them.
SELECT tables.name, columns.name, columns.pk
FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
WHERE tables.schema = 'main' AND tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'
ORDER BY tables.name, columns.cid;

-- name: list_active_items
-- In the order of the rows.
SELECT key, user_key, place, content FROM items
WHERE status = 'active' AND key > :after_key
ORDER BY key LIMIT :limit_count;
