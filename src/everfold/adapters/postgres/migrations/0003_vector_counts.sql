-- expand
-- How many vectors a user has, whether or not the tables of vectors are there: they are made when an embedder is first used.
CREATE FUNCTION count_user_vectors(whose BIGINT) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF to_regclass('vectors') IS NULL THEN
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM vectors WHERE user_key = whose);
END
$$;
