-- The JSON of messages, and their extract lines, are packed. The function is ours; see everfold.adapters.sql.packed_messages.

UPDATE messages SET content = pack_message(content), lines = pack_message(lines);
