"""Following stores: how far the transcript files of other programs have been imported.

Atomicity and errors are those of `everfold.ports.stores`.
"""

from typing import Protocol

from everfold.core.log.following import FollowedTranscript
from everfold.core.primitives.ids import AgentId, UserId


class FollowingStore(Protocol):
    """A position for each conversation of a client.

    An erase of its session, and a wipe of its user, keep the position and take everything else from it.
    """

    async def find_followed(self, user_id: UserId, agent_id: AgentId, name: str) -> FollowedTranscript | None:
        """Where the import of a conversation stands; None where it was never imported."""
        ...

    async def list_followed(self, user_id: UserId | None) -> list[FollowedTranscript]:
        """All of one user, or of everyone with None, by user, agent and name."""
        ...

    async def keep_followed(self, followed: FollowedTranscript) -> None:
        """Store a position in place of the one of the same user, agent and name.

        Raises:
            NotFoundError: its session does not exist, or was erased.
        """
        ...
