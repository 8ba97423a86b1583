-- name: add_activity
INSERT INTO activity_days (
    day, messages_count, requests_count, sent_tokens, sent_cached_tokens, whole_tokens, whole_cached_tokens,
    compactions_count, folded_count, items_count, calls_count, input_tokens, cached_tokens, output_tokens, cost_usd
)
VALUES (
    :day, :messages_count, :requests_count, :sent_tokens, :sent_cached_tokens, :whole_tokens, :whole_cached_tokens,
    :compactions_count, :folded_count, :items_count, :calls_count, :input_tokens, :cached_tokens, :output_tokens, :cost_usd
)
ON CONFLICT (day) DO UPDATE SET
    messages_count = activity_days.messages_count + excluded.messages_count,
    requests_count = activity_days.requests_count + excluded.requests_count,
    sent_tokens = activity_days.sent_tokens + excluded.sent_tokens,
    sent_cached_tokens = activity_days.sent_cached_tokens + excluded.sent_cached_tokens,
    whole_tokens = activity_days.whole_tokens + excluded.whole_tokens,
    whole_cached_tokens = activity_days.whole_cached_tokens + excluded.whole_cached_tokens,
    compactions_count = activity_days.compactions_count + excluded.compactions_count,
    folded_count = activity_days.folded_count + excluded.folded_count,
    items_count = activity_days.items_count + excluded.items_count,
    calls_count = activity_days.calls_count + excluded.calls_count,
    input_tokens = activity_days.input_tokens + excluded.input_tokens,
    cached_tokens = activity_days.cached_tokens + excluded.cached_tokens,
    output_tokens = activity_days.output_tokens + excluded.output_tokens,
    cost_usd = activity_days.cost_usd + excluded.cost_usd;

-- name: list_activity
SELECT
    day, messages_count, requests_count, sent_tokens, sent_cached_tokens, whole_tokens, whole_cached_tokens,
    compactions_count, folded_count, items_count, calls_count, input_tokens, cached_tokens, output_tokens, cost_usd
FROM activity_days
WHERE day >= :since
ORDER BY day;

-- name: sum_activity
-- One row a day: a few thousand after ten years.
SELECT
    CAST(coalesce(sum(messages_count), 0) AS BIGINT), CAST(coalesce(sum(requests_count), 0) AS BIGINT),
    CAST(coalesce(sum(sent_tokens), 0) AS BIGINT), CAST(coalesce(sum(sent_cached_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(whole_tokens), 0) AS BIGINT), CAST(coalesce(sum(whole_cached_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(compactions_count), 0) AS BIGINT), CAST(coalesce(sum(folded_count), 0) AS BIGINT),
    CAST(coalesce(sum(items_count), 0) AS BIGINT), CAST(coalesce(sum(calls_count), 0) AS BIGINT),
    CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(cached_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(output_tokens), 0) AS BIGINT), coalesce(sum(cost_usd), 0.0)
FROM activity_days;
