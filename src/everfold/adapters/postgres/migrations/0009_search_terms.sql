-- expand
-- The terms of a search as rows: each a query of words, with how much finding it counts.
CREATE FUNCTION read_terms(terms TEXT, weights TEXT) RETURNS TABLE (term TSQUERY, weight DOUBLE PRECISION)
LANGUAGE sql IMMUTABLE AS $$
    SELECT CAST(given.term AS TSQUERY), given.weight
    FROM unnest(string_to_array(terms, E'\n'), CAST(string_to_array(weights, E'\n') AS DOUBLE PRECISION []))
        AS given (term, weight)
$$;

-- Every search reads what waits to be sorted into an index of words, and an append now and then sorts it in: 4 MB, as the server
-- has it, are a millisecond for each word of a query, and a stall. Tables that were partitioned keep what they have.
DO $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = CAST('message_words_words' AS REGCLASS)) = 'i' THEN
        ALTER INDEX message_words_words SET (gin_pending_list_limit = 256);
    END IF;
    IF (SELECT relkind FROM pg_class WHERE oid = CAST('item_words_words' AS REGCLASS)) = 'i' THEN
        ALTER INDEX item_words_words SET (gin_pending_list_limit = 256);
    END IF;
END
$$;
