-- name: count_all_vectors
SELECT count(*) FROM vectors WHERE user_key = :user_key;

-- name: find_space
SELECT key FROM vector_spaces WHERE model = :model AND dimensions = :dimensions;

-- name: find_item_source
SELECT key, user_key, place, identity FROM items WHERE id = :owner_id AND status = 'active';

-- name: find_topic_source
SELECT key, user_key, place, content FROM topics WHERE id = :owner_id AND status = 'active';

-- name: delete_vector
DELETE FROM vectors WHERE user_key = :user_key AND kind = :kind AND owner_key = :owner_key AND space_key = :space_key;

-- name: name_item_source
SELECT id, 0 FROM items WHERE user_key = :user_key AND key = :owner_key;

-- name: name_topic_source
SELECT id, 0 FROM topics WHERE user_key = :user_key AND key = :owner_key;

-- name: find_message_key
SELECT messages.id
FROM sessions
JOIN messages ON messages.user_key = sessions.user_key AND messages.session_key = sessions.key
WHERE sessions.id = :owner_id AND messages.seq = :seq;

-- name: find_item_key
SELECT key FROM items WHERE id = :owner_id;

-- name: find_topic_key
SELECT key FROM topics WHERE id = :owner_id;

-- name: list_bare_items
SELECT content, key FROM items
WHERE user_key = :user_key AND status = 'active' AND key > :after
    AND NOT EXISTS (
        SELECT 1 FROM vectors
        WHERE
            vectors.user_key = :user_key AND vectors.kind = 'item' AND vectors.owner_key = items.key AND vectors.space_key = :space_key
    )
ORDER BY key
LIMIT :limit_count;

-- name: list_bare_topics
SELECT content, key FROM topics
WHERE user_key = :user_key AND status = 'active' AND key > :after
    AND NOT EXISTS (
        SELECT 1 FROM vectors
        WHERE
            vectors.user_key = :user_key AND vectors.kind = 'topic' AND vectors.owner_key = topics.key AND vectors.space_key = :space_key
    )
ORDER BY key
LIMIT :limit_count;
