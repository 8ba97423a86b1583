-- expand
-- The vectors of a user that are near one: the nearest candidates by halved floats, of them the nearest by their floats.
-- Of a user with very many vectors the candidates come from an index of that user and space, where messages are asked for too:
-- what else there is, is little, and read whole. The text is made with the user, the space and the size in it, since a partial
-- index serves only a statement that names them. The tables of vectors are made when an embedder is first used.
CREATE FUNCTION find_near_vectors(
    whose BIGINT, space BIGINT, shown_place BIGINT, kinds TEXT, written TEXT, candidates_count BIGINT, wanted_count BIGINT
) RETURNS TABLE (kind TEXT, owner_key BIGINT, similarity DOUBLE PRECISION) LANGUAGE plpgsql AS $function$
DECLARE
    asked_kinds TEXT[] := ARRAY(SELECT json_array_elements_text(CAST(kinds AS JSON)));
    size BIGINT := (SELECT dimensions FROM vector_spaces WHERE key = space);
    indexed REGCLASS := to_regclass(format('vectors_near_%s_%s', whose, space));
    half TEXT := 'half';
    sorts TEXT := current_setting('enable_sort');
BEGIN
    IF 'message' = ANY (asked_kinds) AND EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = indexed AND indisvalid) THEN
        half := format('CAST(half AS HALFVEC(%s))', size);
        candidates_count := least(candidates_count, greatest(200, 4 * wanted_count));
        PERFORM
            set_config('hnsw.ef_search', CAST(least(candidates_count, 1000) AS TEXT), TRUE),
            set_config('hnsw.iterative_scan', 'relaxed_order', TRUE),
            set_config('enable_sort', 'off', TRUE);
    END IF;
    RETURN QUERY EXECUTE format(
        $query$
        SELECT vectors.kind, vectors.owner_key, 1 - (vectors.vector <=> CAST($1 AS VECTOR)) AS similarity
        FROM (
            SELECT key
            FROM vectors
            WHERE
                user_key = %1$s AND space_key = %2$s AND kind = ANY ($2)
                AND (CAST($3 AS BIGINT) IS NULL OR place IN (0, $3))
            ORDER BY %3$s <=> CAST($1 AS HALFVEC(%4$s))
            LIMIT $4
        ) AS candidate
        JOIN vectors ON vectors.user_key = %1$s AND vectors.key = candidate.key
        ORDER BY similarity DESC, vectors.key
        LIMIT $5
        $query$, whose, space, half, size
    ) USING written, asked_kinds, shown_place, candidates_count, wanted_count;
    PERFORM set_config('enable_sort', sorts, TRUE);
END
$function$;
