-- The search index is merged behind the appends, not within them.
INSERT INTO message_index (message_index, rank) VALUES ('automerge', 0);
