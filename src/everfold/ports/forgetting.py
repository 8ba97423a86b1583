"""Forgetting stores: what removes whole sessions and users, brings memory back from a document, and clears the files.

Atomicity and errors are those of `everfold.ports.stores`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.portability.documents import PortableMemory
from everfold.core.portability.restoring import RestoredSession
from everfold.core.portability.sessions import PortableMessage
from everfold.core.primitives.ids import AgentId, SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class WipedUser:
    """What a wipe of a user erased.

    Attributes:
        counts: How much went from each bucket; each is there, also with 0.
        sessions: The sessions, each with its agent, in the order of their creation.
    """

    counts: Mapping[str, int]
    sessions: Mapping[SessionId, AgentId]


class ForgettingStore(Protocol):
    """The erases that are larger than a message, and what they leave in the store's own files."""

    async def list_branches(self, session_id: SessionId) -> list[SessionId]:
        """Every other session whose log holds messages that this one stores, in the order of their creation."""
        ...

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """Remove sessions of one user with all that is stored of them, and write a change of the user's memory.

        Their ids are not used again. Gives how much went from each bucket: `sessions`, `messages`, `compactions`,
        `digests`. Extractions stay, and model calls stay without the ids of user, session and compaction.

        Raises:
            ConflictError: another session holds messages of one of them, or the version is not the expected one.
            NotFoundError: one of them is unknown.
        """
        ...

    async def wipe_user(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> WipedUser:
        """What `wipe_memory` does, and all sessions of the user as `erase_sessions` does. The user stays known.

        Buckets: those of `wipe_memory`, with the `vectors` of messages too, then `transcripts`, `messages`,
        `compactions`, `digests` and `calls`, which stay for their cost without the ids.

        Raises:
            ConflictError: the version is not the expected one.
        """
        ...

    async def list_stored(self, session_id: SessionId, *, after_seq: int, limit_count: int) -> list[PortableMessage]:
        """The messages that a session stores itself, tombstones included, by sequence number after the given one."""
        ...

    async def import_memory(
        self,
        memory: PortableMemory,
        *,
        expected: MemoryVersion,
        entry: AuditEntry,
        sessions: Sequence[RestoredSession] = (),
    ) -> MemoryVersion:
        """Store all of a memory for a user who has none, ordinals and cursors as they are, and give the new version.

        With it the sessions, in their order, as appends would write them. One that is current becomes it where the user
        and the agent have no current session.

        Raises:
            ConflictError: the version is not the expected one, the user has a memory, or an id is taken, or was erased.
        """
        ...

    async def is_erasing(self) -> bool:
        """Whether the store's own files may still hold what was erased."""
        ...

    async def finish_erasing(self) -> bool:
        """Clear the files of what was erased; False when a reader holds on to it. Costs one read when nothing is due."""
        ...
