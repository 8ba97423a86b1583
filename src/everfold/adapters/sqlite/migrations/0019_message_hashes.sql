-- Messages by what they say: a program that has no ids of its own finds what it has appended by its hash.
-- Six bytes of it find one message of millions, and leave the index small.

CREATE INDEX messages_hash ON messages (session_key, substr(content_hash, 1, 6)) WHERE content_hash IS NOT NULL;
