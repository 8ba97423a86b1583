"""A process that plays a seeded log into a database and dies by SIGKILL at a named point.

Arguments: the database, the point, how often the point is passed before it kills, the limit, and, where a model is to
write the digests, what its answers are in turn: g for a digest, r for a refusal, e for an error. Prints the number of messages after each append that returned. The points are put around the store and its statements here; nothing in the
package knows of them.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import anyio
from bench.material.logs import endless_log

import everfold
from everfold.adapters.sql import log
from everfold.adapters.sqlite import connection, housekeeping
from everfold.adapters.sqlite.connection import Database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.compaction.tasks import Task, Written
from everfold.core.digests.drafts import Draft
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import ModelUnavailableError
from everfold.services.compaction.attempt import WriteDigest

BATCH = 3
MERGE_PAGES = 16
"""After so many pages the index is merged here, so that a short log is enough for it."""
LOWERED = 0.8
"""How far a limit is lowered for a call."""
CALLS = (
    "create_session",
    "append",
    "begin_compaction",
    "claim_compaction",
    "keep_draft",
    "commit_compaction",
    "revise_compaction",
    "release_compaction",
    "end_compaction",
    "write_state",
)


class Killer:
    """Kills the process when its point has been passed often enough."""

    def __init__(self, point: str, passes: int) -> None:
        self.point = point
        self.passes_left = passes

    def reach(self, point: str) -> None:
        """Die here, when this is the point and its time has come."""
        if point != self.point:
            return
        self.passes_left -= 1
        if self.passes_left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def arm(killer: Killer) -> None:
    """Put the points around the store's calls, and inside its transactions."""
    for name in CALLS:
        setattr(SqliteStore, name, _around(getattr(SqliteStore, name), name, killer))
    run, run_each = Database.run, Database.run_each

    def run_and_reach(self: Database, name: str, **values: Any) -> int:
        changed = run(self, name, **values)
        killer.reach(f"within:{name}")
        return changed

    def run_each_and_reach(self: Database, name: str, rows: Sequence[Any]) -> None:
        run_each(self, name, rows)
        for _ in rows:
            killer.reach(f"within:{name}")

    Database.run = run_and_reach  # type: ignore[method-assign]  # the test's own points
    Database.run_each = run_each_and_reach  # type: ignore[method-assign]
    for module, name in ((log, "write_scope"), (connection, "split_statements")):
        setattr(module, name, _before(getattr(module, name), name, killer))


def _around(call: Callable[..., Awaitable[Any]], name: str, killer: Killer) -> Callable[..., Awaitable[Any]]:
    async def reached(*arguments: Any, **options: Any) -> Any:
        killer.reach(f"before:{name}")
        given = await call(*arguments, **options)
        killer.reach(f"after:{name}")
        return given

    return reached


def _before(call: Callable[..., Any], name: str, killer: Killer) -> Callable[..., Any]:
    def reached(*arguments: Any, **options: Any) -> Any:
        killer.reach(f"within:{name}")
        return call(*arguments, **options)

    return reached


def answer(answers: str) -> WriteDigest:
    """A model whose answers are given, over and over."""
    coming = cycle(answers)

    async def write_digest(task: Task) -> Written:
        match next(coming):
            case "e":
                raise ModelUnavailableError("no route to the model; try again")
            case "r":
                return Written(draft=None, problem="refusal: it declined")
            case _:
                text = f"A model wrote this of messages {task.compaction.plan.first_seq} to {task.compaction.plan.last_seq}."
                return Written(draft=Draft(text=text, tokens=estimate_text_tokens(text), epoch=task.epoch))

    return write_digest


async def write(path: str, limit: int, messages_count: int, answers: str) -> None:
    """Append the log in batches, with a window after each."""
    wires = [entry.wire for entry in endless_log(17, messages_count=messages_count)]
    async with everfold.open(f"sqlite:///{path}") as engine:
        if answers:
            background = engine._background
            background.worker = replace(background.worker, write_digest=answer(answers))
        session = await engine.session(limit=limit)
        for first in range(0, len(wires), BATCH):
            seqs = await session.append(wires[first : first + BATCH])
            sys.stdout.write(f"{seqs[-1]}\n")
            sys.stdout.flush()
            await session.window()
            if answers and first % (2 * BATCH):
                # A call for a smaller model folds at once: what its digest brings then comes as a revision.
                await session.window(limit=int(limit * LOWERED))


if __name__ == "__main__":
    database, point, passes, limit, answers = [*sys.argv[1:], ""][:5]
    housekeeping.MERGE_PAGES = MERGE_PAGES
    arm(Killer(point, int(passes)))
    anyio.run(write, database, int(limit), 150, answers)
