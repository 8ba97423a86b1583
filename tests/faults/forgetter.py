"""A process that erases something from a database and dies by SIGKILL within it.

Arguments: the database, what to erase (wipe, session or message), and the statement after which it dies; `after` dies
between the commit and the emptying of the write-ahead log.
"""

import os
import signal
import sys
from typing import Any, Never

import anyio

import everfold
from everfold.adapters.sqlite.connection import Database


def _die(*_: Any) -> Never:
    os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit


def arm(statement: str) -> None:
    """Die directly after a named statement, or before the log is emptied."""
    run = Database.run

    def run_and_die(self: Database, name: str, **values: Any) -> int:
        changed = run(self, name, **values)
        if name == statement:
            _die()
        return changed

    if statement == "after":
        Database.empty_log = _die  # type: ignore[method-assign]  # the test's own point
    else:
        Database.run = run_and_die  # type: ignore[method-assign]  # the test's own point


async def erase(path: str, what: str, statement: str) -> None:
    """Erase, and never come back."""
    async with everfold.open(f"sqlite:///{path}", settings={"memory": {"system": "structured"}}) as engine:
        session = await engine.session(user="ada", limit=3000)
        arm(statement)
        if what == "wipe":
            await engine.wipe("ada", transcripts=True)
        elif what == "session":
            await engine.erase_session(session.id)
        else:
            await session.erase(1)


if __name__ == "__main__":
    anyio.run(erase, *sys.argv[1:])
