-- expand
-- The figures of each day, over all users: the day is its number from 1970-01-01 on, in UTC.
-- What was stored before is counted once, by when it was said; what requests had is not known of that time.
CREATE TABLE activity_days (
    day BIGINT PRIMARY KEY,
    messages_count BIGINT NOT NULL,
    requests_count BIGINT NOT NULL,
    sent_tokens BIGINT NOT NULL,
    sent_cached_tokens BIGINT NOT NULL,
    whole_tokens BIGINT NOT NULL,
    whole_cached_tokens BIGINT NOT NULL,
    compactions_count BIGINT NOT NULL,
    folded_count BIGINT NOT NULL,
    items_count BIGINT NOT NULL,
    calls_count BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_usd DOUBLE PRECISION NOT NULL
);

INSERT INTO activity_days
SELECT day, sum(messages_count), 0, 0, 0, 0, 0, 0, 0, 0, sum(calls_count), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(cost_usd)
FROM (
    SELECT said_at / 86400000000 AS day, count(*) AS messages_count, 0 AS calls_count, 0 AS input_tokens, 0 AS cached_tokens, 0 AS output_tokens, 0.0 AS cost_usd
    FROM messages
    GROUP BY said_at / 86400000000
    UNION ALL
    SELECT started_at / 86400000000, 0, count(*), sum(input_tokens), sum(cached_tokens), sum(output_tokens), coalesce(sum(cost_usd), 0.0)
    FROM model_calls
    GROUP BY started_at / 86400000000
) AS counted
GROUP BY day;
