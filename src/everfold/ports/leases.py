"""Leases: who does a piece of work now."""

from dataclasses import dataclass
from typing import Literal, Protocol

from everfold.core.primitives.ids import AgentId, SessionId, UserId

LeasedWork = Literal["answer", "dream", "refresh"]
"""Work that one does at a time: the answer of a session, the dream or the context refresh of a user and an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseName:
    """What a lease is for.

    Attributes:
        user_id: Whose work it is.
        work: Its kind.
        about: What of the user's it is about: the session of an answer, the agent of a dream or a refresh.
    """

    user_id: UserId
    work: LeasedWork
    about: AgentId | SessionId


class LeaseStore(Protocol):
    """Who does a piece of work now: one holder at a time for each name, in whatever process.

    A lease is asked for by its duration, and the store takes the time: callers whose clocks differ agree all the same.
    """

    async def claim_lease(self, name: LeaseName, *, holder: str, secs: float) -> bool:
        """Take a lease if it is free or has expired; whether it was taken.

        A wipe of a user's memory removes the leases of the user's dreams, and a wipe of the user all of them.
        """
        ...

    async def renew_lease(self, name: LeaseName, *, holder: str, secs: float) -> bool:
        """Have a lease for so long from now on; False where the holder has it no more."""
        ...

    async def find_holder(self, name: LeaseName) -> str | None:
        """The holder of a lease, by the store's time; None where it is free or has expired. Changes nothing."""
        ...

    async def release_lease(self, name: LeaseName, *, holder: str) -> None:
        """Give a lease back; nothing happens where the holder has it no more."""
        ...
