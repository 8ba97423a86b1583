-- name: insert_item
INSERT INTO items (id, user_key, place, status, shelf, identity, revision, written_revision, content)
SELECT :id, :user_key, :place, :status, :shelf, :identity, :revision, :written_revision, :content
WHERE NOT EXISTS (SELECT 1 FROM items WHERE id = :id AND user_key <> :user_key)
ON CONFLICT (user_key, id) DO NOTHING
RETURNING key;

-- name: insert_audit
INSERT INTO memory_audit (user_key, at, action, content) VALUES (:user_key, :at, :action, :content);

-- name: list_audit_of_action
SELECT content, key FROM memory_audit
WHERE user_key = :user_key AND (at, key) < (:before, :ordinal) AND action = :action
ORDER BY at DESC, key DESC
LIMIT :limit_count;

-- name: read_items
-- :ids is a JSON list; without a place, those of every place.
SELECT content FROM items
WHERE user_key = :user_key AND place IN (0, coalesce(CAST(:place AS BIGINT), place))
    AND id IN (SELECT json_array_elements_text(CAST(:ids AS JSON)));

-- name: list_item_histories
-- In any order; :ids is a JSON list.
SELECT items.key, items.content, item_revisions.revision, item_revisions.content
FROM items
LEFT JOIN item_revisions ON item_revisions.user_key = items.user_key AND item_revisions.item_key = items.key
WHERE items.user_key = :user_key AND items.id IN (SELECT json_array_elements_text(CAST(:ids AS JSON)));
