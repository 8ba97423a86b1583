"""Sessions that stay open between requests, so that a turn over HTTP reads no more than one in a program.

A handle is for one task at a time: the task that uses it holds its lock.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from everfold.session import Session

MOST_OPEN: Final = 1_000
"""How many handles are kept; the one that was used longest ago goes first. One holds the messages of its window."""


@dataclass(slots=True)
class _Handle:
    session: Session
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Handles:
    """The open sessions of a server."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Handle] = OrderedDict()

    def find(self, session_id: str) -> Session | None:
        """The session with this id, where it is open: to be looked at, not to be used."""
        handle = self._open.get(session_id)
        return None if handle is None else handle.session

    @asynccontextmanager
    async def use(self, opened: Session) -> AsyncIterator[Session]:
        """A session, for one task at a time: the one that was opened before, where there is one, else the given one."""
        session_id = opened.id
        handle = self._open.setdefault(session_id, _Handle(opened))
        self._open.move_to_end(session_id)
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        async with handle.lock:
            try:
                yield handle.session
            except BaseException:
                self._open.pop(session_id, None)  # what it remembers may be half of what happened
                raise
            if handle.session.id != session_id:  # it went on in a session of its own
                self._open.pop(session_id, None)

    def clear(self) -> None:
        """Have every session opened anew: what it was opened with has changed."""
        self._open.clear()
