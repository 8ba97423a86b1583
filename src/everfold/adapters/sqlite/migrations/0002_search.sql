-- The search index over messages: one row a message, keyed by messages.id, whose text it does not keep.
-- Every word is written with its user's key in front ("17_harbour"), so a question of one user cannot reach the
-- index entries of another, and costs the same however much the others have said. The words come stemmed and folded
-- from the core; the tokenizer only splits them at spaces. "scope" holds "17__a<agent>" and "17__s<session>".
CREATE VIRTUAL TABLE message_index USING fts5 (
    own,
    before,
    scope,
    content = '',
    contentless_delete = 1,
    tokenize = "ascii tokenchars '_'"
);

-- How many rows hold a word, read by one lookup a word.
CREATE VIRTUAL TABLE message_index_words USING fts5vocab (message_index, row);
