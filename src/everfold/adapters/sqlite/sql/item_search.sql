-- name: insert_item_words
INSERT INTO item_index (rowid, own, scope) VALUES (:item_key, :own, :scope);

-- name: delete_item_words
DELETE FROM item_index WHERE rowid = :item_key;

-- name: count_item_word
-- :word has the user's key in front.
SELECT doc FROM item_index_words WHERE term = :word;

-- name: count_item_word_entries
-- Stops at :most_count. :word has the user's key in front.
SELECT count(*) FROM (SELECT rowid FROM item_index WHERE item_index MATCH '"' || :word || '"' LIMIT :most_count) AS hit;

-- name: find_newest_items
-- Stops at :limit_count, whatever matches.
SELECT items.content
FROM (SELECT rowid AS key FROM item_index WHERE item_index MATCH :match ORDER BY rowid DESC LIMIT :limit_count) AS hit
JOIN items ON items.key = hit.key
ORDER BY hit.key DESC;

-- name: search_items
-- Weighs the words 1, the scope nothing. The best :limit_count, best first, of equal ones the newer; score is positive.
SELECT items.content, hit.score
FROM (
    SELECT rowid AS key, -bm25(item_index, 1.0, 0.0) AS score
    FROM item_index
    WHERE item_index MATCH :match
    ORDER BY score DESC, rowid DESC
    LIMIT :limit_count
) AS hit
JOIN items ON items.key = hit.key
ORDER BY hit.score DESC, hit.key DESC;

-- name: touch_item_index
-- As `touch_message_index`.
SELECT rowid FROM item_index LIMIT 1;

-- name: count_wiped_words
-- How many rows of the index a user has, and about how many all have.
SELECT
    (SELECT count(*) FROM items WHERE user_key = :user_key AND status = 'active'),
    (SELECT coalesce(max(key), 0) FROM items);

-- name: set_secure_delete
INSERT INTO item_index (item_index, rank) VALUES ('secure-delete', :is_secure);

-- name: optimize_item_index
INSERT INTO item_index (item_index) VALUES ('optimize');

-- name: wipe_item_words
DELETE FROM item_index WHERE rowid IN (SELECT key FROM items WHERE user_key = :user_key AND status = 'active');
