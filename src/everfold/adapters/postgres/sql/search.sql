-- Every word has its user's key in front, so that a search in the index of words finds rows of one user only. It stands behind
-- an OFFSET 0, which PostgreSQL's planner does not look through: beside a condition on the owner it would take the owner's
-- index, and read all rows of a user who has 100,000 of them for each word.

-- name: insert_message
-- A message with its words, in one round trip. Words beyond the first 200,000 characters, and those of more than 2,046
-- bytes, are left out: an index takes no more.
WITH message AS (
    INSERT INTO messages (
        user_key, session_key, seq, kind, origin, source, format, role, speaker, said_at, client_id, tokens, raw_tokens,
        sum_tokens, turn_seq, turns_count, is_boundary, keep, content_hash, calls, cuts, lines, content
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    RETURNING id, user_key
), given AS (
    SELECT id, user_key, left(?, 200000) AS own, left(?, 50000) AS before, CAST(? AS TEXT) AS scope FROM message
)
INSERT INTO message_words (message_id, user_key, words_count, own, before, words)
SELECT
    id, user_key, cardinality(string_to_array(own, ' ')) + cardinality(string_to_array(before, ' ')), own, before,
    array_to_tsvector(
        ARRAY(
            SELECT DISTINCT word FROM unnest(string_to_array(concat_ws(' ', own, before, scope), ' ')) AS word
            WHERE octet_length(word) BETWEEN 1 AND 2046
        )
    )
FROM given;

-- name: replace_search_row
WITH given AS (
    SELECT
        CAST(:message_id AS BIGINT) AS message_id, left(:own, 200000) AS own, left(:before, 50000) AS before,
        CAST(:scope AS TEXT) AS scope
)
INSERT INTO message_words (message_id, user_key, words_count, own, before, words)
SELECT
    message_id, CAST(split_part(scope, '_', 1) AS BIGINT),
    cardinality(string_to_array(own, ' ')) + cardinality(string_to_array(before, ' ')), own, before,
    array_to_tsvector(
        ARRAY(
            SELECT DISTINCT word FROM unnest(string_to_array(concat_ws(' ', own, before, scope), ' ')) AS word
            WHERE octet_length(word) BETWEEN 1 AND 2046
        )
    )
FROM given
ON CONFLICT (user_key, message_id) DO UPDATE
SET words_count = excluded.words_count, own = excluded.own, before = excluded.before, words = excluded.words;

-- name: delete_search_row
DELETE FROM message_words WHERE user_key = :user_key AND message_id = :message_id;

-- name: erase_session_words
DELETE FROM message_words WHERE user_key = :user_key AND message_id IN (
    SELECT id FROM messages WHERE user_key = :user_key AND session_key = :session_key
);

-- name: search_messages
-- Messages that hold any of :terms, those that hold the rarest of them and of :others first: as many as the core ranks. Each
-- term is looked up by itself, so that what is read grows with what the terms find; only the best are looked at whole. The words
-- of a long message lie outside of its row: `strip` has them read once for all :others, not once for each.
WITH others AS MATERIALIZED (SELECT term, weight FROM read_terms(:others, :other_weights)),
best AS MATERIALIZED (
    SELECT found.message_id
    FROM read_terms(:terms, :weights) AS asked
    CROSS JOIN LATERAL (
        SELECT user_key, message_id, (SELECT coalesce(sum(weight), 0) FROM others WHERE held.words @@ others.term) AS others_weight
        FROM (
            SELECT user_key, message_id, CASE WHEN EXISTS (SELECT 1 FROM others) THEN strip(words) END AS words
            FROM message_words
            WHERE words @@ asked.term
            OFFSET 0
        ) AS held
        OFFSET 0
    ) AS found
    WHERE found.user_key = :user_key
    GROUP BY found.message_id
    ORDER BY sum(asked.weight) + max(found.others_weight) DESC, found.message_id DESC
    LIMIT :candidate_count
)
SELECT
    messages.id, message_words.own, message_words.before, sessions.agent_key, sessions.id, messages.seq, messages.role,
    messages.speaker, messages.raw_tokens
FROM best
CROSS JOIN LATERAL (
    SELECT own, before FROM message_words WHERE user_key = :user_key AND message_id = best.message_id LIMIT 1
) AS message_words
CROSS JOIN LATERAL (
    SELECT id, session_key, seq, role, speaker, raw_tokens FROM messages
    WHERE user_key = :user_key AND id = best.message_id
    LIMIT 1
) AS messages
JOIN sessions ON sessions.user_key = :user_key AND sessions.key = messages.session_key;

-- name: search_some_messages
-- The same among the messages in :roles (a JSON array) that were said from :since_at on and before :until_at.
WITH others AS MATERIALIZED (SELECT term, weight FROM read_terms(:others, :other_weights)),
best AS MATERIALIZED (
    SELECT found.message_id
    FROM read_terms(:terms, :weights) AS asked
    CROSS JOIN LATERAL (
        SELECT user_key, message_id, (SELECT coalesce(sum(weight), 0) FROM others WHERE held.words @@ others.term) AS others_weight
        FROM (
            SELECT user_key, message_id, CASE WHEN EXISTS (SELECT 1 FROM others) THEN strip(words) END AS words
            FROM message_words
            WHERE words @@ asked.term
            OFFSET 0
        ) AS held
        OFFSET 0
    ) AS found
    CROSS JOIN LATERAL (SELECT said_at, role FROM messages WHERE user_key = :user_key AND id = found.message_id LIMIT 1) AS messages
    WHERE
        found.user_key = :user_key
        AND messages.said_at >= :since_at
        AND messages.said_at < :until_at
        AND messages.role IN (SELECT json_array_elements_text(CAST(:roles AS JSON)))
    GROUP BY found.message_id
    ORDER BY sum(asked.weight) + max(found.others_weight) DESC, found.message_id DESC
    LIMIT :candidate_count
)
SELECT
    messages.id, message_words.own, message_words.before, sessions.agent_key, sessions.id, messages.seq, messages.role,
    messages.speaker, messages.raw_tokens
FROM best
CROSS JOIN LATERAL (
    SELECT own, before FROM message_words WHERE user_key = :user_key AND message_id = best.message_id LIMIT 1
) AS message_words
CROSS JOIN LATERAL (
    SELECT id, session_key, seq, role, speaker, raw_tokens FROM messages
    WHERE user_key = :user_key AND id = best.message_id
    LIMIT 1
) AS messages
JOIN sessions ON sessions.user_key = :user_key AND sessions.key = messages.session_key;

-- name: find_holding
-- The newest messages of :user_keys that hold every word of the user's line of :terms, and are like each of the patterns in
-- their line of :patterns. Each user's are looked up by themselves.
WITH asked AS MATERIALIZED (
    SELECT given.user_key, CAST(given.term AS TSQUERY) AS term, string_to_array(given.patterns, E'\t') AS patterns
    FROM unnest(
        CAST(string_to_array(:user_keys, E'\n') AS BIGINT []), string_to_array(:terms, E'\n'), string_to_array(:patterns, E'\n')
    ) AS given (user_key, term, patterns)
)
SELECT users.id, sessions.id, messages.seq
FROM asked
CROSS JOIN LATERAL (SELECT user_key, message_id, own FROM message_words WHERE words @@ asked.term OFFSET 0) AS found
CROSS JOIN LATERAL (
    SELECT id, session_key, seq, role, said_at FROM messages
    WHERE user_key = asked.user_key AND id = found.message_id
    LIMIT 1
) AS messages
JOIN sessions ON sessions.user_key = asked.user_key AND sessions.key = messages.session_key
JOIN users ON users.key = asked.user_key
WHERE
    found.user_key = asked.user_key
    AND ' ' || found.own || ' ' LIKE ALL (asked.patterns)
    AND messages.said_at >= :since_at
    AND messages.said_at < :until_at
    AND messages.role IN (SELECT json_array_elements_text(CAST(:roles AS JSON)))
ORDER BY messages.id DESC
LIMIT :limit_count;

-- name: insert_item_words
INSERT INTO item_words (item_key, user_key, words_count, own, words)
SELECT
    :item_key, CAST(split_part(:scope, '_', 1) AS BIGINT), cardinality(string_to_array(left(:own, 200000), ' ')),
    left(:own, 200000),
    array_to_tsvector(
        ARRAY(
            SELECT DISTINCT word FROM unnest(string_to_array(concat_ws(' ', left(:own, 200000), CAST(:scope AS TEXT)), ' ')) AS word
            WHERE octet_length(word) BETWEEN 1 AND 2046
        )
    );

-- name: delete_item_words
DELETE FROM item_words WHERE user_key = :user_key AND item_key = :item_key;

-- name: find_newest_items
SELECT items.content
FROM (SELECT user_key, item_key FROM item_words WHERE words @@ CAST(:match AS TSQUERY) OFFSET 0) AS found
CROSS JOIN LATERAL (SELECT key, content FROM items WHERE user_key = :user_key AND key = found.item_key LIMIT 1) AS items
WHERE found.user_key = :user_key
ORDER BY items.key DESC
LIMIT :limit_count;

-- name: search_items
WITH best AS MATERIALIZED (
    SELECT found.item_key
    FROM read_terms(:terms, :weights) AS asked
    CROSS JOIN LATERAL (SELECT user_key, item_key FROM item_words WHERE words @@ asked.term OFFSET 0) AS found
    WHERE found.user_key = :user_key
    GROUP BY found.item_key
    ORDER BY sum(asked.weight) DESC, found.item_key DESC
    LIMIT :candidate_count
)
SELECT items.key, item_words.own, items.content
FROM best
CROSS JOIN LATERAL (SELECT own FROM item_words WHERE user_key = :user_key AND item_key = best.item_key LIMIT 1) AS item_words
CROSS JOIN LATERAL (SELECT key, content FROM items WHERE user_key = :user_key AND key = best.item_key LIMIT 1) AS items;

-- name: wipe_item_words
DELETE FROM item_words WHERE user_key = :user_key;

-- name: find_unindexed
SELECT sessions.id, messages.seq
FROM messages JOIN sessions ON sessions.user_key = messages.user_key AND sessions.key = messages.session_key
WHERE
    messages.erased_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM message_words WHERE message_words.user_key = messages.user_key AND message_words.message_id = messages.id)
LIMIT :limit_count;

-- name: count_message_terms
-- About how many messages and words a user has; then how many messages hold each of :terms, in their order. Every term has
-- the user's key in front. Each message counted is a look at the table: in a log of more than :most_count, some that are spread
-- over all of it are looked at before, and a term of which they let expect as many is not counted but estimated from them. How many
-- messages there are is known from their newest numbers, and how long from the first.
WITH sample AS MATERIALIZED (
    SELECT strip(picked.words) AS words
    FROM (SELECT min(message_id) AS first, max(message_id) AS last FROM message_words WHERE user_key = :user_key) AS ends
    CROSS JOIN generate_series(first, last, greatest((last - first) / 300, 1)) AS point
    CROSS JOIN LATERAL (
        SELECT words FROM message_words
        WHERE user_key = :user_key AND message_id >= point
        ORDER BY message_id
        LIMIT 1
    ) AS picked
),
lengths AS MATERIALIZED (
    SELECT count(*) AS seen_count, coalesce(sum(words_count), 0) AS seen_words
    FROM (SELECT words_count FROM message_words WHERE user_key = :user_key LIMIT 1000) AS seen
),
size AS MATERIALIZED (
    SELECT seen_count, seen_words, CASE WHEN seen_count < 1000 THEN seen_count ELSE (
        SELECT CAST(sum((
            SELECT max(seq) FROM messages
            WHERE messages.user_key = sessions.user_key AND session_key = sessions.key
        ) - branch_seq) AS BIGINT)
        FROM sessions WHERE sessions.user_key = :user_key
    ) END AS documents_count
    FROM lengths
),
asked AS MATERIALIZED (
    SELECT
        given.place, CAST(given.term AS TSQUERY) AS term, CASE WHEN size.documents_count <= :most_count THEN 0 ELSE (
            SELECT CAST(avg(CAST(words @@ CAST(given.term AS TSQUERY) AS INTEGER)) * size.documents_count AS BIGINT) FROM sample
        ) END AS estimate
    FROM size
    CROSS JOIN unnest(string_to_array(:terms, E'\n')) WITH ORDINALITY AS given (term, place)
)
SELECT documents_count, words_count
FROM (
    SELECT
        CAST(0 AS BIGINT) AS place, documents_count,
        CAST(seen_words * documents_count / greatest(seen_count, 1) AS BIGINT) AS words_count
    FROM size
    UNION ALL
    SELECT
        asked.place,
        CASE WHEN counted.entries_count BETWEEN 1 AND :most_count - 1 THEN counted.entries_count ELSE greatest(
            counted.entries_count, asked.estimate
        ) END,
        CAST(0 AS BIGINT)
    FROM asked
    CROSS JOIN LATERAL (
        SELECT count(*) AS entries_count
        FROM (
            SELECT user_key FROM message_words
            WHERE words @@ asked.term AND asked.estimate < :most_count
            LIMIT CAST(:most_count AS BIGINT)
        ) AS found
        WHERE user_key = :user_key
    ) AS counted
) AS told
ORDER BY place;

-- name: count_item_terms
-- How many items and words a user has; then how many items hold each of :terms, in their order. Every term has the
-- user's key in front. Without a limit: for one the planner reads a small table from its beginning, whatever it finds.
SELECT documents_count, words_count
FROM (
    SELECT
        CAST(0 AS BIGINT) AS place, count(*) AS documents_count,
        CAST(coalesce(sum(words_count), 0) AS BIGINT) AS words_count
    FROM item_words
    WHERE user_key = :user_key
    UNION ALL
    SELECT
        asked.place, (
            SELECT count(*)
            FROM (SELECT user_key FROM item_words WHERE words @@ CAST(asked.term AS TSQUERY) OFFSET 0) AS found
            WHERE user_key = :user_key
        ), CAST(0 AS BIGINT)
    FROM unnest(string_to_array(:terms, E'\n')) WITH ORDINALITY AS asked (term, place)
) AS counted
ORDER BY place;
