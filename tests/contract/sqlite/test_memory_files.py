"""What memory has erased is gone from the file, byte for byte, and writers of one file take turns."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.memory.items import Item
from everfold.core.memory.records import MemoryChange, MemoryVersion, SessionMemory
from everfold.core.memory.topics import Topic
from everfold.core.primitives.ids import UserId
from everfold.core.text.searching import plan_query
from everfold.errors import ConflictError
from everfold.testing.kit.builders import ADA, BEN, GUIDE, open_session
from everfold.testing.kit.memory_builders import audit, change, dream, erased, evidence, item, put, topic

SECRET = "zugzwang"
"""A word that is its own stem, so that the index holds it as it stands."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """An empty store in a file of its own."""
    opened = await SqliteStore.open(str(tmp_path / "everfold.db"))
    yield opened
    await opened.close()


def count_in_files(store: SqliteStore, word: str) -> int:
    """How often the database and the files beside it hold a word."""
    path = Path(store.path)
    return sum(file.read_bytes().count(word.encode()) for file in path.parent.glob(f"{path.name}*"))


def secret_items(user_id: UserId = ADA) -> list[Item]:
    """Items that speak of the secret among many that do not, so that the index has many pages."""
    plain = [item(f"itm_{n}", f"word{n * 7919} word{n * 104729} about berth {n}", user_id=user_id) for n in range(900)]
    told = [
        item(f"itm_s{n}", f"The {SECRET} number {n}.", evidence(f"a {SECRET}{n} it was", seq=n), user_id=user_id)
        for n in range(60)
    ]
    return [row for at, one in enumerate(plain) for row in (one, *told[at // 15 : at // 15 + 1 if at % 15 == 0 else 0])]


async def fill(store: SqliteStore) -> tuple[list[Item], Topic]:
    """A memory whose items, their former revisions, a topic, a dream and a snapshot hold the secret."""
    record = await open_session(store)
    rows = secret_items()
    for at in range(0, len(rows), 100):
        await put(store, *rows[at : at + 100])
    told = [replace(one, revision=2, shelf="archive") for one in rows if SECRET in one.statement]
    await put(store, *told)
    written = topic("top_1", content=f"All about the {SECRET}.")
    bare = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion(), topics=(written,))
    kept = SessionMemory(session_id=record.id, snapshot=f"- {SECRET}", has_snapshot=True)
    await change(store, replace(bare, dream=dream("drm_1", written), session=kept))
    assert count_in_files(store, SECRET) > len(told)
    return told, written


async def test_an_erase_overwrites_what_it_forgets(store: SqliteStore) -> None:
    """After an erase no byte of any file holds the words: no revision, no index row, no dream, no snapshot."""
    told, written = await fill(store)
    gone = replace(written, status="erased", revision=2, content="", summary="")
    await put(store, *map(erased, told), gone, has_erased=True)
    assert count_in_files(store, SECRET) == 0
    assert await store.check_integrity() == []


async def test_an_erase_of_each_alone_overwrites_it(store: SqliteStore) -> None:
    """Items that are erased one after the other leave nothing either, whatever the state of the index."""
    told, written = await fill(store)
    for one in told:
        await put(store, erased(one), has_erased=True)
    await put(store, replace(written, status="erased", revision=2, content=""), has_erased=True)
    assert count_in_files(store, SECRET) == 0
    assert await store.check_integrity() == []


async def test_a_wipe_overwrites_all(store: SqliteStore) -> None:
    """After a wipe no byte of any file holds what the user's memory said, and the other user's is untouched."""
    await fill(store)
    await put(store, item("itm_ben", "Ben has a kayak.", user_id=BEN))
    await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
    assert count_in_files(store, SECRET) == count_in_files(store, "word7919") == 0
    assert count_in_files(store, "kayak") > 0
    assert await store.check_integrity() == []


async def test_a_wipe_of_few_among_many_overwrites_all(store: SqliteStore) -> None:
    """Of a user who has little among others who have much nothing is left either, and the others are found as before."""
    plain = [item(f"itm_{n}", f"berth {n} word{n * 7919}") for n in range(600)]
    for at in range(0, len(plain), 100):
        await put(store, *plain[at : at + 100])
    await put(store, *(item(f"itm_b{n}", f"A {SECRET} {n}.", user_id=BEN) for n in range(3)))
    assert count_in_files(store, SECRET) > 0
    await store.wipe_memory(BEN, expected=await store.read_memory_version(BEN), entry=audit("wipe", user_id=BEN))
    assert count_in_files(store, SECRET) == 0
    hits = await store.search_items(plan_query("word7919"), ADA, None, limit_count=9)
    assert hits[0][0].id == "itm_1"
    assert await store.check_integrity() == []


async def test_reads_beside_a_wipe_see_one_moment(store: SqliteStore) -> None:
    """A read while another store wipes gives all or nothing, never a part or an error."""
    other = await SqliteStore.open(store.path)
    rows = [item(f"itm_{n}", f"The berth number {n}.") for n in range(60)]
    for turn in range(6):
        await put(store, *rows, *[replace(one, revision=2) for one in rows])
        wiping = asyncio.create_task(
            other.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe", at=turn))
        )
        seen = []
        while not wiping.done():
            seen.append(len(await store.list_items(ADA, None, limit_count=99)))
            seen.append(len(await store.search_items(plan_query("berth number"), ADA, None, limit_count=99)))
        await wiping
        assert set(seen) <= {0, 60}
        assert await store.list_items(ADA, None, limit_count=99) == []
    await other.close()


async def test_writers_of_one_file_take_turns(store: SqliteStore) -> None:
    """Of changes that two stores over one file decided over the same head, one is written and the others are refused."""
    other = await SqliteStore.open(store.path)
    for turn in range(5):
        head = await store.read_memory_version(ADA)
        assert head == await other.read_memory_version(ADA) == MemoryVersion(revision=turn)
        plans = [
            MemoryChange(user_id=ADA, agent_id=GUIDE, expected=head, items=(item(f"itm_{turn}_{at}"),))
            for at in range(4)
        ]
        outcomes = await asyncio.gather(
            *((other if at % 2 else store).change_memory(plan) for at, plan in enumerate(plans)), return_exceptions=True
        )
        assert [isinstance(one, ConflictError) for one in outcomes].count(True) == 3
        assert MemoryVersion(revision=turn + 1) in outcomes
    assert len(await other.list_items(ADA, None, limit_count=99)) == 5
    await other.close()


async def test_what_is_alike_is_found_at_the_same_cost_among_many(store: SqliteStore) -> None:
    """Among four times as many items that share their words a look-up takes no more steps of the database machine."""
    counter = Steps()
    apsw.connection_hooks.append(counter.watch)
    try:
        reader = await SqliteStore.open(store.path)
    finally:
        apsw.connection_hooks.remove(counter.watch)
    costs = []
    for first in (0, 700):
        await put(store, *(item(f"itm_{n}", f"Pump {n} of the lock ran.") for n in range(first, 4 * first or 700)))
        counter.count = 0
        found = await reader.find_related(ADA, GUIDE, queries=[plan_query("Pump 7919 of the lock ran.")], like_count=24)
        assert len(found.like) == 24
        costs.append(counter.count)
    assert costs[1] == costs[0]
    await reader.close()


class Steps:
    """Counts the steps that the database machine takes to look up words."""

    def __init__(self) -> None:
        self.count = 0
        self._taken: Counter[str] = Counter()

    def watch(self, connection: apsw.Connection) -> None:
        """A connection hook."""
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._add, id=self)

    def _add(self, event: dict[str, Any]) -> None:
        """Statements are kept, and each says how many steps it has taken since it was made."""
        sql, taken = event["sql"], event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
        if ":word" in sql or ":match" in sql:
            self.count += taken - self._taken[sql]
            self._taken[sql] = taken
