"""A process that plays a seeded log into a database and dies by SIGKILL at a named point.

Arguments: the database, the point, how often the point is passed before it kills, the limit. Prints the number of
messages after each append that returned. The points are put around the store and its statements here; nothing in the
package knows of them.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

import everfold
from everfold.adapters.sqlite import connection, log
from everfold.adapters.sqlite.connection import Database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.testing import endless_log

BATCH = 3


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
    for name in ("create_session", "append", "begin_compaction", "commit_compaction", "write_state"):
        setattr(SqliteStore, name, _around(getattr(SqliteStore, name), name, killer))
    run = Database.run

    def run_and_reach(self: Database, name: str, **values: Any) -> int:
        changed = run(self, name, **values)
        killer.reach(f"within:{name}")
        return changed

    Database.run = run_and_reach  # type: ignore[method-assign]  # the test's own points
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


async def write(path: str, limit: int, messages_count: int) -> None:
    """Append the log in batches, with a window after each."""
    wires = [entry.wire for entry in endless_log(17, messages_count=messages_count)]
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=limit)
        for first in range(0, len(wires), BATCH):
            seqs = await session.append(wires[first : first + BATCH])
            sys.stdout.write(f"{seqs[-1]}\n")
            sys.stdout.flush()
            await session.window()


if __name__ == "__main__":
    database, point, passes, limit = sys.argv[1:5]
    arm(Killer(point, int(passes)))
    anyio.run(write, database, int(limit), 150)
