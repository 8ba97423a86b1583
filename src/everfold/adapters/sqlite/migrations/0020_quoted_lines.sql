-- Extract lines name their quotes by their places in the message's own JSON; certificates and plans are compressed.
-- The functions are ours; see everfold.adapters.sql.quoted_lines and everfold.adapters.sql.packing.

UPDATE messages SET lines = quote_lines(lines, content) WHERE lines IS NOT NULL;
UPDATE compactions SET plan = pack_row(plan), certificate = deflate(certificate);
