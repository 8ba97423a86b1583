"""The Memory handle: what a library user does with what is known of one person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from everfold.core.items import Evidence, Item, ItemId, ItemKind, ItemStatus, Tier
from everfold.core.memory import AuditEntry, AuditPlace, Extraction, MemoryHead
from everfold.core.messages import Message
from everfold.core.searching import plan_query
from everfold.core.sessions import AgentId, UserId
from everfold.core.topics import Dream, DreamId, Topic, TopicId
from everfold.errors import InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.agent_memory import AgentMemory

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """One place where an item was said; the message is None where it was erased."""

    evidence: Evidence
    message: Message | None


class Memory:
    """What is known of one user: as their owner sees it, or as one agent does.

    Get one from `Everfold.memory`. Items of the agent tier are seen by that agent and by the owner only.
    """

    def __init__(
        self, *, store: Store, user_id: UserId, agent_id: AgentId, is_owner: bool, memory: AgentMemory
    ) -> None:
        self._store = store
        self._memory = memory
        self._agent_id = agent_id
        self._scope: AgentId | None = None if is_owner else agent_id
        self.user_id = user_id

    async def head(self) -> MemoryHead:
        """Where memory stands: a revision that every change raises, and an epoch that every erase raises."""
        return await self._store.read_head(self.user_id)

    async def items(
        self,
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        after: str | None = None,
        limit: int = 100,
    ) -> list[Item]:
        """Items in the order in which memory first had them; `after` is the last id of the page before.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: no item has the id `after`.
        """
        return await self._store.list_items(
            self.user_id,
            self._scope,
            statuses=statuses,
            after=None if after is None else ItemId(after),
            limit_count=_check_limit(limit),
        )

    async def quarantine(self, *, limit: int = 100) -> list[Item]:
        """Items that a scan held back: visible here, never shown to a model."""
        return await self.items(statuses=("quarantined",), limit=limit)

    async def release(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Let an item out of quarantine: for the person whose memory it is, or an operator, who has read it. No tool does it.

        The same words are not held back again; other words of the item are scanned as ever.

        Raises:
            NotFoundError: this user has no such item.
            InvalidInputError: the item is not in quarantine.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        return await self._memory.rememberer.release(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            actor=actor,
        )

    async def item(self, item_id: str) -> list[Item]:
        """Every revision of an item, oldest first; the last is what it is now.

        Raises:
            NotFoundError: this user has no such item, or it is another agent's.
        """
        revisions = await self._store.list_revisions(ItemId(item_id))
        now = revisions[-1]
        is_hidden = self._scope is not None and now.tier == "agent" and now.agent_id != self._scope
        if now.user_id != self.user_id or is_hidden:
            raise NotFoundError(f"this user's memory has no item {item_id!r}; list it", item=item_id)
        return revisions

    async def why(self, item_id: str) -> list[Because]:
        """The exact messages behind an item, oldest first; those of what it replaced too.

        Raises:
            NotFoundError: this user has no such item.
        """
        found: dict[tuple[str, int, int], Evidence] = {}
        wanted: str | None = item_id
        while wanted is not None:
            revisions = await self.item(wanted)
            found |= {(one.session_id, one.seq, one.start): one for it in revisions for one in it.evidence}
            wanted = next((it.supersedes for it in reversed(revisions) if it.supersedes), None)
        return [
            Because(evidence=one, message=await self._find_message(one))
            for one in sorted(found.values(), key=lambda it: (it.said_at, it.session_id, it.seq))
        ]

    async def _find_message(self, evidence: Evidence) -> Message | None:
        try:
            messages = await self._store.read_messages(evidence.session_id, [evidence.seq])
        except NotFoundError:
            return None
        return messages[0] if messages else None

    async def search(self, question: str, *, limit: int = 10) -> list[tuple[Item, float]]:
        """Active items that share words with a question, best first, archived ones too; scores are of one search only."""
        return await self._store.search_items(
            plan_query(question), self.user_id, self._scope, limit_count=_check_limit(limit)
        )

    async def add(
        self,
        statement: str,
        *,
        tier: Tier = "user",
        kind: ItemKind = "fact",
        valid_to: datetime | None = None,
        actor: str = "user",
    ) -> Item:
        """Add what a person enters, word for word. What says the same already is only seen again.

        What a scan finds a threat in is quarantined: it comes back with that status.

        Raises:
            InvalidInputError: it is empty, or says what was forgotten, or what an item of more authority denies.
        """
        done = await self._memory.rememberer.add(
            statement,
            user_id=self.user_id,
            agent_id=self._agent_id,
            tier=tier,
            kind=kind,
            valid_to=valid_to,
            actor=actor,
        )
        if not done.seen:
            reasons = "; ".join(refusal.reason for refusal in done.refusals) or "nothing of it could be kept"
            raise InvalidInputError(f"this was not taken into memory: {reasons}")
        return (await self._store.list_revisions(done.seen[0]))[-1]

    async def edit(
        self, item_id: str, statement: str, *, expected_revision: int | None = None, actor: str = "user"
    ) -> Item:
        """Give an item another statement; its evidence stays.

        Args:
            item_id: Which.
            statement: What it says from now on.
            expected_revision: The revision that the caller saw; None takes any.
            actor: For the audit.

        Raises:
            NotFoundError: this user has no such item.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        return await self._memory.rememberer.edit(
            ItemId(item_id),
            statement,
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            actor=actor,
        )

    async def forget(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Erase an item with all its revisions, out of topics and dreams too; its id stays. Errors as in `edit`.

        The messages that said it stay; see `Session.erase`.
        """
        return await self._memory.forgetter.forget_item(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            actor=actor,
        )

    async def forget_topic(self, name: str, *, tier: Tier | None = None, actor: str = "user") -> tuple[TopicId, ...]:
        """Erase the topics with this name, with all their revisions, out of dreams too; their items stay.

        Raises:
            NotFoundError: this user has no such topic.
        """
        return await self._memory.forgetter.forget_topic(
            name, user_id=self.user_id, agent_id=self._scope, tier=tier, actor=actor
        )

    async def undo(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> list[Item]:
        """Take back the last change of an item, with what changed beside it; the item first. Errors as in `edit`."""
        undone = await self._memory.rememberer.undo(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            actor=actor,
        )
        return list(undone)

    async def topics(self) -> list[Topic]:
        """Active topics by tier and name."""
        return await self._store.list_topics(self.user_id, self._scope)

    async def topic(self, name: str) -> list[Topic]:
        """Every revision of the topics with a name, oldest first.

        Raises:
            NotFoundError: there never was one.
        """
        revisions = await self._store.list_topic_revisions(self.user_id, self._scope, name)
        if not revisions:
            raise NotFoundError(f"this user's memory has no topic {name!r}; list them", topic=name)
        return revisions

    async def dream(self) -> Dream | None:
        """Consolidate now what no dream has read yet; None when there is nothing, or one is on its way."""
        return await self._memory.dreamer.dream(self.user_id, self._agent_id)

    async def dreams(self, *, limit: int = 100) -> list[Dream]:
        """Dreams, newest first: what each wrote, from which items, and what it cost."""
        return await self._store.list_dreams(self.user_id, self._scope, limit_count=_check_limit(limit))

    async def get_dream(self, dream_id: str) -> Dream:
        """One dream.

        Raises:
            NotFoundError: this user has no such dream, or it is another agent's.
        """
        dream = await self._store.get_dream(DreamId(dream_id))
        if dream.user_id != self.user_id or self._scope not in (None, dream.agent_id):
            raise NotFoundError(f"this user's memory has no dream {dream_id!r}; list them", dream=dream_id)
        return dream

    async def approve(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Carry out a proposed dream.

        Raises:
            NotFoundError: this user has no such dream.
            ConflictError: it is not proposed, or memory has moved on too far.
        """
        return await self._memory.dreamer.approve((await self.get_dream(dream_id)).id, actor=actor)

    async def reject(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Drop a proposed dream. Errors as in `approve`."""
        return await self._memory.dreamer.reject((await self.get_dream(dream_id)).id, actor=actor)

    async def revert(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Bring back the topics that a dream changed. Errors as in `approve`."""
        return await self._memory.dreamer.revert((await self.get_dream(dream_id)).id, actor=actor)

    async def extractions(self, *, after: int = 0, limit: int = 100) -> list[Extraction]:
        """Every pass over messages, and what it found; `after` is the last ordinal of the page before."""
        return await self._store.list_extractions(
            self.user_id, self._scope, after_ordinal=after, limit_count=_check_limit(limit)
        )

    async def audit(self, *, before: datetime | AuditEntry | None = None, limit: int = 100) -> list[AuditEntry]:
        """What was read, written and erased, by whom, newest first.

        Args:
            before: Only what was before a moment; or the last entry of the page before, for the next one.
            limit: The most to give.
        """
        place = None
        if before is not None:
            place = AuditPlace(before.at, before.ordinal) if isinstance(before, AuditEntry) else AuditPlace(before)
        return await self._store.list_audit(self.user_id, before=place, limit_count=_check_limit(limit))

    async def note_read(self, *, actor: str, about: Sequence[str] = ()) -> None:
        """Have the audit say that this memory was read, for what shows it to somebody: a server, an export of one's own.

        Args:
            actor: Who read.
            about: What, in ids or the path of a request; never words of it.
        """
        entry = AuditEntry(
            at=self._memory.rememberer.clock.now(),
            user_id=self.user_id,
            agent_id=self._scope,
            actor=actor,
            action="read",
            about=tuple(about),
        )
        await self._store.record_audit([entry])


def _check_limit(limit: int) -> int:
    if not 1 <= limit <= MOST_LISTED:
        raise InvalidInputError(f"a page has 1 to {MOST_LISTED} entries, got {limit}")
    return limit
