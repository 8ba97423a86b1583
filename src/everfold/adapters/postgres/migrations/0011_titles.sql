-- expand
-- Titles of sessions, as an export or a person gave them; the empty one where a session has none. The folded title is for
-- searches: `everfold.core.access.users.fold_name` of the title.

ALTER TABLE sessions ADD COLUMN title TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE sessions ADD COLUMN folded_title TEXT COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX sessions_titled ON sessions (user_key, agent_key, folded_title) WHERE folded_title <> '';
