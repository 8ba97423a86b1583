"""Writes of one user that meet on different connections: what one of them checked holds until it has committed."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from threading import Barrier, Event

import psycopg
import pytest
from tests.support.waiting import until

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.store import PostgresStore
from everfold.adapters.sql.database import Bound, SqlValue
from everfold.core.access.api_keys import ADMIN, ApiKey, ApiKeyId
from everfold.core.log.state import SessionState
from everfold.core.memory.records import MemoryChange
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError
from everfold.testing.contract.memory_records import append_shown, turn_recall
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    branch_session,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    talk,
)
from everfold.testing.kit.memory_builders import item, put

ROUNDS = 12
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


async def attempt(work: Awaitable[object]) -> bool:
    """Whether a write went through; it may only be refused because another one came first."""
    try:
        await work
    except ConflictError:
        return False
    return True


async def test_no_write_to_memory_is_lost(store: PostgresStore) -> None:
    """Of writers that try again until they are through each raises the revision by one, and what each wrote is there."""

    async def write(number: int) -> None:
        while not await attempt(put(store, item(f"itm_{number}", f"Berth {number} costs {number} euros."))):
            pass

    await asyncio.gather(*(write(number) for number in range(ROUNDS)))
    assert (await store.read_memory_version(ADA)).revision == ROUNDS
    assert len(await store.list_items(ADA, None, limit_count=99)) == ROUNDS


async def test_an_admin_key_is_always_left(store: PostgresStore) -> None:
    """Two keys that are revoked at once, each as long as the other is there, are never both gone."""
    for number in range(ROUNDS):
        keys = [
            ApiKey(
                id=ApiKeyId(f"key_{number}_{name}"),
                name=f"{number}{name}",
                scope=ADMIN,
                secret_hash=f"{number}{name}",
                created_at=minute(0),
            )
            for name in "ab"
        ]
        for key in keys:
            await store.add_api_key(key)
        gone = await asyncio.gather(
            *(attempt(store.revoke_api_key(key.id, revoked_at=minute(1), keeps_admin=True)) for key in keys)
        )
        assert sorted(gone) == [False, True]
        [left] = [key for key, is_gone in zip(keys, gone, strict=True) if not is_gone]
        await store.revoke_api_key(left.id, revoked_at=minute(1))


async def test_an_id_is_of_one_user(store: PostgresStore) -> None:
    """Of two users who bring the id of a session at the same time one is refused, and both after it was erased."""
    for number in range(ROUNDS):
        records = [session_record(f"ses_{number}", user_id=user_id) for user_id in (ADA, BEN)]
        records = [replace(record, started_by="branch", is_current=False) for record in records]
        made = await asyncio.gather(*(attempt(store.create_session(record, SessionState())) for record in records))
        assert sorted(made) == [False, True]
        assert await store.get_session(records[0].id) == records[made.index(True)]
    owner_id = records[made.index(True)].user_id
    version = await store.read_memory_version(owner_id)
    erasing = MemoryChange(user_id=owner_id, agent_id=records[0].agent_id, expected=version, has_erased=True)
    await store.erase_sessions([records[0].id], erasing)
    assert [await attempt(store.create_session(record, SessionState())) for record in records] == [False, False]


async def test_a_branch_never_passes_an_erase(store: PostgresStore) -> None:
    """Of an erase and a branch that were planned over the same state one is refused, whichever comes second."""
    for number in range(ROUNDS):
        parent = await open_session(store, replace(session_record(f"ses_{number}"), started_by="branch"), *talk(2))
        state = await store.read_state(parent.id)
        erasure = await plan_bare_erasure(store, parent.id, 1)
        done = await asyncio.gather(
            attempt(branch_session(store, parent, f"ses_{number}b", state=state)),
            attempt(store.erase_message(erasure, erased_at=minute(9))),
        )
        assert sorted(done) == [False, True]


async def test_one_session_is_current(store: PostgresStore) -> None:
    """Of several first sessions that are opened at once one is, and the others are refused."""
    records = [session_record(f"ses_{number}") for number in range(6)]
    done = await asyncio.gather(*(attempt(open_session(store, record)) for record in records))
    assert done.count(True) == 1
    current = await store.find_current_session(ADA, records[0].agent_id)
    assert current is not None
    assert current.id == SessionId(f"ses_{done.index(True)}")


async def test_writes_that_wait_for_each_other_both_go_through(store: PostgresStore) -> None:
    """The one that the server ends is tried again, and neither caller is told."""
    meeting = Barrier(2)
    tried: list[int] = []

    def write(database: Database, first: int, second: int) -> int:
        tried.append(first)
        database.lock_user(first)
        if len(tried) <= 2:
            meeting.wait(timeout=5)
        database.lock_user(second)
        return first

    assert await asyncio.gather(store._write(write, 1, 2), store._write(write, 2, 1)) == [1, 2]
    assert len(tried) == 3


@pytest.mark.parametrize("has_memory", [False, True])
async def test_a_turn_keeps_nothing_that_an_erase_beside_it_removed(
    store: PostgresStore, database_url: str, monkeypatch: pytest.MonkeyPatch, *, has_memory: bool
) -> None:
    """An erase waits for a message that is stored with what its turn shows, and takes that too, also as the user's first write."""
    record = await open_session(store)
    if has_memory:
        await put(store, item("itm_1"))
    run, is_written, goes_on = Database.run, Event(), Event()

    def run_and_halt(self: Database, name: str, **values: SqlValue) -> int:
        count = run(self, name, **values)
        if name == "write_turn_recall":
            is_written.set()
            goes_on.wait(timeout=60)
        return count

    monkeypatch.setattr(Database, "run", run_and_halt)
    with psycopg.connect(database_url, autocommit=True) as looking:
        appending = asyncio.create_task(append_shown(store, record.id, turn_recall(record.id, "The alibi is false.")))
        await until(lambda: is_written.is_set() or appending.done())
        erasing = asyncio.create_task(put(store, item("itm_2"), has_erased=True))
        await until(lambda: erasing.done() or looking.execute(WAITING).fetchone() == (1,))
        goes_on.set()
        await asyncio.gather(appending, erasing)
    assert await store.read_turn_recall(record.id) is None


async def test_a_turn_waits_for_an_erase_that_began_before_it(
    store: PostgresStore, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message beside the first erase of its user stores nothing of what was shown before."""
    record = await open_session(store)
    run_all, is_forgotten, goes_on = Database.run_all, Event(), Event()

    def run_all_and_halt(self: Database, asked: Sequence[Bound]) -> list[int]:
        counts = run_all(self, asked)
        if "forget_turn_recalls" in dict(asked):
            is_forgotten.set()
            goes_on.wait(timeout=60)
        return counts

    monkeypatch.setattr(Database, "run_all", run_all_and_halt)
    with psycopg.connect(database_url, autocommit=True) as looking:
        erasing = asyncio.create_task(put(store, item("itm_1"), has_erased=True))
        await until(lambda: is_forgotten.is_set() or erasing.done())
        appending = asyncio.create_task(append_shown(store, record.id, turn_recall(record.id, "The alibi is false.")))
        await until(lambda: appending.done() or looking.execute(WAITING).fetchone() == (1,))
        goes_on.set()
        await asyncio.gather(appending, erasing)
    assert await store.read_turn_recall(record.id) is None
