-- expand
-- The vectors near one, as before, but where the index of a user gives fewer candidates than asked for, all that is shown at
-- that place are read instead, as without an index. pgvector ends the scan of an index after `hnsw.max_scan_tuples` (20,000):
-- of an agent with few vectors, or with none near the question, it had none or few among the nearest ones of other agents.
-- To count what is shown at a place beforehand would cost every search, and would not help an agent with many vectors that
-- are all farther away. So a search costs at most one scan of the index, and one of what is shown.
CREATE OR REPLACE FUNCTION find_near_vectors(
    whose BIGINT, space BIGINT, shown_place BIGINT, kinds TEXT, written TEXT, candidates_count BIGINT, wanted_count BIGINT
) RETURNS TABLE (kind TEXT, owner_key BIGINT, similarity DOUBLE PRECISION) LANGUAGE plpgsql AS $function$
DECLARE
    asked_kinds TEXT[] := ARRAY(SELECT json_array_elements_text(CAST(kinds AS JSON)));
    size BIGINT := (SELECT dimensions FROM vector_spaces WHERE key = space);
    indexed REGCLASS := to_regclass(format('vectors_near_%s_%s', whose, space));
    sorts TEXT := current_setting('enable_sort');
    candidates BIGINT[] := '{}';
    nearest CONSTANT TEXT := $query$
        SELECT ARRAY(
            SELECT key
            FROM vectors
            WHERE
                user_key = %1$s AND space_key = %2$s AND kind = ANY ($2)
                AND (CAST($3 AS BIGINT) IS NULL OR place IN (0, $3))
            ORDER BY %3$s <=> CAST($1 AS HALFVEC(%4$s))
            LIMIT $4
        )
        $query$;
BEGIN
    IF 'message' = ANY (asked_kinds) AND EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = indexed AND indisvalid) THEN
        candidates_count := least(candidates_count, greatest(200, 4 * wanted_count));
        PERFORM
            set_config('hnsw.ef_search', CAST(least(candidates_count, 1000) AS TEXT), TRUE),
            set_config('hnsw.iterative_scan', 'relaxed_order', TRUE),
            set_config('enable_sort', 'off', TRUE);
        EXECUTE format(nearest, whose, space, format('CAST(half AS HALFVEC(%s))', size), size)
        INTO candidates USING written, asked_kinds, shown_place, candidates_count;
        PERFORM set_config('enable_sort', sorts, TRUE);
    END IF;
    IF cardinality(candidates) < candidates_count THEN
        EXECUTE format(nearest, whose, space, 'half', size)
        INTO candidates USING written, asked_kinds, shown_place, candidates_count;
    END IF;
    RETURN QUERY EXECUTE format(
        $query$
        SELECT kind, owner_key, 1 - (vector <=> CAST($1 AS VECTOR)) AS similarity
        FROM vectors
        WHERE user_key = %s AND key = ANY ($2)
        ORDER BY similarity DESC, key
        LIMIT $3
        $query$, whose
    ) USING written, candidates, wanted_count;
END
$function$;
