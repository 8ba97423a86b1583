-- name: list_audit_of_action
SELECT content, key FROM memory_audit
WHERE user_key = :user_key AND (at, key) < (:before, :ordinal) AND CAST(unpack_row(content) AS TEXT) ->> '$.action' = :action
ORDER BY at DESC, key DESC
LIMIT :limit_count;

-- name: list_agent_extractions
-- By the index: else SQLite walks everything that was extracted of the user, whichever the agent.
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions INDEXED BY extractions_agent
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND extractions.agent_key = :agent_key AND ordinal > :after_ordinal
ORDER BY ordinal
LIMIT :limit_count;

-- name: list_latest_agent_extractions
-- By the index, as `list_agent_extractions`.
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions INDEXED BY extractions_agent
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND extractions.agent_key = :agent_key AND ordinal < :before_ordinal
ORDER BY ordinal DESC
LIMIT :limit_count;

-- name: read_items
-- :ids is a JSON list; without a place, those of every place.
SELECT content FROM items
WHERE user_key = :user_key AND place IN (0, coalesce(:place, place)) AND id IN (SELECT value FROM json_each(:ids));

-- name: list_item_histories
-- In any order; :ids is a JSON list.
SELECT items.key, items.content, item_revisions.revision, item_revisions.content
FROM items
LEFT JOIN item_revisions ON item_revisions.user_key = items.user_key AND item_revisions.item_key = items.key
WHERE items.user_key = :user_key AND items.id IN (SELECT value FROM json_each(:ids));
