-- expand
-- The ETag of an answer that is kept for a repeat of its write; empty for none.

ALTER TABLE known_requests ADD COLUMN etag TEXT NOT NULL DEFAULT '';
