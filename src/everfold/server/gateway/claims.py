"""Claims: of several servers over one store, one answers in a conversation at a time; the others wait for its reply."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from everfold.ports.leases import LeaseName, LeaseStore
from everfold.services.sessions.hold_lease import hold_lease

CLAIM_SECS: Final = 5.0
"""How long the claim of a server that dies holds others up; it is renewed while the server lives."""
LOOK_SECS: Final = 0.05
"""How often a server that waits looks whether the other one has ended. Source: own choice; a reply takes seconds."""


@dataclass(slots=True, kw_only=True)
class Claims:
    """What this server has for itself.

    Attributes:
        store: Keeps the leases.
        holder: An id that no other server has.
        beside: What is still written of all conversations.
    """

    store: LeaseStore
    holder: str
    beside: set[asyncio.Task[None]]
    _held: dict[LeaseName, AsyncExitStack] = field(default_factory=dict, init=False)
    _ending: dict[LeaseName, asyncio.Task[None]] = field(default_factory=dict, init=False)

    async def claim(self, name: LeaseName) -> bool:
        """Have something until it is released; False where another server has it."""
        if (ending := self._ending.get(name)) is not None:
            await asyncio.wait([ending])
        held = AsyncExitStack()
        if not await held.enter_async_context(hold_lease(self.store, name, holder=self.holder, secs=CLAIM_SECS)):
            return False
        self._held[name] = held
        return True

    def release(self, name: LeaseName) -> None:
        """Give something back; nothing happens where it is not had."""
        held = self._held.pop(name, None)
        if held is None:
            return
        task = asyncio.create_task(held.aclose())
        self._ending[name] = task
        self.beside.add(task)
        task.add_done_callback(lambda done: self._forget(name, done))

    def _forget(self, name: LeaseName, task: "asyncio.Task[None]") -> None:
        self.beside.discard(task)
        if self._ending.get(name) is task:
            del self._ending[name]

    async def wait_for(self, name: LeaseName) -> None:
        """Wait until no other server has something, or the one that had it is dead."""
        while not await self.claim(name):  # noqa: ASYNC110 - another process tells of nothing
            await asyncio.sleep(LOOK_SECS)
        self.release(name)
