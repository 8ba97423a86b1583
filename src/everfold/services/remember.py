"""Remember: what was found becomes what is known, and a person or an agent changes it. One change of memory each.

Every decision is made by the core over what was read, and written with the head that it was made over. A refused change
is decided again over what is there by then; what was found in words that may have been erased meanwhile is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from everfold.core.items import Finding, Item, ItemId, ItemKind, Tier, Writer
from everfold.core.ledger import Refusal
from everfold.core.ledger_edits import Operation
from everfold.core.memory import MemoryHead, SessionMemory
from everfold.core.memory_policy import MemoryPolicy
from everfold.core.sessions import AgentId, EventId, SessionId, UserId
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock, Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The messages that an extraction read; with it `take` keeps a record of the extraction."""

    session_id: SessionId
    event_id: EventId | None
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a change of memory came to.

    Attributes:
        items: The revisions that were written.
        seen: Every item that was added or seen again, in the order of what was found.
        refusals: What was not taken, and why.
        head: Where memory stands now.
        is_dropped: Nothing was written: words may have been erased since they were read.
    """

    items: tuple[Item, ...] = ()
    seen: tuple[ItemId, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    head: MemoryHead = field(default_factory=MemoryHead)
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Rememberer:
    """Changes the memory of users. It holds nothing, so one may serve every session with one policy."""

    store: MemoryStore
    clock: Clock
    ids: Ids
    policy: MemoryPolicy

    async def take(
        self,
        findings: Sequence[Finding],
        *,
        user_id: UserId,
        agent_id: AgentId,
        written_by: Writer,
        actor: str,
        of: Pass | None = None,
        session: SessionMemory | None = None,
        epoch: int | None = None,
    ) -> Remembered:
        """Merge what was found into the ledger.

        Args:
            findings: In any order.
            user_id: Whose memory.
            agent_id: Which agent's notes.
            written_by: Which writer.
            actor: For the audit.
            of: What was read to find it.
            session: Is stored in the same change.
            epoch: That of memory when the messages were read; in another one everything is dropped.

        Raises:
            ConflictError: memory was changed again at each of many tries.
        """
        raise NotImplementedError

    async def add(
        self,
        statement: str,
        *,
        user_id: UserId,
        agent_id: AgentId,
        tier: Tier,
        kind: ItemKind = "fact",
        valid_to: datetime | None = None,
        written_by: Writer = "user",
        actor: str = "user",
    ) -> Remembered:
        """Add what a person enters, word for word. Over the budget the oldest items move to the archive."""
        raise NotImplementedError

    async def edit(
        self,
        item_id: ItemId,
        statement: str,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        written_by: Writer = "user",
        actor: str = "user",
    ) -> Item:
        """Give an item another statement.

        Raises:
            NotFoundError: this user, or agent, has no such item.
            ConflictError: the item is at another revision; says what it is now.
        """
        raise NotImplementedError

    async def forget(
        self,
        item_id: ItemId,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        written_by: Writer = "user",
        actor: str = "user",
    ) -> Item:
        """Erase an item: nothing is left of it but its id. Raises the epoch. Errors as in `edit`."""
        raise NotImplementedError

    async def undo(
        self,
        item_id: ItemId,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        written_by: Writer = "user",
        actor: str = "user",
    ) -> tuple[Item, ...]:
        """Take back the last change of an item, and of those that were changed with it; the item first.

        Errors as in `edit`.
        """
        raise NotImplementedError

    async def change(
        self,
        operations: Sequence[Operation],
        *,
        user_id: UserId,
        agent_id: AgentId,
        written_by: Writer = "agent",
        actor: str,
    ) -> Remembered:
        """Do all of the operations, or none.

        Raises:
            NotFoundError: nothing in the block has a text that was named.
            InvalidInputError: more than one item has it; or an operation is not allowed.
            LimitError: the block would be over its budget in the end.
        """
        raise NotImplementedError

    async def expire(
        self, *, user_id: UserId, agent_id: AgentId | None, written_by: Writer = "dream", actor: str
    ) -> tuple[Item, ...]:
        """Mark the items that are past their end."""
        raise NotImplementedError
