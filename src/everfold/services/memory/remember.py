"""Remember: what was found becomes what is known, and a person or an agent changes it. One change of memory each.

Every decision is made by the core over what was read, and written with the version that it was made over. A refused change
is decided again over what is there by then; what was found in words that may have been erased meanwhile is dropped.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from everfold.core.memory.items import Candidate, Item, ItemId, ItemKind, Tier, Writer
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import AuditAction, AuditEntry, Extraction, MemoryChange, MemoryVersion, SessionMemory
from everfold.core.merging.decisions import Author, Merge, Refusal, fit_block, plan_merge_stepwise
from everfold.core.merging.edits import (
    is_visible,
    plan_edit,
    plan_undo,
    require_revision,
)
from everfold.core.merging.operations import Add, Operation, enter_candidate, plan_add, plan_operations
from everfold.core.merging.releasing import plan_release
from everfold.core.observation.events import ExtractionEnded
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock, Ids
from everfold.services.memory.look_up import list_block_items, load_known, load_linked
from everfold.services.telling.pausing import finish_pausing
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import change_memory
from everfold.services.telling.tries import PATIENCE, Patience


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The messages that an extraction read; with it `take` keeps a record of the extraction."""

    session_id: SessionId
    compaction_id: CompactionId | None
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a change of memory came to.

    Attributes:
        items: The revisions that were written.
        seen: Every item that was added, changed or seen again, in the order of what was found or asked for.
        refusals: What was not taken, and why.
        version: Where memory stands now.
        is_dropped: Nothing was written: words may have been erased since they were read.
    """

    items: tuple[Item, ...] = ()
    seen: tuple[ItemId, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    version: MemoryVersion = field(default_factory=MemoryVersion)
    is_dropped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """What is to be written, over memory as it stood; None for nothing."""

    version: MemoryVersion
    change: MemoryChange | None
    merge: Merge


_Decide = Callable[[], Awaitable[_Decision]]


@dataclass(frozen=True, slots=True)
class Rememberer:
    """Changes the memory of users. It holds nothing, so one may serve every session with one policy."""

    store: MemoryStore
    clock: Clock
    ids: Ids
    policy: MemoryPolicy
    stream: Stream = field(default_factory=Stream)
    patience: Patience = PATIENCE

    async def take(
        self,
        candidates: Sequence[Candidate],
        *,
        user_id: UserId,
        agent_id: AgentId,
        written_by: Writer,
        actor: str,
        of: Pass | None = None,
        session: SessionMemory | None = None,
        epoch: int | None = None,
    ) -> Remembered:
        """Merge candidates into the memory items.

        Args:
            candidates: In any order.
            user_id: Whose memory.
            agent_id: Which agent's notes.
            written_by: Which writer.
            actor: For the audit.
            of: What was read to find it; the extraction is recorded also where it found nothing.
            session: Is stored in the same change, whatever is stored by then.
            epoch: That of memory before the messages were read; in another one everything is dropped.

        Raises:
            ConflictError: others changed memory first for as long as `Patience` says.
        """

        async def decide() -> _Decision:
            version, known = await load_known(self.store, candidates, user_id, agent_id)
            if epoch is not None and version.epoch != epoch:
                return _Decision(version=version, change=None, merge=Merge())
            author = self._sign(user_id, agent_id, written_by)
            steps = plan_merge_stepwise(candidates, known, policy=self.policy, author=author, new_ids=self._new_ids())
            merge = await finish_pausing(steps)
            extraction = self._record(of, merge, author) if of else None
            if not merge.items and extraction is None and session is None:
                return _Decision(version=version, change=None, merge=merge)
            entry = _audit(author, "extract" if of else "write", actor, merge.seen, _count(merge))
            change = MemoryChange(
                user_id=user_id,
                agent_id=agent_id,
                expected=version,
                items=merge.items,
                extraction=extraction,
                session=session,
                audit=(entry,),
            )
            return _Decision(version=version, change=change, merge=merge)

        done = await self._write(user_id, decide)
        if epoch is not None and done.version.epoch != epoch:
            return Remembered(version=done.version, is_dropped=True)
        if of is not None:
            self._tell_extraction(of, done, self._sign(user_id, agent_id, written_by))
        return done

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
        """Add what a person enters, word for word. Over the budget the oldest items move to the archive.

        Raises:
            InvalidInputError: it cannot be taken; says why.
        """
        add = Add(statement=statement, tier=tier, item_kind=kind, valid_to=valid_to)

        async def decide() -> _Decision:
            author = self._sign(user_id, agent_id, written_by)
            candidate = enter_candidate(add, author)
            version, known = await load_known(self.store, [candidate], user_id, agent_id)
            merge = plan_add(candidate, known, policy=self.policy, author=author, new_ids=self._new_ids())
            return self._decide(version, author, merge, actor)

        return await self._write(user_id, decide)

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
        """Give an item another statement, and the item as it is now.

        Raises:
            NotFoundError: this user, or agent, has no such item.
            ConflictError: the item is at another revision; says what it is now.
            InvalidInputError: the statement cannot be taken, or the item is no more.
            ForbiddenError: the writer has less authority than the item.
        """

        async def decide() -> _Decision:
            version = await self.store.read_memory_version(user_id)
            item = (await self._read(item_id, user_id, agent_id, expected_revision))[-1]
            author = self._sign(user_id, agent_id or item.agent_id, written_by)
            edited = plan_edit(item, statement, now=author.now, written_by=written_by)
            return await self._decide_items(version, author, (edited,), actor)

        return _pick(await self._write(user_id, decide), item_id)

    async def release(
        self,
        item_id: ItemId,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        actor: str = "user",
    ) -> Item:
        """Let an item out of quarantine, as a person has looked at it; over the budget the oldest move to the archive.

        Raises:
            NotFoundError: this user, or agent, has no such item.
            ConflictError: the item is at another revision; says what it is now.
            InvalidInputError: the item is not in quarantine.
        """

        async def decide() -> _Decision:
            version = await self.store.read_memory_version(user_id)
            item = (await self._read(item_id, user_id, agent_id, expected_revision))[-1]
            author = self._sign(user_id, agent_id or item.agent_id, "user")
            released = plan_release(item, now=author.now)
            return await self._decide_items(version, author, (released,), actor, action="release")

        return _pick(await self._write(user_id, decide), item_id)

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

        Errors as in `edit`. Reads every superseded item of the user.
        """

        async def decide() -> _Decision:
            version = await self.store.read_memory_version(user_id)
            revisions = await self._read(item_id, user_id, agent_id, expected_revision)
            author = self._sign(user_id, agent_id or revisions[-1].agent_id, written_by)
            linked = await load_linked(self.store, revisions)
            undone = plan_undo(revisions, linked, now=author.now, written_by=written_by)
            return await self._decide_items(version, author, undone, actor)

        return (await self._write(user_id, decide)).items

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
            InvalidInputError: more than one item has it, or a statement cannot be taken.
            ForbiddenError: the writer has less authority than an item.
            LimitError: the block would be over its budget in the end.
        """

        async def decide() -> _Decision:
            author = self._sign(user_id, agent_id, written_by)
            entered = [enter_candidate(one, author) for one in operations if isinstance(one, Add)]
            version, known = await load_known(self.store, entered, user_id, agent_id)
            merge = plan_operations(operations, known, policy=self.policy, author=author, new_ids=self._new_ids())
            return self._decide(version, author, merge, actor)

        return await self._write(user_id, decide)

    async def list_block(self, user_id: UserId, agent_id: AgentId | None) -> list[Item]:
        """All active items of the block that the agent is shown, in the order in which memory first had them."""
        return await list_block_items(self.store, user_id, agent_id)

    # --- decisions

    def _sign(self, user_id: UserId, agent_id: AgentId, written_by: Writer) -> Author:
        return Author(user_id=user_id, agent_id=agent_id, written_by=written_by, now=self.clock.now())

    def _new_ids(self) -> Iterator[ItemId]:
        while True:
            yield ItemId(self.ids.new_id("itm_"))

    def _decide(
        self, version: MemoryVersion, author: Author, merge: Merge, actor: str, *, action: AuditAction = "write"
    ) -> _Decision:
        if not merge.items:
            return _Decision(version=version, change=None, merge=merge)
        change = MemoryChange(
            user_id=author.user_id,
            agent_id=author.agent_id,
            expected=version,
            items=merge.items,
            audit=(_audit(author, action, actor, merge.seen, _count(merge)),),
        )
        return _Decision(version=version, change=change, merge=merge)

    async def _decide_items(
        self,
        version: MemoryVersion,
        author: Author,
        items: tuple[Item, ...],
        actor: str,
        *,
        action: AuditAction = "write",
    ) -> _Decision:
        """What writes new revisions, and keeps the block within its budget."""
        block = await self.list_block(author.user_id, author.agent_id)
        fitted = fit_block(items, block, policy=self.policy, author=author)
        merge = Merge(items=fitted, seen=tuple(item.id for item in items))
        return self._decide(version, author, merge, actor, action=action)

    async def _write(self, user_id: UserId, decide: _Decide) -> Remembered:
        """Write what is decided, in turn with the user's other writers; decided again where memory has changed meanwhile."""

        async def attempt() -> Remembered | None:
            decision = await decide()
            version = decision.version
            if decision.change is not None:
                try:
                    version = await change_memory(self.store, decision.change, stream=self.stream)
                except ConflictError:
                    if await self.store.read_memory_version(user_id) == version:
                        raise  # it is no race: the same would be refused again
                    return None
            merge = decision.merge
            return Remembered(items=merge.items, seen=merge.seen, refusals=merge.refusals, version=version)

        return await write_in_turn(self.store, user_id, attempt, patience=self.patience)

    def _tell_extraction(self, of: Pass, done: Remembered, author: Author) -> None:
        self.stream.publish(
            ExtractionEnded(
                session_id=of.session_id,
                user_id=author.user_id,
                agent_id=author.agent_id,
                compaction_id=of.compaction_id,
                first_seq=of.first_seq,
                last_seq=of.last_seq,
                written_by=author.written_by,
                found_count=len(done.seen),
                refused_count=len(done.refusals),
            )
        )

    def _record(self, of: Pass, merge: Merge, author: Author) -> Extraction:
        return Extraction(
            id=self.ids.new_id("ext_"),
            user_id=author.user_id,
            agent_id=author.agent_id,
            session_id=of.session_id,
            compaction_id=of.compaction_id,
            first_seq=of.first_seq,
            last_seq=of.last_seq,
            written_by=author.written_by,
            made_at=author.now,
            items=merge.seen,
            counts=merge.counts,
            refused_count=len(merge.refusals),
        )

    # --- what a decision is made over

    async def _read(
        self, item_id: ItemId, user_id: UserId, agent_id: AgentId | None, expected_revision: int | None
    ) -> list[Item]:
        """Every revision of an item that this user, or agent, has; it is at the expected one."""
        revisions = await self.store.list_revisions(item_id)
        if revisions[-1].user_id != user_id or not is_visible(revisions[-1], agent_id):
            raise NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)
        require_revision(revisions[-1], expected_revision)
        return revisions


def _audit(author: Author, action: AuditAction, actor: str, about: Sequence[str], counts: dict[str, int]) -> AuditEntry:
    return AuditEntry(
        at=author.now,
        user_id=author.user_id,
        agent_id=author.agent_id or None,
        actor=actor,
        action=action,
        about=tuple(about),
        counts=tuple(counts.items()),
    )


def _count(merge: Merge) -> dict[str, int]:
    """What a merge wrote, by name; what is none is left out."""
    counts = Counter(_name(item) for item in merge.items)
    counts["refused"] = len(merge.refusals)
    return {name: count for name, count in sorted(counts.items()) if count}


def _name(item: Item) -> str:
    """What became of an item, in one word."""
    if item.status != "active":
        return item.status
    return "added" if item.revision == 1 else "archived" if item.shelf == "archive" else "changed"


def _pick(remembered: Remembered, item_id: ItemId) -> Item:
    return next(item for item in remembered.items if item.id == item_id)
