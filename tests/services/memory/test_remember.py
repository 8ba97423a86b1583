"""Remembering over each store: one change each, decided again where memory was changed meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import anyio
import pytest
from tests.support.candidates import NOW, POLICY, candidate
from tests.support.sizes import STORES

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.memory.block import list_block, measure_item_lines
from everfold.core.memory.items import Candidate, Item, ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import SessionMemory
from everfold.core.primitives.ids import SessionId, UserId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.forgetting.forget import Forgetter
from everfold.services.memory.remember import Pass, Remembered, Rememberer
from everfold.services.telling import queueing
from everfold.services.telling.tries import Patience
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, open_session
from everfold.testing.kit.fakes import CountingIds, FakeClock
from everfold.testing.kit.memory_builders import item, put

OLD = candidate("My travel budget is 300 euros.", seq=3)
NEW = candidate("My travel budget is 450 euros.", seq=400)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each kind, with one session."""
    opened = await SqliteStore.open(IN_MEMORY if request.param == "memory" else str(tmp_path / "everfold.db"))
    await open_session(opened)
    yield opened
    await opened.close()


@pytest.fixture
def rememberer(store: Store) -> Rememberer:
    """Over the store, late enough for every candidate."""
    return Rememberer(store, FakeClock(NOW), CountingIds(), POLICY)


async def _take(
    rememberer: Rememberer, *candidates: Candidate, user_id: UserId = ADA, epoch: int | None = None
) -> Remembered:
    return await rememberer.take(
        candidates, user_id=user_id, agent_id=GUIDE, written_by="heuristic", actor="extraction", epoch=epoch
    )


async def _list(store: Store, status: str = "active") -> list[Item]:
    return await store.list_items(ADA, None, statuses=(status,), limit_count=1000)  # type: ignore[arg-type]  # a literal


async def test_pass_is_one_change(store: Store, rememberer: Rememberer) -> None:
    """A pass writes items, its record, the session's cursors and one audit entry together, without words in the audit."""
    cursor = SessionMemory(session_id=SessionId("ses_1"), extracted_seq=9)
    of = Pass(session_id=SessionId("ses_1"), compaction_id=None, first_seq=1, last_seq=9)
    taken = await rememberer.take(
        [OLD, NEW], user_id=ADA, agent_id=GUIDE, written_by="heuristic", actor="extraction", of=of, session=cursor
    )
    (extraction,) = await store.list_extractions(ADA, GUIDE, after_ordinal=0, limit_count=9)
    (entry,) = await store.list_audit(ADA, limit_count=9)
    assert (extraction.items, extraction.counts, extraction.last_seq) == (taken.seen, (2, 0, 0, 0, 0), 9)
    assert await store.read_session_memory(SessionId("ses_1")) == cursor
    assert (entry.action, entry.actor, entry.counts) == ("extract", "extraction", (("added", 1), ("superseded", 1)))
    assert (await store.read_memory_version(ADA)).revision == 1


async def test_correction_much_later_is_current_and_undo_brings_back_the_first(
    store: Store, rememberer: Rememberer
) -> None:
    """A value that is corrected hundreds of messages later is superseded, both are kept, and undo revives the first."""
    (first,) = (await _take(rememberer, OLD)).seen
    (second,) = (await _take(rememberer, NEW)).seen
    assert [item.id for item in await _list(store)] == [second]
    undone = await rememberer.undo(second, user_id=ADA, agent_id=None)
    assert [item.id for item in undone] == [second, first]
    assert [item.id for item in await _list(store)] == [first]
    await rememberer.undo(second, user_id=ADA, agent_id=None)
    assert [item.id for item in await _list(store)] == [second]


async def test_nothing_found_writes_nothing(store: Store, rememberer: Rememberer) -> None:
    """Without candidates, and with what is known already, memory does not move and nothing is audited again."""
    await _take(rememberer)
    await _take(rememberer, OLD)
    version = (await _take(rememberer, OLD)).version
    assert (version.revision, len(await store.list_audit(ADA, limit_count=9))) == (1, 1)


async def test_what_was_erased_meanwhile_is_dropped(store: Store, rememberer: Rememberer) -> None:
    """What was found before an erase is not written after it."""
    (first,) = (await _take(rememberer, OLD, epoch=0)).seen
    gone = await Forgetter(store, FakeClock(NOW)).forget_item(first, user_id=ADA, agent_id=None)
    dropped = await _take(rememberer, NEW, epoch=0)
    assert (gone.status, gone.statement, dropped.is_dropped, dropped.items) == ("erased", "", True, ())
    assert await _list(store) == []
    assert [item.statement for item in await store.list_revisions(first)] == [""]


@dataclass
class _Meddler:
    """A store that another writer changes just before each of the first changes."""

    store: Store
    other: Rememberer
    left_count: int = 2

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)

    async def change_memory(self, change: object) -> object:
        """The other writes first."""
        if self.left_count:
            self.left_count -= 1
            await _take(self.other, candidate(f"I own {self.left_count + 2} boats of oak.", seq=self.left_count + 1))
        return await self.store.change_memory(change)  # type: ignore[arg-type]  # passed on


async def test_refused_change_is_decided_again(store: Store, rememberer: Rememberer) -> None:
    """What others write meanwhile is seen by the next try: nothing is lost, and nothing comes twice."""
    meddled = replace(rememberer, store=_Meddler(store, rememberer))  # type: ignore[arg-type]  # a store all the same
    await _take(meddled, candidate("I own 2 boats of oak.", seq=1), candidate("I am allergic to nuts.", seq=5))
    statements = [item.statement for item in [*await _list(store), *await _list(store, "superseded")]]
    assert sorted(statements) == ["I am allergic to nuts.", "I own 2 boats of oak.", "I own 3 boats of oak."]


async def test_endless_conflict_is_told(store: Store, rememberer: Rememberer) -> None:
    """A writer that others always get ahead of gives up at its deadline with a conflict, and has written nothing."""
    times = count()
    patience = Patience(deadline_secs=20, sleep=anyio.sleep, jitter=lambda: 0.0, read_secs=lambda: next(times))
    meddler = _Meddler(store, rememberer, left_count=99)
    meddled = replace(rememberer, store=meddler, patience=patience)  # type: ignore[arg-type]  # as above
    with pytest.raises(ConflictError):
        await _take(meddled, candidate("I am allergic to nuts.", seq=5))
    assert all("nuts" not in item.statement for item in await _list(store))
    assert 0 < meddler.left_count < 99


async def test_a_change_that_is_refused_for_good_is_not_tried_again(rememberer: Rememberer) -> None:
    """A conflict with what is stored, which no later decision would end, is raised at once."""
    first, again = (replace(rememberer, ids=CountingIds()) for _ in range(2))
    await first.add("I own a boat.", user_id=ADA, agent_id=GUIDE, tier="user")
    with pytest.raises(ConflictError, match="itm_"):
        await again.add("I own a horse.", user_id=BEN, agent_id=GUIDE, tier="user")


async def test_two_writers_at_once_take_turns(store: Store, rememberer: Rememberer) -> None:
    """Many passes at the same moment leave one item of each thing that was said."""
    async with anyio.create_task_group() as group:
        for seq in range(1, 7):
            group.start_soon(_take, rememberer, candidate("I am allergic to nuts.", seq=seq))
    (item,) = await _list(store)
    assert [one.seq for one in item.evidence] == [1, 2, 3, 4, 5, 6]


WORDS = [f"{one}{two}" for one in ("mango", "anchor", "violin", "cactus", "kettle") for two in "bcdfghklmn"]


async def _write_at_once(*rememberers: Rememberer) -> list[object]:
    """Fifty statements of one user at the same moment, by each writer in turn."""
    taken = (
        rememberers[at % len(rememberers)].add(f"The {word} is sold.", user_id=ADA, agent_id=GUIDE, tier="user")
        for at, word in enumerate(WORDS)
    )
    return [one for one in await asyncio.gather(*taken, return_exceptions=True) if isinstance(one, BaseException)]


async def test_fifty_writers_at_once_are_all_served(store: Store, rememberer: Rememberer) -> None:
    """However many write to one user's memory at once, each write is made, and no queue is left behind."""
    assert await _write_at_once(rememberer, replace(rememberer)) == []
    assert sorted(item.statement for item in await _list(store)) == sorted(f"The {word} is sold." for word in WORDS)
    assert not queueing._queues


async def test_writers_of_other_processes_are_all_served(tmp_path: Path) -> None:
    """Writers that reach the same file by connections of their own each get their write made."""
    stores = [await SqliteStore.open(str(tmp_path / "shared.db")) for _ in range(3)]
    await open_session(stores[0])
    ids = CountingIds()
    rememberers = [Rememberer(one, FakeClock(NOW), ids, POLICY) for one in stores]
    assert await _write_at_once(*rememberers) == []
    assert len(await _list(stores[0])) == len(WORDS)
    for one in stores:
        await one.close()


async def test_every_kind_of_write_waits_for_its_turn(store: Store, rememberer: Rememberer) -> None:
    """Edits, undos, releases of the block and erases of one user at once are all made, each of its own item."""
    added = [
        (await rememberer.add(f"The {word} is sold.", user_id=ADA, agent_id=GUIDE, tier="user")).seen[0]
        for word in WORDS
    ]
    forgetter = Forgetter(store, FakeClock(NOW))
    writes = [
        *(rememberer.edit(one, f"{one} is kept.", user_id=ADA, agent_id=None) for one in added[:10]),
        *(rememberer.undo(one, user_id=ADA, agent_id=None) for one in added[10:20]),
        *(forgetter.forget_item(one, user_id=ADA, agent_id=None) for one in added[20:30]),
        *(_take(rememberer, candidate(f"I own {word}.", seq=at + 1)) for at, word in enumerate(WORDS[30:])),
    ]
    assert [one for one in await asyncio.gather(*writes, return_exceptions=True) if isinstance(one, Exception)] == []
    assert len(await _list(store, "erased")) == 10


async def test_edit_expects_the_revision_that_was_seen(store: Store, rememberer: Rememberer) -> None:
    """An edit of an item that was changed elsewhere is refused, says what is there, and changes nothing."""
    (item_id,) = (await _take(rememberer, OLD)).seen
    edited = await rememberer.edit(item_id, "The budget is open.", user_id=ADA, agent_id=None, expected_revision=1)
    assert edited.revision == 2
    with pytest.raises(ConflictError, match="The budget is open"):
        await rememberer.edit(item_id, "Something else.", user_id=ADA, agent_id=None, expected_revision=1)
    with pytest.raises(ConflictError):
        await Forgetter(store, FakeClock(NOW)).forget_item(item_id, user_id=ADA, agent_id=None, expected_revision=1)
    assert [item.statement for item in await _list(store)] == ["The budget is open."]


async def test_items_of_others_are_not_there(store: Store, rememberer: Rememberer) -> None:
    """Neither another user nor, for a note, another agent can reach an item by its id."""
    (person,) = (await _take(rememberer, OLD)).seen
    (note,) = (await _take(rememberer, candidate("The server is Oslo.", tier="agent"))).seen
    with pytest.raises(NotFoundError):
        await rememberer.edit(person, "Mine now.", user_id=BEN, agent_id=None)
    with pytest.raises(NotFoundError):
        await rememberer.undo(note, user_id=ADA, agent_id=CLERK)
    with pytest.raises(NotFoundError):
        await Forgetter(store, FakeClock(NOW)).forget_item(note, user_id=ADA, agent_id=CLERK)
    with pytest.raises(NotFoundError):
        await Forgetter(store, FakeClock(NOW)).forget_item(ItemId("itm_none"), user_id=ADA, agent_id=None)


async def test_findings_name_no_items_of_others(store: Store, rememberer: Rememberer) -> None:
    """A candidate that names another user's item as replaced leaves it alone."""
    (person,) = (await _take(rememberer, OLD)).seen
    await _take(rememberer, replace(NEW, replaces=person), user_id=BEN)
    assert [item.id for item in await _list(store)] == [person]


async def test_person_enters_what_is_kept_as_it_is(store: Store, rememberer: Rememberer) -> None:
    """What a person adds is explicit, active at once, and pushes out what is oldest where the block is full."""
    small = replace(rememberer, policy=MemoryPolicy(system="structured", user_char_limit=60))
    await _take(small, OLD)
    await small.add("The gate code is 4711.", user_id=ADA, agent_id=GUIDE, tier="user")
    shown = list_block(await small.list_block(ADA, GUIDE), "user", now=NOW)
    assert [(item.statement, item.is_explicit) for item in shown] == [("The gate code is 4711.", True)]
    assert measure_item_lines(shown) <= 60
    assert len(await _list(store)) == 2


async def test_block_of_many_pages_is_read_whole(store: Store, rememberer: Rememberer) -> None:
    """More items than one page holds are all in the block."""
    await put(store, *(item(f"itm_x{number}", f"Berth {number} is let.") for number in range(700)))
    assert len(await rememberer.list_block(ADA, GUIDE)) == 700
