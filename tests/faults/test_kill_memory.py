"""A process killed at any point of what it does to memory: nothing lost, nothing twice, nothing back, and done again it is the same."""

import importlib.util
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from tests.forks import Forks
from tests.support.sizes import one_of_each

from everfold.core.memory.items import Item
from everfold.testing.kit.fakes import STARTED_AT, FakeClock

KEEPER = Path(__file__).with_name("keeper.py")
LATER = STARTED_AT + timedelta(hours=1)
"""When the next process comes: whatever the dead one held has run out."""
BY_HAND = ("edit", "undo", "add")
"""What a person does, who sees that it is done and does not do it again."""
DREAMS = ("dream", "dream by model")
EVERY = ("active", "superseded", "expired", "quarantined", "erased")

READING = ("before:read_memory_version", "after:list_extractions", "after:list_topics")
CHANGING = ("before:change_memory", "within:insert_audit", "after:change_memory")
DREAMING = ("within:insert_topic", "within:insert_dream", "within:insert_dream_topic", "within:write_cursor", *CHANGING)
FINDING = ("within:insert_item", "within:insert_evidence", "within:insert_extraction", *CHANGING)
CURSOR = ("before:write_session_memory", "after:write_session_memory")
REVISING = ("within:update_item", "within:insert_audit", "after:change_memory")
POINTS: Mapping[str, Sequence[str]] = {
    "dream": (*READING, "within:update_topic", "within:keep_topic_revision", *DREAMING),
    "dream by model": ("before:reply", "after:reply", "within:insert_call", *DREAMING),
    "mini-dream": ("before:begin_compaction", "after:commit_compaction", "within:insert_topic", *CHANGING),
    "say": ("before:append", "after:append", *FINDING, *CURSOR),
    "extract": ("before:reply", "after:reply", *FINDING, *CURSOR),
    "edit": REVISING,
    "undo": REVISING,
    "add": ("within:insert_item", "before:change_memory", "after:change_memory"),
}
WIPED = (
    ("dream by model", ("before:reply", "after:reply", "within:insert_dream", "after:change_memory")),
    ("say", ("after:append", "before:change_memory", "after:change_memory")),
    ("extract", ("after:reply", "after:change_memory")),
    ("mini-dream", ("after:commit_compaction", "before:change_memory")),
)


def _load_keeper() -> ModuleType:
    spec = importlib.util.spec_from_file_location("keeper", KEEPER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["keeper"] = module
    spec.loader.exec_module(module)
    return module


keeper = _load_keeper()


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A database with memory in it, to be copied, and what it says."""

    path: Path
    before: dict[str, object]
    after: dict[str, dict[str, object]] = field(default_factory=dict)

    async def do(self, what: str) -> dict[str, object]:
        """What it says after an act that was not killed."""
        if what not in self.after:
            twin = Path(shutil.copy(self.path, self.path.with_name(f"{what}.db")))
            async with keeper.opened(twin, what=what) as hands:
                await keeper.ACTS[what].do(hands)
                self.after[what] = await read(hands)
        return self.after[what]


@pytest.fixture(scope="module")
async def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A database with memory in it, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "log.db"
    await keeper.fill(path)
    async with keeper.opened(path) as hands:
        return Filled(path=path, before=await read(hands))


@pytest.fixture
def path(filled: Filled, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(filled.path, tmp_path / "log.db"))


def kill(forks: Forks, path: Path, what: str, point: str) -> None:
    """Run a process until it is killed."""
    done = forks.run(KEEPER.read_text("utf-8"), str(path), what, point)
    assert done.returncode == -signal.SIGKILL, f"{point} was never reached: {done.stderr[-800:]}"


async def read(hands: Any) -> dict[str, object]:
    """What memory says, without what differs from run to run: ids and times."""
    items = await hands.memory.items(statuses=EVERY)
    by_id = {item.id: item.statement for item in items}
    return {
        "items": sorted((item.statement, item.status, item.revision, _quotes(item)) for item in items),
        "revisions": sorted([[one.statement for one in await hands.memory.item(item.id)] for item in items]),
        "topics": [
            (
                one.tier,
                one.name,
                one.revision,
                one.summary,
                _without_ids(one.content),
                [by_id[it] for it in one.sources],
            )
            for one in await hands.memory.topics()
        ],
        "dreams": [(one.state, one.generator, one.read_through, one.cost_usd) for one in await hands.memory.dreams()],
    }


def _quotes(item: Item) -> list[tuple[int, str]]:
    return sorted((one.seq, one.quote) for one in item.evidence)


def _without_ids(content: str) -> str:
    return re.sub(r"\[itm_\w+\]", "[item]", content)


async def check_memory(hands: Any) -> None:
    """No item stands twice, revisions have no gap, and after a dream each item is in one topic and the cursor at its end."""
    assert await hands.engine.admin.check_store() == []
    items = await hands.memory.items()
    assert [one for one, count in Counter(item.identity for item in items).items() if count > 1] == []
    for item in items:
        revisions = [one.revision for one in await hands.memory.item(item.id)]
        assert revisions == list(range(1, len(revisions) + 1))
    await hands.memory.dream()
    assert await hands.memory.dream() is None
    told = Counter(id_ for topic in await hands.memory.topics() for id_ in topic.sources)
    assert told == Counter(item.id for item in items if item.evidence)
    cursor = await hands.engine._store.read_cursor(hands.memory.user_id, "default")
    assert cursor == (await hands.memory.extractions())[-1].ordinal


async def check_wiped(path: Path) -> None:
    """After a wipe nothing of before comes back, also not by a dream or a later look at the same messages."""
    async with keeper.opened(path, FakeClock(LATER)) as hands:
        await hands.engine.wipe("ada")
    async with keeper.opened(path, FakeClock(LATER + timedelta(hours=1))) as hands:
        await hands.session.window()
        assert await hands.memory.dream() is None
        assert await hands.memory.items(statuses=EVERY) == []
        assert await hands.memory.topics() == []


def list_cases() -> list[ParameterSet]:
    """Each act at each of its points; those at a point where another act was killed are slow, but for its last."""
    cases = [(point, (what, point)) for what, points in POINTS.items() for point in points]
    few = {case for _, case in one_of_each(cases)} | {(what, points[-1]) for what, points in POINTS.items()}
    return [pytest.param(*case, id="-".join(case), marks=() if case in few else pytest.mark.slow) for _, case in cases]


@pytest.mark.parametrize(("what", "point"), list_cases())
async def test_what_was_killed_is_whole_or_not_at_all(
    forks: Forks, what: str, point: str, path: Path, filled: Filled
) -> None:
    """Killed there, memory is as before or as after; done again it says the same as without a kill, and a wipe holds."""
    kill(forks, path, what, point)
    after, is_written = await filled.do(what), point == "after:change_memory"
    async with keeper.opened(path, FakeClock(LATER), what=what) as hands:
        found = await read(hands)
        if is_written:
            assert found["items"] == after["items"]
        elif what in DREAMS or point.startswith("within") or point in ("before:change_memory", "after:reply"):
            assert found == filled.before
        if not (is_written and what in BY_HAND):
            await keeper.ACTS[what].do(hands)
        again = await read(hands)
        assert (again["items"], again["revisions"]) == (after["items"], after["revisions"])
        assert again["topics"] == after["topics"] or what == "mini-dream"
        await check_memory(hands)
    await check_wiped(path)


@pytest.mark.parametrize(("what", "point"), [(what, point) for what, points in WIPED for point in points])
async def test_a_wipe_after_a_kill_lets_nothing_back(forks: Forks, what: str, point: str, path: Path) -> None:
    """What a dead process had begun does not come back when memory is wiped before anybody does it again."""
    kill(forks, path, what, point)
    await check_wiped(path)
