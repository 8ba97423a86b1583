-- expand
-- Keys are drawn in another order than they are committed in: a list that goes on behind a key would pass over a row that is
-- committed late. So a statement that inserts into a listed table holds a shared lock, until its transaction ends, under the
-- last key that was drawn before it: its own keys come behind that. A list reads only as far as the lowest lock.
-- The upper 16 bits of a lock are `EV` and the table's number, the lower 48 the key: other programs lock in the same database.
CREATE FUNCTION number_listed(listed TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS
    'SELECT 17750 + array_position(ARRAY[''sessions'', ''users'', ''model_calls'', ''api_keys''], listed)';

CREATE FUNCTION find_drawn_key(listed TEXT) RETURNS BIGINT LANGUAGE sql VOLATILE AS
    'SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence(listed, ''key'') AS REGCLASS)), 0)';

CREATE FUNCTION hold_keys() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared((number_listed(TG_TABLE_NAME) << 48) + find_drawn_key(TG_TABLE_NAME));
    RETURN NULL;
END
$$;

-- The drawn key is read before the locks: a transaction that has none by then draws higher ones. Rows are to be read by a later
-- statement, which sees what has been committed by now.
CREATE FUNCTION find_settled_key(listed TEXT) RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    drawn_key BIGINT := find_drawn_key(listed);
BEGIN
    RETURN least(drawn_key, (
        SELECT min(((CAST(classid AS BIGINT) & 65535) << 32) + CAST(objid AS BIGINT))
        FROM pg_locks
        WHERE
            locktype = 'advisory' AND objsubid = 1 AND CAST(classid AS BIGINT) >> 16 = number_listed(listed)
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ));
END
$$;

CREATE TRIGGER sessions_listed BEFORE INSERT ON sessions FOR EACH STATEMENT EXECUTE FUNCTION hold_keys();
CREATE TRIGGER users_listed BEFORE INSERT ON users FOR EACH STATEMENT EXECUTE FUNCTION hold_keys();
CREATE TRIGGER model_calls_listed BEFORE INSERT ON model_calls FOR EACH STATEMENT EXECUTE FUNCTION hold_keys();
CREATE TRIGGER api_keys_listed BEFORE INSERT ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION hold_keys();
