"""Writes with an idempotency key beside an erase: what they were answered with may quote what the erase removes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from threading import Event
from typing import Final

import psycopg
import pytest
from tests.support.waiting import until

from everfold.adapters.postgres.words import PostgresWords
from everfold.adapters.sqlite.words import SqliteWords
from everfold.bootstrap import open_store
from everfold.core.access.repeats import KeptAnswer, KnownRequest
from everfold.core.memory.records import MemoryChange
from everfold.core.primitives.ids import SessionId
from everfold.ports.stores import Store
from everfold.testing.contract.access import ANSWER, begin, request
from everfold.testing.kit.builders import (
    ADA,
    GUIDE,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    user,
)
from everfold.testing.kit.memory_builders import audit

SESSION: Final = SessionId("ses_1")
SECRET: Final = b"4711"


async def erase_message(store: Store) -> None:
    """Of the one message of the session."""
    await store.erase_message(await plan_bare_erasure(store, SESSION, 1), erased_at=minute(5))


async def erase_session(store: Store) -> None:
    """The whole of it."""
    version = await store.read_memory_version(ADA)
    change = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=version, has_erased=True)
    await store.erase_sessions([SESSION], change)


async def wipe_user(store: Store) -> None:
    """With the session."""
    await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))


ERASES: Final = (erase_message, erase_session, wipe_user)


@dataclass(frozen=True, slots=True)
class Writer:
    """A server that answers each write with what it reads in the session."""

    store: Store

    async def read(self) -> bytes:
        """What a window would quote; nothing where there is no session."""
        sessions = await self.store.list_sessions(user_id=ADA, agent_id=None, after=None, limit_count=9)
        found = [await self.store.read_contents(one.id, 1, 1) for one in sessions]
        return b"".join(content.content for contents in found for content in contents)

    async def write(self, name: str) -> bytes:
        """One write from its beginning to its end: its answer."""
        assert await begin(self.store, request(name)) is None
        body = await self.read()
        await self.finish(name, body)
        return body

    async def finish(self, name: str, body: bytes) -> None:
        """The end of a write."""
        await self.store.finish_request(request(name), replace(ANSWER, body=body))

    async def repeat(self, name: str) -> KeptAnswer | None:
        """What its repeat is answered with."""
        known: KnownRequest | None = await begin(self.store, request(name, at=1))
        assert known is not None
        return known.answer


@asynccontextmanager
async def opened_twice(url: str) -> AsyncIterator[tuple[Store, Writer]]:
    """One store, as two servers have it open: who erases, and who writes. A session says what will be erased."""
    one, other = await open_store(url), await open_store(url)
    try:
        await open_session(one, session_record(SESSION), user(f"The gate code is {SECRET.decode()}."))
        yield one, Writer(other)
    finally:
        await one.close()
        await other.close()


@asynccontextmanager
async def halted(monkeypatch: pytest.MonkeyPatch, erase: Awaitable[None]) -> AsyncIterator[None]:
    """Within it an erase has removed all that it removes and is not committed; behind it the erase is done."""
    reached, goes_on = Event(), Event()

    def halt(_: object) -> None:
        reached.set()
        goes_on.wait(timeout=60)

    with monkeypatch.context() as patch:
        for kind in (PostgresWords, SqliteWords):
            patch.setattr(kind, "merge_messages", halt)
        erasing = asyncio.ensure_future(erase)
        try:
            await until(lambda: reached.is_set() or erasing.done())
            yield
        finally:
            goes_on.set()
            await erasing


async def list_quoting(writer: Writer, *names: str) -> list[str]:
    """Which of some writes, all of which have ended, are answered again with what was erased."""
    answers = {name: await writer.repeat(name) for name in names}
    assert all(answer is not None and answer.status == ANSWER.status for answer in answers.values())
    return [name for name, answer in answers.items() if answer is not None and SECRET in (answer.body or b"")]


@pytest.mark.parametrize("erase", ERASES)
async def test_no_answer_quotes_what_was_erased(
    database_url: str, monkeypatch: pytest.MonkeyPatch, erase: Callable[[Store], Awaitable[None]]
) -> None:
    """A write keeps no answer that quotes it, whether it begins before an erase or beside it, and whenever it ends.

    All of them go on while the erase is open, and read what it has not removed for them yet.
    """
    async with opened_twice(database_url) as (store, writer):
        assert SECRET in await writer.write("ended before")
        for name in ("from before to beside", "from before to after"):
            await begin(writer.store, request(name))
        read = await writer.read()
        async with halted(monkeypatch, erase(store)):
            assert SECRET in await writer.write("beside")
            await writer.finish("from before to beside", read)
            await begin(writer.store, request("from beside to after"))
            assert await writer.read() == read
        for name in ("from before to after", "from beside to after"):
            await writer.finish(name, read)
        begun = ("from before to beside", "from before to after", "from beside to after")
        assert await list_quoting(writer, "ended before", "beside", *begun) == []


@pytest.mark.parametrize("erase", ERASES)
async def test_no_answer_quotes_what_was_erased_from_a_file(
    file_url: str, monkeypatch: pytest.MonkeyPatch, erase: Callable[[Store], Awaitable[None]]
) -> None:
    """The same holds where a write that begins beside an erase waits for the one writer's place."""
    async with opened_twice(file_url) as (store, writer):
        assert SECRET in await writer.write("ended before")
        await begin(writer.store, request("from before to after"))
        read = await writer.read()
        async with halted(monkeypatch, erase(store)):
            assert await writer.read() == read
            beside = asyncio.create_task(writer.write("beside"))
            await asyncio.sleep(0)
        assert SECRET not in await beside
        await writer.finish("from before to after", read)
        assert await list_quoting(writer, "ended before", "from before to after", "beside") == []


WAITING: Final = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
HOLD: Final = "SELECT key FROM known_requests WHERE idempotency_key = 'open' FOR UPDATE"


async def test_a_write_never_begins_between_an_erase_and_its_commit(database_url: str) -> None:
    """One that begins when the answers are being taken reads only what the erase has left, and its answer is kept."""
    async with opened_twice(database_url) as (store, writer):
        await begin(writer.store, request("open"))
        with psycopg.connect(database_url) as holding, psycopg.connect(database_url, autocommit=True) as looking:

            def count_waiting() -> int:
                return int(looking.execute(WAITING).fetchall()[0][0])

            holding.execute(HOLD)
            erasing = asyncio.create_task(erase_message(store))
            await until(lambda: erasing.done() or count_waiting() == 1)
            writing = asyncio.create_task(writer.write("late"))
            await until(lambda: writing.done() or count_waiting() == 2)
            holding.rollback()
            await asyncio.gather(erasing, writing)
        assert SECRET not in await writing
        assert await writer.repeat("late") == replace(ANSWER, body=await writing)


async def test_a_write_waits_for_no_old_place(database_url: str) -> None:
    """A write begins while another transaction removes a place that is too old, and leaves the place to it."""
    async with opened_twice(database_url) as (_, writer):
        await begin(writer.store, request("open"))
        with psycopg.connect(database_url) as holding:
            holding.execute(HOLD)
            assert await writer.store.begin_request(request("new", at=9), kept_since=minute(5)) is None
        await writer.store.begin_request(request("newer", at=9), kept_since=minute(5))
        assert await begin(writer.store, request("open", at=9)) is None


SLOW: Final = """
CREATE FUNCTION take_long() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END';
CREATE TRIGGER slow BEFORE UPDATE ON known_requests FOR EACH ROW EXECUTE FUNCTION take_long()
"""


async def test_an_erase_takes_any_number_of_answers(database_url: str) -> None:
    """The answers of a large installation take longer than other statements may, and are taken all the same."""
    names = [f"write {number}" for number in range(50)]
    async with opened_twice(f"{database_url}&options=-c%20statement_timeout%3D500") as (store, writer):
        for name in names:
            await writer.write(name)
        with psycopg.connect(database_url) as connection:
            connection.execute(SLOW)
        await erase_message(store)
        assert await list_quoting(writer, *names) == []
