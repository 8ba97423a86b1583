-- name: insert_message
-- With the JSON packed.
INSERT INTO messages (
    user_key, session_key, seq, kind, origin, source, format, role, speaker, said_at, client_id, tokens, raw_tokens,
    sum_tokens, turn_seq, turns_count, is_boundary, keep, content_hash, calls, cuts, lines, content
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, pack_message(?), pack_message(?));
