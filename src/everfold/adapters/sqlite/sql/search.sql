-- name: insert_search_row
INSERT INTO message_index (rowid, own, before, scope) VALUES (?, ?, ?, ?);

-- name: replace_search_row
-- All columns at once: the index keeps no text that a partial update could complete.
INSERT OR REPLACE INTO message_index (rowid, own, before, scope) VALUES (:message_id, :own, :before, :scope);

-- name: delete_search_row
DELETE FROM message_index WHERE rowid = :message_id;

-- name: count_search_word
-- :word has the user's key in front.
SELECT doc FROM message_index_words WHERE term = :word;

-- name: search_messages
-- Weighs own words 1, the words of what was said before :before_weight, the scope nothing.
-- The best :candidate_count, best first; score is positive.
SELECT hit.id, hit.score, sessions.agent_key, sessions.id, messages.seq, messages.role, messages.speaker, messages.raw_tokens
FROM (
    SELECT rowid AS id, -bm25(message_index, 1.0, :before_weight, 0.0) AS score
    FROM message_index
    WHERE message_index MATCH :match
    ORDER BY score DESC
    LIMIT :candidate_count
) AS hit
JOIN messages ON messages.id = hit.id
JOIN sessions ON sessions.key = messages.session_key
ORDER BY hit.score DESC, hit.id DESC;

-- name: search_some_messages
-- The same among the messages in :roles (a JSON array) that were said from :since_at on and before :until_at. Every row
-- that matches is looked up, so that a better one that is left out takes no place.
SELECT hit.id, hit.score, sessions.agent_key, sessions.id, messages.seq, messages.role, messages.speaker, messages.raw_tokens
FROM (
    SELECT message_index.rowid AS id, -bm25(message_index, 1.0, :before_weight, 0.0) AS score
    FROM message_index JOIN messages AS matching ON matching.id = message_index.rowid
    WHERE
        message_index MATCH :match
        AND matching.said_at >= :since_at
        AND matching.said_at < :until_at
        AND matching.role IN (SELECT value FROM json_each(:roles))
    ORDER BY score DESC
    LIMIT :candidate_count
) AS hit
JOIN messages ON messages.id = hit.id
JOIN sessions ON sessions.key = messages.session_key
ORDER BY hit.score DESC, hit.id DESC;

-- name: find_holding
-- The newest messages that match, in :roles (a JSON array), said from :since_at on and before :until_at. The index gives them
-- newest first, so that no more are read than are given.
SELECT users.id, sessions.id, messages.seq
FROM message_index
CROSS JOIN messages ON messages.id = message_index.rowid
CROSS JOIN sessions ON sessions.key = messages.session_key
CROSS JOIN users ON users.key = sessions.user_key
WHERE
    message_index MATCH :match
    AND messages.said_at >= :since_at
    AND messages.said_at < :until_at
    AND messages.role IN (SELECT value FROM json_each(:roles))
ORDER BY message_index.rowid DESC
LIMIT :limit_count;

-- name: optimize_search
-- After an erase: merges the index into one segment, so that no page holds a deleted row's words any more.
INSERT INTO message_index (message_index) VALUES ('optimize');

-- name: touch_message_index
-- Before a check of integrity: only a query makes FTS5 look whether another connection has written, and a check that
-- goes by what the connection remembers finds damage where there is none. Source: our measurement with SQLite 3.54.1.
SELECT rowid FROM message_index LIMIT 1;

-- name: find_unindexed
-- Messages without a row of the index. The table of sizes has one of each. Source: SQLite's documentation of FTS5, 9.
SELECT sessions.id, messages.seq
FROM messages JOIN sessions ON sessions.key = messages.session_key
WHERE
    messages.erased_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM message_index_docsize AS indexed WHERE indexed.id = messages.id)
LIMIT :limit_count;

-- name: count_indexed_nothing
-- Rows of the index without a message.
SELECT count(*) FROM message_index_docsize AS indexed
WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = indexed.id AND messages.erased_at IS NULL);

-- name: merge_search
-- Merges segments of the index where at least four are of one size, up to so many pages.
INSERT INTO message_index (message_index, rank) VALUES ('merge', :pages_count);

-- name: erase_session_words
DELETE FROM message_index WHERE rowid IN (
    SELECT id FROM messages WHERE user_key = :user_key AND session_key = :session_key
);
