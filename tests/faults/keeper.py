"""A process that does one thing to a user's memory and dies by SIGKILL at a named point of it.

Arguments: the database, what to do (a name of `ACTS`), and the point. A point is `before:` or `after:` a call of the store or of the model, or `within:` a statement of a transaction. They are put around
the store here, once everything is open; nothing in the package knows of them.
"""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

import everfold
from everfold import Everfold, Memory, Session
from everfold.adapters.models.scripted import ScriptedModel
from everfold.adapters.sqlite.connection import Database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.config import Overrides
from everfold.errors import ModelReplyError
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import FakeClock

SETTINGS: Overrides = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": True},
    "sessions": {"gap_secs": 0},
}
LIMIT = 4_000
FIRST = (
    "My badge number is 4471.",
    "I prefer tea to coffee.",
    "Remember: my boat is called Kestrel.",
    "My berth is number 17.",
)
"""What is said first; it is dreamed of."""
SECOND = (
    "Please never book a meeting before nine.",
    "We decided to paint the boat blue in May.",
    "My berth costs 900 euros a year.",
)
"""What is said then; no dream has read it."""
FOUND = {"facts": [{"statement": "The user sails.", "quote": "my boat is called Kestrel", "seq": 5, "tier": "user"}]}
DREAMT = {
    "topics": [
        {
            "topic": "boat",
            "summary": "The boat",
            "content": "We decided to paint the boat blue in May. The berth costs 900 euros a year.",
            "items": ["i1", "i2", "i3", "i4", "i5", "i6", "i7"],
        }
    ]
}
"""A topic that tells two of the items that it names; the others get a line."""


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What an act is done with."""

    engine: Everfold
    session: Session
    memory: Memory

    async def find(self, words: str) -> str:
        """The id of the item that says so."""
        items = await self.memory.items(statuses=("active", "superseded"))
        return next(item.id for item in items if words in item.statement)


@asynccontextmanager
async def opened(path: Path, clock: FakeClock | None = None, what: str = "") -> AsyncIterator[Hands]:
    """The engine over the database, as an act wants it: with a model that says one thing, or with work beside the turns."""
    answer, is_beside = ACTS[what].answer if what else None, what == "mini-dream"
    settings = {**SETTINGS, "compaction": {"synchronous": not is_beside}}
    if answer is not None:
        script = path.with_suffix(".jsonl")
        script.write_text(json.dumps({"text": json.dumps(answer), "cost_usd": 0.5}))
        settings = {**SETTINGS, "compaction": {"synchronous": True, "model": f"script:{script}"}}
    async with everfold.open(f"sqlite:///{path}", settings=settings, clock=clock or FakeClock()) as engine:
        session = await engine.session(user="ada", limit=LIMIT)
        yield Hands(engine=engine, session=session, memory=await engine.memory(user="ada"))


async def fill(path: Path) -> None:
    """Memory with a topic of what was said first, and what was said then unread by any dream."""
    async with opened(path) as hands:
        await hands.session.append([wire for text in FIRST for wire in (user(text), assistant("I see."))])
        await hands.memory.dream()
        await hands.session.append([wire for text in SECOND for wire in (user(text), assistant("I see."))])
        item = await hands.find("tea")
        await hands.memory.edit(item, "Ada prefers green tea to coffee.")


# --- what is done


async def dream(hands: Hands) -> None:
    """Consolidate."""
    await hands.memory.dream()


async def mini_dream(hands: Hands) -> None:
    """Say so much that the next window overflows, which has a dream of what it folds."""
    if (await hands.session.inspect.state()).last_seq < 20:
        long = "How does the sea look from here today, and what would you say of the wind over the hills? " * 6
        await hands.session.append([wire for n in range(40) for wire in (user(f"{n}: {long}"), assistant("Calm."))])
    await hands.session.window()
    await hands.engine._background.dispatcher.join()


async def say(hands: Hands) -> None:
    """Say something that lasts, and go on."""
    if (await hands.session.inspect.state()).last_seq == len((*FIRST, *SECOND)) * 2:
        await hands.session.append([user("My locker number is 31. I prefer the window seat."), assistant("I see.")])
    await hands.session.window()


async def extract(hands: Hands) -> None:
    """Have the model read everything for memory."""
    extractor = hands.engine._memories.get(hands.session._live.record.agent_id).extractor
    assert extractor is not None
    last_seq = (await hands.session.inspect.state()).last_seq
    with suppress(ModelReplyError):  # of a range whose beginning was read before it says the same, which is not there
        await extractor.extract_range(hands.session._live.record, first_seq=1, last_seq=last_seq)


async def edit(hands: Hands) -> None:
    """Change what an item says."""
    await hands.memory.edit(await hands.find("berth is"), "Ada's berth is number 18.")


async def undo(hands: Hands) -> None:
    """Take back the last change of an item."""
    await hands.memory.undo(await hands.find("green tea"))


async def add(hands: Hands) -> None:
    """Add an item by hand."""
    await hands.memory.add("Ada has a dinghy.")


@dataclass(frozen=True, kw_only=True)
class Act:
    """What is done, and what the model answers meanwhile; None for no model."""

    do: Callable[[Hands], Awaitable[None]]
    answer: object = None


ACTS: Mapping[str, Act] = {
    "dream": Act(do=dream),
    "dream by model": Act(do=dream, answer=DREAMT),
    "mini-dream": Act(do=mini_dream),
    "say": Act(do=say),
    "extract": Act(do=extract, answer=FOUND),
    "edit": Act(do=edit),
    "undo": Act(do=undo),
    "add": Act(do=add),
}


# --- dying


class Killer:
    """Kills the process when its point is reached."""

    def __init__(self, point: str) -> None:
        self.point = point

    def reach(self, point: str) -> None:
        """Die here, when this is the point."""
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


def arm(killer: Killer) -> None:
    """Put the point around the call, or behind the statement, that it names."""
    when, name = killer.point.split(":")
    if when != "within":
        of: type[object] = ScriptedModel if name == "reply" else SqliteStore
        setattr(of, name, _around(getattr(of, name), name, killer))
        return
    for method in ("run", "run_each"):
        setattr(Database, method, _behind(getattr(Database, method), killer))


def _behind(run: Callable[..., Any], killer: Killer) -> Callable[..., Any]:
    def run_and_reach(self: Database, name: str, *rows: Any, **values: Any) -> Any:
        changed = run(self, name, *rows, **values)
        killer.reach(f"within:{name}")
        return changed

    return run_and_reach


def _around(call: Callable[..., Awaitable[Any]], name: str, killer: Killer) -> Callable[..., Awaitable[Any]]:
    async def reached(*arguments: Any, **options: Any) -> Any:
        killer.reach(f"before:{name}")
        given = await call(*arguments, **options)
        killer.reach(f"after:{name}")
        return given

    return reached


async def act(path: str, what: str, point: str) -> None:
    """Do it, and never come back."""
    async with opened(Path(path), what=what) as hands:
        arm(Killer(point))
        await ACTS[what].do(hands)


if __name__ == "__main__":
    database, name, place = sys.argv[1:]
    anyio.run(act, database, name, place)
