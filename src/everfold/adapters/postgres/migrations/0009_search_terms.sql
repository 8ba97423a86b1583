-- expand
-- The terms of a search as rows: each a query of words, with how much finding it counts.
CREATE FUNCTION read_terms(terms TEXT, weights TEXT) RETURNS TABLE (term TSQUERY, weight DOUBLE PRECISION)
LANGUAGE sql IMMUTABLE AS $$
    SELECT CAST(given.term AS TSQUERY), given.weight
    FROM unnest(string_to_array(terms, E'\n'), CAST(string_to_array(weights, E'\n') AS DOUBLE PRECISION []))
        AS given (term, weight)
$$;
