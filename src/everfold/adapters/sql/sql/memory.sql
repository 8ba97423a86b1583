-- name: read_version_of_memory
SELECT revision, epoch, erased_revision, last_ordinal FROM memory_versions WHERE user_key = :user_key;

-- name: write_memory_head
-- Where the present one is the expected one; a user without one has revision and epoch 0.
INSERT INTO memory_versions (user_key, revision, epoch, erased_revision)
SELECT :user_key, :revision, :epoch, :erased_revision
WHERE (:expected_revision = 0 AND :expected_epoch = 0)
    OR EXISTS (SELECT 1 FROM memory_versions WHERE user_key = :user_key)
ON CONFLICT (user_key) DO UPDATE
SET revision = :revision, epoch = :epoch, erased_revision = CASE
    WHEN memory_versions.erased_revision < :erased_revision THEN :erased_revision
    ELSE memory_versions.erased_revision
END
WHERE memory_versions.revision = :expected_revision AND memory_versions.epoch = :expected_epoch;

-- name: count_extraction
UPDATE memory_versions SET last_ordinal = last_ordinal + 1 WHERE user_key = :user_key;

-- name: find_item
SELECT key, user_key, revision, status, place FROM items WHERE id = :item_id;

-- name: insert_item
INSERT INTO items (id, user_key, place, status, shelf, identity, revision, written_revision, content)
VALUES (:id, :user_key, :place, :status, :shelf, :identity, :revision, :written_revision, :content)
ON CONFLICT DO NOTHING;

-- name: update_item
UPDATE items
SET place = :place, status = :status, shelf = :shelf, identity = :identity, revision = :revision,
    written_revision = :written_revision, content = :content
WHERE id = :id AND user_key = :user_key;

-- name: keep_item_revision
INSERT INTO item_revisions (user_key, item_key, revision, content) VALUES (:user_key, :item_key, :revision, :content);

-- name: delete_item_revisions
DELETE FROM item_revisions WHERE user_key = :user_key AND item_key = :item_key;

-- name: insert_evidence
INSERT INTO item_evidence (user_key, item_key, session_id, seq) VALUES (:user_key, :item_key, :session_id, :seq)
ON CONFLICT DO NOTHING;

-- name: delete_evidence
DELETE FROM item_evidence WHERE user_key = :user_key AND item_key = :item_key;

-- name: list_items
SELECT key, content FROM items
WHERE user_key = :user_key AND status = :status AND shelf = :shelf AND key > :after
ORDER BY key
LIMIT :limit_count;

-- name: list_placed_items
-- Of a place and of all: each is a run of its own in an index, and the runs are merged.
SELECT key, content FROM items
WHERE user_key = :user_key AND place = 0 AND status = :status AND shelf = :shelf AND key > :after
UNION ALL
SELECT key, content FROM items
WHERE user_key = :user_key AND place = :place AND status = :status AND shelf = :shelf AND key > :after AND :place != 0
ORDER BY key
LIMIT :limit_count;

-- name: list_changed_items
-- By the revision that wrote them: reads as many rows as have changed, whatever the page.
SELECT key, status, place, shelf, content FROM items
WHERE user_key = :user_key AND written_revision > :changed_after;

-- name: read_item
SELECT content FROM items WHERE user_key = :user_key AND key = :item_key;

-- name: list_item_revisions
SELECT content FROM item_revisions WHERE user_key = :user_key AND item_key = :item_key ORDER BY revision;

-- name: find_same_items
SELECT key, content FROM items WHERE user_key = :user_key AND identity = :identity;

-- name: find_quoting_items
SELECT items.content
FROM item_evidence
JOIN items ON items.user_key = item_evidence.user_key AND items.key = item_evidence.item_key
WHERE session_id = :session_id AND seq = :seq
ORDER BY item_key;

-- name: find_gone_items
SELECT items.key, items.content
FROM item_evidence
JOIN items ON items.user_key = item_evidence.user_key AND items.key = item_evidence.item_key
WHERE item_evidence.user_key = :user_key AND session_id = :session_id AND seq = :seq
    AND items.status IN ('erased', 'expired', 'superseded');

-- name: find_items_of_session
SELECT content FROM items
WHERE (user_key, key) IN (SELECT user_key, item_key FROM item_evidence WHERE session_id = :session_id)
ORDER BY key;

-- name: find_topic
SELECT key, user_key, revision FROM topics WHERE id = :topic_id;

-- name: insert_topic
INSERT INTO topics (id, user_key, place, status, name, revision, content)
VALUES (:id, :user_key, :place, :status, :topic_name, :revision, :content);

-- name: update_topic
UPDATE topics SET place = :place, status = :status, name = :topic_name, revision = :revision, content = :content
WHERE id = :id AND user_key = :user_key;

-- name: keep_topic_revision
INSERT INTO topic_revisions (user_key, topic_key, revision, content)
SELECT user_key, key, revision, content FROM topics WHERE user_key = :user_key AND key = :topic_key;

-- name: delete_topic_revisions
DELETE FROM topic_revisions WHERE user_key = :user_key AND topic_key = :topic_key;

-- name: list_topics
SELECT content, key FROM topics
WHERE user_key = :user_key AND status = 'active' AND (CAST(:place AS BIGINT) IS NULL OR place IN (0, :place));

-- name: read_all_topics
SELECT key, content FROM topics WHERE user_key = :user_key ORDER BY key;

-- name: list_named_topics
SELECT key, content FROM topics
WHERE user_key = :user_key AND name = :topic_name AND (CAST(:place AS BIGINT) IS NULL OR place IN (0, :place))
ORDER BY key;

-- name: list_topic_revisions
SELECT content FROM topic_revisions WHERE user_key = :user_key AND topic_key = :topic_key ORDER BY revision;

-- name: list_all_topic_revisions
SELECT topic_revisions.topic_key, topic_revisions.revision, topic_revisions.content
FROM topics
JOIN topic_revisions ON topic_revisions.user_key = topics.user_key AND topic_revisions.topic_key = topics.key
WHERE topics.user_key = :user_key;

-- name: find_dream
SELECT key, user_key, content FROM dreams WHERE id = :dream_id;

-- name: insert_dream
INSERT INTO dreams (id, user_key, agent_key, state, content) VALUES (:id, :user_key, :agent_key, :state, :content)
ON CONFLICT (user_key, id) DO UPDATE SET agent_key = :agent_key, state = :state, content = :content;

-- name: insert_dream_topic
INSERT INTO dream_topics (user_key, dream_key, position, topic_id, content)
VALUES (:user_key, :dream_key, :position, :topic_id, :content);

-- name: delete_dream_topics
DELETE FROM dream_topics WHERE user_key = :user_key AND dream_key = :dream_key;

-- name: forget_dreamt_topic
DELETE FROM dream_topics WHERE user_key = :user_key AND topic_id = :topic_id;

-- name: list_dreamt_topics
SELECT content FROM dream_topics WHERE user_key = :user_key AND dream_key = :dream_key ORDER BY position;

-- name: list_dreams
-- Each with the topics that it wrote, a row for each.
SELECT hit.key, hit.content, position, dream_topics.content
FROM (SELECT key, content FROM dreams WHERE user_key = :user_key ORDER BY key DESC LIMIT :limit_count) AS hit
LEFT JOIN dream_topics ON dream_topics.user_key = :user_key AND dream_topics.dream_key = hit.key
ORDER BY hit.key DESC;

-- name: list_agent_dreams
SELECT hit.key, hit.content, position, dream_topics.content
FROM (
    SELECT key, content FROM dreams
    WHERE user_key = :user_key AND agent_key = :agent_key
    ORDER BY key DESC
    LIMIT :limit_count
) AS hit
LEFT JOIN dream_topics ON dream_topics.user_key = :user_key AND dream_topics.dream_key = hit.key
ORDER BY hit.key DESC;

-- name: insert_extraction
INSERT INTO extractions (user_key, ordinal, agent_key, id, session_id, content)
SELECT user_key, last_ordinal, :agent_key, :id, :session_id, :content FROM memory_versions WHERE user_key = :user_key;

-- name: find_extraction
SELECT user_key FROM extractions WHERE id = :extraction_id;

-- name: note_waiting
INSERT INTO memory_cursors (user_key, agent_key, last_ordinal, made_at)
SELECT user_key, :agent_key, last_ordinal, :made_at FROM memory_versions WHERE user_key = :user_key
ON CONFLICT (user_key, agent_key)
DO UPDATE SET last_ordinal = excluded.last_ordinal, made_at = CASE
    WHEN memory_cursors.made_at < excluded.made_at THEN excluded.made_at
    ELSE memory_cursors.made_at
END;

-- name: list_dreamable
WITH unread AS MATERIALIZED (
    SELECT
        user_key, agent_key, made_at,
        (
            SELECT max((
                SELECT said_at FROM messages
                WHERE
                    messages.user_key = sessions.user_key AND messages.session_key = sessions.key
                    AND source = 'said'
                ORDER BY seq DESC
                LIMIT 1
            ))
            FROM sessions
            WHERE sessions.user_key = memory_cursors.user_key AND sessions.agent_key = memory_cursors.agent_key
        ) AS said_at
    FROM memory_cursors
    WHERE last_ordinal > read_through AND made_at < :idle_before
)
SELECT
    users.id, agents.id, CASE WHEN said_at > made_at THEN said_at ELSE made_at END AS active_at,
    EXISTS (
        SELECT 1 FROM dreams
        WHERE
            dreams.user_key = unread.user_key
            AND dreams.agent_key = unread.agent_key
            AND dreams.state = 'proposed'
    ) AS has_proposal
FROM unread
JOIN users ON users.key = unread.user_key
JOIN agents ON agents.key = unread.agent_key
WHERE said_at IS NULL OR said_at < :idle_before
ORDER BY has_proposal, active_at DESC, users.id, agents.id
LIMIT :limit_count;

-- name: list_extractions
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND ordinal > :after_ordinal
ORDER BY ordinal
LIMIT :limit_count;

-- name: list_agent_extractions
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND extractions.agent_key = :agent_key AND ordinal > :after_ordinal
ORDER BY ordinal
LIMIT :limit_count;

-- name: list_latest_extractions
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND ordinal < :before_ordinal
ORDER BY ordinal DESC
LIMIT :limit_count;

-- name: list_latest_agent_extractions
SELECT ordinal, extractions.content, sessions.key IS NULL
FROM extractions
LEFT JOIN sessions ON sessions.user_key = extractions.user_key AND sessions.id = extractions.session_id
WHERE extractions.user_key = :user_key AND extractions.agent_key = :agent_key AND ordinal < :before_ordinal
ORDER BY ordinal DESC
LIMIT :limit_count;

-- name: read_cursor
SELECT read_through FROM memory_cursors WHERE user_key = :user_key AND agent_key = :agent_key;

-- name: write_cursor
INSERT INTO memory_cursors (user_key, agent_key, read_through) VALUES (:user_key, :agent_key, :read_through)
ON CONFLICT (user_key, agent_key) DO UPDATE SET read_through = :read_through;

-- name: read_session_memory
-- Where memory stands, then what is kept for the session. NULLs for a user without any, and for a session of which nothing is kept.
SELECT
    revision, epoch, extracted_seq, model_seq, tokens_count, calls_count, snapshot, snapshot_revision,
    snapshot_compaction, has_snapshot
FROM sessions
LEFT JOIN session_memory
    ON session_memory.user_key = sessions.user_key AND session_memory.session_key = sessions.key
LEFT JOIN memory_versions ON memory_versions.user_key = sessions.user_key
WHERE sessions.id = :session_id;

-- name: write_session_memory
INSERT INTO session_memory (
    session_key, user_key, extracted_seq, model_seq, tokens_count, calls_count, snapshot, snapshot_revision,
    snapshot_compaction, has_snapshot
) VALUES (
    :session_key, :user_key, :extracted_seq, :model_seq, :tokens_count, :calls_count, :snapshot, :snapshot_revision,
    :snapshot_compaction, :has_snapshot
)
ON CONFLICT (user_key, session_key) DO UPDATE
SET extracted_seq = excluded.extracted_seq, model_seq = excluded.model_seq,
    tokens_count = excluded.tokens_count, calls_count = excluded.calls_count, snapshot = excluded.snapshot,
    snapshot_revision = excluded.snapshot_revision, snapshot_compaction = excluded.snapshot_compaction,
    has_snapshot = excluded.has_snapshot;

-- name: forget_snapshots
UPDATE session_memory SET snapshot = :snapshot, snapshot_revision = 0, snapshot_compaction = '', has_snapshot = 0
WHERE user_key = :user_key AND has_snapshot = 1;

-- name: insert_audit
INSERT INTO memory_audit (user_key, at, content) VALUES (:user_key, :at, :content);

-- name: list_audit
SELECT content, key FROM memory_audit
WHERE user_key = :user_key AND (at, key) < (:before, :ordinal)
ORDER BY at DESC, key DESC
LIMIT :limit_count;

-- name: wipe_item_revisions
DELETE FROM item_revisions
WHERE user_key = :user_key AND item_key IN (SELECT key FROM items WHERE user_key = :user_key);

-- name: wipe_evidence
DELETE FROM item_evidence
WHERE user_key = :user_key AND item_key IN (SELECT key FROM items WHERE user_key = :user_key);

-- name: wipe_items
DELETE FROM items WHERE user_key = :user_key;

-- name: wipe_topic_revisions
DELETE FROM topic_revisions
WHERE user_key = :user_key AND topic_key IN (SELECT key FROM topics WHERE user_key = :user_key);

-- name: wipe_topics
DELETE FROM topics WHERE user_key = :user_key AND place = 0;

-- name: wipe_agent_topics
DELETE FROM topics WHERE user_key = :user_key AND place <> 0;

-- name: wipe_dreamt_topics
DELETE FROM dream_topics
WHERE user_key = :user_key AND dream_key IN (SELECT key FROM dreams WHERE user_key = :user_key);

-- name: wipe_dreams
DELETE FROM dreams WHERE user_key = :user_key;

-- name: wipe_extractions
DELETE FROM extractions WHERE user_key = :user_key;

-- name: count_cursors
SELECT count(*) FROM memory_cursors WHERE user_key = :user_key AND read_through > 0;

-- name: wipe_cursors
DELETE FROM memory_cursors WHERE user_key = :user_key;

-- name: list_files
SELECT path, chars_count FROM memory_files WHERE user_key = :user_key AND agent_key = :agent_key ORDER BY path;

-- name: read_file
SELECT content, written_at FROM memory_files WHERE user_key = :user_key AND agent_key = :agent_key AND path = :path;

-- name: read_files
SELECT agents.id, memory_files.path, memory_files.content, memory_files.written_at
FROM memory_files JOIN agents ON agents.key = memory_files.agent_key
WHERE memory_files.user_key = :user_key;

-- name: write_file
INSERT INTO memory_files (user_key, agent_key, path, written_at, chars_count, content)
VALUES (:user_key, :agent_key, :path, :written_at, :chars_count, :content)
ON CONFLICT (user_key, agent_key, path) DO UPDATE
SET written_at = :written_at, chars_count = :chars_count, content = :content;

-- name: delete_file
DELETE FROM memory_files WHERE user_key = :user_key AND agent_key = :agent_key AND path = :path;

-- name: wipe_files
DELETE FROM memory_files WHERE user_key = :user_key;

-- name: wipe_session_memory
DELETE FROM session_memory WHERE user_key = :user_key;
