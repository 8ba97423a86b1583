"""Housekeeping: what SQLite would do within a commit now and then, put off until the answer was given.

Two things take up to a hundred times what a small append takes itself: writing the write-ahead log back into the database,
and merging the segments of the search index, to which every transaction adds one. Left to SQLite they come within the
commit that passes a mark, about every fiftieth append. Here the thread that writes does them when nothing has been asked
for a moment, as between two turns of a talk; where they have piled up, a step of them behind each job.

What is left undone (a reader needs the log, another process writes) is due again with later commits. Nothing depends on it
but speed: a log that is never written back only grows, and an index that is never merged is merged by SQLite once 16
segments meet.

Source: SQLite's documentation of `wal_hook`, of `PRAGMA wal_checkpoint` and of FTS5's `automerge`, `crisismerge` and `merge`;
docs/adr/0027.
"""

from contextlib import suppress

import apsw

from everfold.adapters.sqlite.connection import Database

CHECKPOINT_PAGES = 1000
"""How long the log gets before it is written back. Source: SQLite's own default, `PRAGMA wal_autocheckpoint`."""
MERGE_PAGES = 256
"""After so many committed pages the index is merged: a dozen small appends."""
PILED_UP = 4
"""So many times these marks are not waited out."""
MERGED_SHARE = 2
"""How many pages of the index are merged at most for each page that was committed.

A word is merged once for each level of the index, of which a long log has four or five, and the index is about a third of
what is committed.
"""
STEP_PAGES = 128
"""What is merged in one transaction: ten milliseconds, which is what a job waits that comes meanwhile."""
_NO_MERGE = 2
"""A merge that changes fewer rows than these found nothing to merge. Source: FTS5's documentation of `merge`."""


class Housekeeping:
    """The work that the commits of one connection leave behind. Made once, it takes note of each of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._log_pages = 0
        self._unwritten_pages = 0  # how long the log is, or 0 until the next commit once it was tried to write it back
        self._new_pages = 0
        self._owed_pages = 0
        database.connection.set_wal_hook(self._note_commit)

    def _note_commit(self, _connection: apsw.Connection, _name: str, log_pages: int) -> int:
        grown = log_pages - self._log_pages
        self._new_pages += grown if grown > 0 else log_pages  # else the log has begun anew
        self._log_pages = self._unwritten_pages = log_pages
        return apsw.SQLITE_OK

    @property
    def is_due(self) -> bool:
        """Whether there is anything to do."""
        return self._owed_pages > 0 or self._new_pages >= MERGE_PAGES or self._unwritten_pages >= CHECKPOINT_PAGES

    @property
    def has_piled_up(self) -> bool:
        """Whether some of it is to be done now. What is owed counts: else a program without a pause would never pay it."""
        waiting_pages = self._owed_pages + MERGED_SHARE * self._new_pages
        most_pages = MERGED_SHARE * MERGE_PAGES
        return waiting_pages >= PILED_UP * most_pages or self._unwritten_pages >= PILED_UP * CHECKPOINT_PAGES

    def do_step(self) -> None:
        """Do a step of what is due, as far as no other process holds the file; no transaction may be open."""
        if self._unwritten_pages >= CHECKPOINT_PAGES:
            self._unwritten_pages = 0
            with suppress(apsw.Error):  # as SQLite's own: the data is safe in the log
                self._database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            return
        if self._new_pages >= MERGE_PAGES:
            self._owed_pages += MERGED_SHARE * self._new_pages
        new_pages = 0 if self._new_pages >= MERGE_PAGES else self._new_pages
        self._owed_pages = self._merge()
        self._new_pages = new_pages  # what the merge itself has committed makes nothing due

    def _merge(self) -> int:
        """Merge a little, and give how much is owed still."""
        database, has_merged = self._database, False
        with suppress(apsw.Error):  # all of it: what is raised here would end the thread that writes
            before_count = database.connection.total_changes()
            with database.impatient(), database.transaction():
                database.run("merge_search", pages_count=min(self._owed_pages, STEP_PAGES))
            has_merged = database.connection.total_changes() - before_count >= _NO_MERGE
        return max(self._owed_pages - STEP_PAGES, 0) if has_merged else 0
