-- Work: what of an event is still to be done, what it has so far, and what it revises.
-- A draft is JSON.

ALTER TABLE events ADD COLUMN digest TEXT NOT NULL DEFAULT 'off';
ALTER TABLE events ADD COLUMN extraction TEXT NOT NULL DEFAULT 'off';
ALTER TABLE events ADD COLUMN problem TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN revises TEXT;
ALTER TABLE events ADD COLUMN draft BLOB;
