"""A watch in the database over work that may not run twice at once: compactions, refreshes and dreams.

Triggers note a compaction, or a lease, that is taken while another has it. Beside them each process notes which refreshes
and dreams it is at, in `at_work`. A note counts while the connection that wrote it is open, so that those of a killed
process are over. Two at once are a violation unless one of them had lost its lease before: it goes on, as it may.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Final

import psycopg

from everfold.core.sources.refreshing import Cause
from everfold.ports.leases import LeaseName, LeaseStore
from everfold.services.compaction import refresh
from everfold.services.compaction.refresh import Refreshed, Refresher
from everfold.services.dreams import dream
from everfold.services.dreams.dream import Dreamer, Reading
from everfold.services.dreams.read_dream import DreamInput
from everfold.services.sessions.hold_lease import hold_lease
from everfold.services.sessions.live import LiveSession

WATCHES: Final = """
CREATE TABLE violations (told TEXT NOT NULL);
CREATE TABLE run_out (holder TEXT NOT NULL);
CREATE TABLE at_work (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    work TEXT NOT NULL,
    about TEXT NOT NULL,
    holder TEXT NOT NULL,
    is_over BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE FUNCTION watch_compaction() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.attempts > OLD.attempts AND OLD.state = 'running' AND OLD.lease_until >= now_micros() THEN
        INSERT INTO violations VALUES (format('compaction %s was claimed twice', NEW.id));
    END IF;
    IF OLD.certificate IS NOT NULL AND NEW.certificate IS DISTINCT FROM OLD.certificate THEN
        INSERT INTO violations VALUES (format('compaction %s was committed twice', NEW.id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER watched AFTER UPDATE ON compactions FOR EACH ROW EXECUTE FUNCTION watch_compaction();
CREATE FUNCTION watch_lease() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.holder <> OLD.holder AND OLD.lease_until >= now_micros() THEN
        INSERT INTO violations VALUES (format('the lease %s of %s was taken twice', NEW.work, NEW.user_key));
    ELSIF NEW.holder <> OLD.holder THEN
        INSERT INTO run_out VALUES (OLD.holder);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER watched AFTER UPDATE ON leases FOR EACH ROW EXECUTE FUNCTION watch_lease();
CREATE FUNCTION begin_work(begun TEXT, of_whom TEXT, holding TEXT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    note BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(begun || of_whom, 0));
    INSERT INTO violations
    SELECT format('%s of %s ran twice at once: as %s and as %s', begun, of_whom, holder, holding) FROM at_work
    WHERE
        work = begun AND about = of_whom AND NOT is_over
        AND EXISTS (SELECT FROM pg_locks WHERE (locktype, classid, objid, objsubid) = ('advisory', 1, at_work.id, 2))
        AND NOT EXISTS (SELECT FROM run_out WHERE run_out.holder IN (at_work.holder, holding));
    INSERT INTO at_work (work, about, holder) VALUES (begun, of_whom, holding) RETURNING id INTO note;
    PERFORM pg_advisory_lock(1, CAST(note AS INTEGER));
    RETURN note;
END $$;
CREATE FUNCTION end_work(note BIGINT) RETURNS VOID LANGUAGE sql AS $$
    UPDATE at_work SET is_over = TRUE WHERE id = note;
    SELECT pg_advisory_unlock(1, CAST(note AS INTEGER));
$$;
"""

HOLDER: ContextVar[str] = ContextVar("HOLDER")
"""The holder of the lease that this task has asked for last."""


class WorkNotes:
    """What one process notes of its work in a watched database. Where that does not serve, nothing is noted."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.AsyncConnection | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def noting(self, work: str, about: str, holder: str) -> AsyncIterator[None]:
        """Within it, this process is at some work."""
        note = await self._ask("SELECT begin_work(%s, %s, %s)", work, about, holder)
        try:
            yield
        finally:
            if note is not None:
                await self._ask("SELECT end_work(%s)", note)

    async def _ask(self, query: str, *values: object) -> object:
        async with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
                row = await (await self._connection.execute(query, values)).fetchone()
            except BaseException as error:  # what was asked may be done: its lock goes with the connection
                await self.close()
                if isinstance(error, psycopg.Error):
                    return None
                raise
        return row and row[0]

    async def close(self) -> None:
        """End every note."""
        if self._connection is not None:
            await self._connection.close()


def note_work(url: str) -> None:
    """Have this process note its refreshes and dreams from now on."""
    notes = WorkNotes(url)
    refresh_unnoted, decide_unnoted = Refresher._refresh, Dreamer._decide_telling

    async def refresh_noted(self: Refresher, live: LiveSession, cause: Cause, deadline_secs: float | None) -> Refreshed:
        async with notes.noting("refresh", f"{live.record.user_id} {live.record.agent_id}", HOLDER.get()):
            return await refresh_unnoted(self, live, cause, deadline_secs)

    async def decide_noted(self: Dreamer, found: DreamInput, reading: Reading) -> dream.Dream | None:
        async with notes.noting("dream", f"{found.scene.user_id} {found.scene.agent_id}", HOLDER.get()):
            return await decide_unnoted(self, found, reading)

    Refresher._refresh = refresh_noted  # type: ignore[method-assign]
    Dreamer._decide_telling = decide_noted  # type: ignore[method-assign]
    refresh.hold_lease = dream.hold_lease = _hold_lease


def _hold_lease(store: LeaseStore, name: LeaseName, *, holder: str, secs: float) -> AbstractAsyncContextManager[bool]:
    HOLDER.set(holder)
    return hold_lease(store, name, holder=holder, secs=secs)


async def tell_parcels(*_: object, **__: object) -> str:
    """A source that has something to say each time."""
    await asyncio.sleep(0.05)
    return "Two parcels came."
