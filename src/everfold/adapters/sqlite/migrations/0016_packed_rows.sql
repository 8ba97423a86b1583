-- Items, extractions and the audit are packed, and of an older revision of an item is kept what changed after it.
-- `pack_row` and `unpack_row` are functions of ours; see everfold.adapters.sqlite.packing.

CREATE TEMP TABLE packed_revisions (
    item_key INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (item_key, revision)
) WITHOUT ROWID;

INSERT INTO packed_revisions (item_key, revision, content)
SELECT older.item_key, older.revision, pack_row(older.content, coalesce(
    (
        SELECT newer.content FROM item_revisions AS newer
        WHERE newer.item_key = older.item_key AND newer.revision > older.revision
        ORDER BY newer.revision
        LIMIT 1
    ),
    (SELECT items.content FROM items WHERE items.key = older.item_key)
))
FROM item_revisions AS older;

UPDATE item_revisions SET content = (
    SELECT packed.content FROM packed_revisions AS packed
    WHERE packed.item_key = item_revisions.item_key AND packed.revision = item_revisions.revision
);

DROP TABLE packed_revisions;

UPDATE items SET content = pack_row(content);
UPDATE extractions SET content = pack_row(content);
UPDATE memory_audit SET content = pack_row(content);
