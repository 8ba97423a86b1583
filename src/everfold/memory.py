"""The Memory handle: what a library user does with what is known of one person."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from everfold.core.dreams.topic_lines import hide_ids, show_topic
from everfold.core.log.messages import Message, Role
from everfold.core.memory.files import MemoryFile
from everfold.core.memory.items import Evidence, Item, ItemId, ItemKind, ItemStatus, Tier
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import AuditAction, AuditEntry, AuditPlace, Extraction, MemoryVersion
from everfold.core.memory.topics import Dream, DreamId, Topic, TopicId, choose_topic
from everfold.core.merging.edits import is_visible
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.listing import require_page_size
from everfold.core.primitives.moments import require_aware
from everfold.errors import ForbiddenError, InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.check_arguments import checked
from everfold.services.dreams.diff_dream import TopicDiff, diff_dream
from everfold.services.forgetting.forget import AgentForgotten
from everfold.services.memory.list_items import (
    ItemPage,
    ItemQuery,
    list_agent_items,
    list_matching_items,
    list_whole,
    show_item,
)
from everfold.services.memory.measure_budgets import Budget, measure_budgets
from everfold.services.memory.read_audit import AuditPage, read_audit
from everfold.services.sessions.search import choose_filter
from everfold.services.sessions.search_all import Found, ItemHit, Place, search_all, search_items
from everfold.services.turns.agent_memory import AgentMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """One source of an item; the message is None if it was erased."""

    evidence: Evidence
    message: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicIndex:
    """The topics of a user that hold now, by name, and where memory stands."""

    version: MemoryVersion
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIndex:
    """What one agent has for itself: its topics by name, and how many active items."""

    topics: tuple[Topic, ...]
    items_count: int


@checked
class Memory:
    """The memory of one user, as the user or as one agent sees it.

    Get one from `Everfold.memory`. Only the user and that agent see items of the agent tier.
    """

    def __init__(
        self,
        *,
        store: Store,
        user_id: UserId,
        agent_id: AgentId,
        is_owner: bool,
        memory: AgentMemory,
        policy_of: Callable[[AgentId], MemoryPolicy],
        writer: Literal["user", "agent"] = "user",
    ) -> None:
        self._store = store
        self._memory = memory
        self._policy_of = policy_of
        self._writer = writer
        self._agent_id = agent_id
        self._scope: AgentId | None = None if is_owner else agent_id
        self._user_id = user_id

    @property
    def user_id(self) -> UserId:
        """The id of the user whose memory it is."""
        return self._user_id

    async def version(self) -> MemoryVersion:
        """The version of memory: a revision that every change raises, and an epoch that every erase raises."""
        return await self._store.read_memory_version(self.user_id)

    async def items(
        self,
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        after: str | None = None,
        limit: int = 100,
    ) -> list[Item]:
        """List items, the oldest first; `after` is the last id of the page before.

        An active item past its end is listed with the expired ones.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000, or there is no such status.
            NotFoundError: no item has the id `after`.
        """
        return await list_whole(
            self._store,
            self.user_id,
            self._scope,
            self._query(statuses),
            after=None if after is None else ItemId(after),
            limit_count=require_page_size(limit),
        )

    async def find_items(
        self,
        text: str = "",
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        kind: ItemKind | None = None,
        tier: Tier | None = None,
        agent: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> ItemPage:
        """Find items by kind, tier or text, page by page; with an agent only those that it sees.

        With a text, active items come best first on one page; without, the oldest first.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            ForbiddenError: this handle sees another agent only.
            NotFoundError: no item has the id `after`.
        """
        return await list_matching_items(
            self._store,
            self.user_id,
            self._narrow(agent),
            replace(self._query(statuses), kind=kind, tier=tier, text=text),
            after=None if after is None else ItemId(after),
            limit_count=require_page_size(limit),
        )

    def _query(self, statuses: Sequence[ItemStatus]) -> ItemQuery:
        return ItemQuery(now=self._now(), statuses=statuses, has_held_back=self._shows_held_back)

    def _narrow(self, agent: str | None) -> AgentId | None:
        """The agent whose view is asked for; this handle's own where none is."""
        if agent is None:
            return self._scope
        if self._scope not in (None, agent):
            raise ForbiddenError(f"this shows what the agent {self._scope!r} knows, not {agent!r}", agent=agent)
        return AgentId(agent)

    async def quarantine(self, *, limit: int = 100) -> list[Item]:
        """List the items that the threat scan held back; no model is shown them."""
        return await self.items(statuses=("quarantined",), limit=limit)

    async def release(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Release an item from quarantine after a person has read it. No tool for agents does this.

        The same words pass later scans; an edit of them is scanned again.

        Raises:
            NotFoundError: this user has no such item.
            InvalidInputError: the item is not in quarantine.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
            ForbiddenError: this handle writes as an agent.
        """
        if self._writer == "agent":
            raise ForbiddenError(f"item {item_id} is quarantined, and only the user may release it", item=item_id)
        return await self._memory.rememberer.release(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            actor=actor,
        )

    async def item(self, item_id: str) -> list[Item]:
        """Return every revision of an item, oldest first; the last one is current, "expired" where its end is past.

        Raises:
            NotFoundError: this user has no such item, or it is another agent's, or in quarantine for an agent's handle.
        """
        revisions = await self._list_shown(item_id)
        if not revisions:
            raise NotFoundError(f"this user's memory has no item {item_id!r}; list the items", item=item_id)
        return revisions

    async def _list_shown(self, item_id: str) -> list[Item]:
        """The revisions of an item that this handle shows, oldest first; none where it does not show the newest.

        Raises:
            NotFoundError: no user has such an item.
        """
        *older, newest = await self._store.list_revisions(ItemId(item_id))
        if not self._shows_item(newest):
            return []
        return [*filter(self._shows_item, older), show_item(newest, self._now())]

    def _shows_item(self, item: Item) -> bool:
        is_own = item.user_id == self.user_id and is_visible(item, self._scope)
        return is_own and (self._shows_held_back or not item.is_held_back)

    @property
    def _shows_held_back(self) -> bool:
        """Whether what a scan has held back is shown: to the user, never to an agent."""
        return self._writer != "agent"

    async def _require_shown(self, item_id: str) -> None:
        """Refuse to change for an agent what it is not shown.

        Raises:
            NotFoundError: this handle shows no such item.
        """
        if not self._shows_held_back:
            await self.item(item_id)

    async def why(self, item_id: str) -> list[Because]:
        """Return the source messages of an item and of the items it replaced, oldest first.

        An agent gets messages of its own sessions only; of others it gets the quote.

        Raises:
            NotFoundError: this user has no such item.
        """
        found: dict[tuple[str, int, int], Evidence] = {}
        revisions = await self.item(item_id)
        while revisions:
            found |= {(one.session_id, one.seq, one.start): one for it in revisions for one in it.evidence}
            replaced = next((it.supersedes for it in reversed(revisions) if it.supersedes), None)
            revisions = [] if replaced is None else await self._list_shown(replaced)
        return [
            Because(evidence=one, message=await self._find_message(one))
            for one in sorted(found.values(), key=lambda it: (it.said_at, it.session_id, it.seq))
        ]

    async def _find_message(self, evidence: Evidence) -> Message | None:
        try:
            session = await self._store.get_session(evidence.session_id)
            if session.user_id != self.user_id or (self._scope is not None and session.agent_id != self._scope):
                return None  # an import may name any session
            messages = await self._store.read_messages(evidence.session_id, [evidence.seq])
        except NotFoundError:
            return None
        return messages[0] if messages else None

    async def search(self, question: str, *, limit: int = 10) -> list[ItemHit]:
        """Search active items by words, best first, archived ones too; none past its end."""
        count = require_page_size(limit)
        return await search_items(self._store, question, self.user_id, self._scope, now=self._now(), limit_count=count)

    async def search_all(
        self,
        question: str,
        *,
        places: Collection[Place] = ("messages", "items", "topics"),
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Found:
        """Search messages, items and topics, each best first.

        Args:
            question: In words.
            places: Where to look.
            limit: How many of each at most.
            roles: Of messages only those in these roles.
            since: Of messages only those said then or later; aware.
            until: Of messages only those said before then; aware.

        Raises:
            InvalidInputError: the limit is not between 1 and 200, there is no such place or role, a time has no zone, or
                `since` is not before `until`.
        """
        return await search_all(
            self._store,
            question,
            user_id=self.user_id,
            agent_id=self._scope,
            places=places,
            now=self._now(),
            limit_count=limit,
            only=choose_filter(roles=roles, since=since, until=until),
        )

    async def budgets(self) -> tuple[Budget, ...]:
        """How much of its budget each tier of the block takes: the user tier first, then agents."""
        return await measure_budgets(
            self._store,
            self.user_id,
            None if self._scope is None else [self._scope],
            policy_of=self._policy_of,
            fallback=self._agent_id,
            now=self._now(),
        )

    async def add(
        self,
        statement: str,
        *,
        tier: Tier = "user",
        kind: ItemKind = "fact",
        agent: str | None = None,
        valid_to: datetime | None = None,
        actor: str = "user",
    ) -> Item:
        """Add an item, word for word. If an equal item exists, it is only seen again.

        In the agent tier it is a note of the named agent, or of this handle's. If the scan finds a threat, the item is
        quarantined and has that status.

        Raises:
            InvalidInputError: it is empty, was forgotten before, or contradicts an item of more authority; or its end has
                no time zone.
            ForbiddenError: this handle writes for another agent only.
        """
        done = await self._memory.rememberer.add(
            statement,
            user_id=self.user_id,
            agent_id=self._narrow(agent) or self._agent_id,
            tier=tier,
            kind=kind,
            valid_to=valid_to,
            written_by=self._writer,
            actor=actor,
        )
        if not done.seen:
            reasons = "; ".join(refusal.reason for refusal in done.refusals) or "nothing of it could be kept"
            raise InvalidInputError(f"this was not taken into memory: {reasons}")
        written = {item.id: item for item in done.items}
        return written.get(done.seen[0]) or (await self._store.list_revisions(done.seen[0]))[-1]

    async def edit(
        self, item_id: str, statement: str, *, expected_revision: int | None = None, actor: str = "user"
    ) -> Item:
        """Change the statement of an item; its evidence stays.

        Args:
            item_id: The item.
            statement: The new statement.
            expected_revision: The revision that the caller has read; None accepts any.
            actor: Who changes it, for the audit.

        Raises:
            NotFoundError: this user has no such item.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        await self._require_shown(item_id)
        return await self._memory.rememberer.edit(
            ItemId(item_id),
            statement,
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            written_by=self._writer,
            actor=actor,
        )

    async def forget(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Erase an item with all its revisions, also from topics and dreams; its id stays. Errors as in `edit`.

        Its source messages stay; see `Session.erase`.
        """
        await self._require_shown(item_id)
        forgotten = await self._memory.forgetter.forget_item(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            writer=self._writer,
            actor=actor,
        )
        return show_item(forgotten, self._now())

    async def forget_topic(
        self,
        name: str,
        *,
        tier: Tier | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        actor: str = "user",
    ) -> tuple[TopicId, ...]:
        """Erase the topics with this name and all their revisions, also from dreams; their items stay.

        Args:
            name: Of the topics.
            tier: Only those of this tier.
            agent: Of the agent tier only those of this agent.
            expected_revision: Of the topic that `get_topic` gives; None takes any.
            actor: For the audit.

        Raises:
            NotFoundError: this user has no such topic.
            ConflictError: the topic is at another revision; nothing was changed.
        """
        require_choice("tier", tier, Tier, or_none=True)
        return await self._memory.forgetter.forget_topic(
            name,
            user_id=self.user_id,
            agent_id=self._scope,
            tier=tier,
            of_agent=self._narrow(agent),
            expected_revision=expected_revision,
            writer=self._writer,
            actor=actor,
        )

    async def agent_index(self, agent: str) -> AgentIndex:
        """Return the topics of the tier of one agent, by name, and the number of its active items.

        Raises:
            ForbiddenError: this handle sees another agent only.
        """
        agent_id = self._narrow(agent) or AgentId(agent)
        topics = await self._list_current(agent_id)
        items = await list_agent_items(self._store, self.user_id, agent_id, ("active",))
        return AgentIndex(
            topics=tuple(one for one in topics if (one.tier, one.agent_id) == ("agent", agent_id)),
            items_count=len(items),
        )

    async def list_files(self) -> list[MemoryFile]:
        """List the files that agents keep about the user, by agent and path; a handle of an agent sees its own.

        See `Everfold.memory_files` to read and write them one by one.
        """
        files = await self._store.read_files(self.user_id)
        return [file for file in files if self._scope in (None, file.agent_id)]

    async def forget_agent(self, agent: str, *, actor: str = "user") -> AgentForgotten:
        """Erase the topics and items of the tier of one agent, in one change.

        Raises:
            ForbiddenError: this handle writes for another agent only.
        """
        agent_id = self._narrow(agent) or AgentId(agent)
        return await self._memory.forgetter.forget_agent(agent_id, user_id=self.user_id, actor=actor)

    async def undo(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> list[Item]:
        """Undo the last change of an item and of the items that changed with it. Errors as in `edit`.

        Raises:
            ForbiddenError: an agent uses this handle, and the item was in quarantine.
        """
        if not self._shows_held_back:
            await self._require_never_held_back(item_id)
        undone = await self._memory.rememberer.undo(
            ItemId(item_id),
            user_id=self.user_id,
            agent_id=self._scope,
            expected_revision=expected_revision,
            written_by=self._writer,
            actor=actor,
        )
        return [undone[0], *(one for one in undone[1:] if self._shows_held_back or not one.is_held_back)]

    async def _require_never_held_back(self, item_id: str) -> None:
        shown = await self.item(item_id)
        if len(shown) < len(await self._store.list_revisions(ItemId(item_id))):
            raise ForbiddenError(
                f"item {item_id} was in quarantine, and only the user may undo its change", item=item_id
            )

    async def topics(self, *, include_expired: bool = False) -> list[Topic]:
        """List the current topics, by tier and name.

        Args:
            include_expired: Include topics past their end.
        """
        if include_expired:
            return self._show_topics(await self._store.list_topics(self.user_id, self._scope))
        return await self._list_current(self._scope)

    async def topic_index(self) -> TopicIndex:
        """Return the current topics by name, and the version of memory, without topics past their end."""
        version = await self.version()
        topics = await self._list_current(self._scope)
        return TopicIndex(version=version, topics=tuple(sorted(topics, key=lambda one: (one.name, one.tier != "user"))))

    async def _list_current(self, agent_id: AgentId | None) -> list[Topic]:
        now = self._now()
        topics = await self._store.list_topics(self.user_id, agent_id)
        return [show_topic(topic, now) for topic in topics if topic.is_current(now)]

    async def get_topic(self, name: str, *, tier: Tier | None = None, agent: str | None = None) -> list[Topic]:
        """Return every revision of a topic, oldest first; the last one is current.

        If several topics have the name, an active one and one of the user tier come first.

        Raises:
            NotFoundError: there is none, or it is past its end, or erased.
            ForbiddenError: this handle sees another agent only.
        """
        require_choice("tier", tier, Tier, or_none=True)
        of_agent, now = self._narrow(agent), self._now()
        found = {topic.id: topic for topic in await self._store.list_topic_revisions(self.user_id, self._scope, name)}
        named = [topic for topic in found.values() if tier in (None, topic.tier) and self._shows(topic, now)]
        meant = choose_topic(topic for topic in named if topic.tier == "user" or of_agent in (None, topic.agent_id))
        if meant is None:
            raise NotFoundError(f"this user's memory has no topic {name!r}; list them", topic=name)
        revisions = await self._store.list_topic_revisions(self.user_id, self._scope, name)
        *older, newest = [topic for topic in revisions if topic.id == meant.id]
        return [*self._show_topics(older), show_topic(newest, now)]

    def _show_topics(self, topics: Sequence[Topic]) -> list[Topic]:
        return [hide_ids(one) for one in topics if self._shows_held_back or one.status != "quarantined"]

    def _shows(self, topic: Topic, now: datetime) -> bool:
        """What holds now is shown; what a scan has held back to the owner only."""
        return topic.is_current(now) or (topic.status == "quarantined" and self._scope is None)

    def _now(self) -> datetime:
        return self._memory.rememberer.clock.now()

    async def topic_history(self, name: str) -> list[Topic]:
        """Return every revision of the topics with a name, oldest first.

        Raises:
            NotFoundError: there never was one, or this handle shows none of them.
        """
        revisions = self._show_topics(await self._store.list_topic_revisions(self.user_id, self._scope, name))
        if not revisions:
            raise NotFoundError(f"this user's memory has no topic {name!r}; list them", topic=name)
        return revisions

    async def dream(self, *, agent: str | None = None, actor: str | None = None) -> Dream | None:
        """Run a dream now; None if there is nothing new, or a dream is running.

        Args:
            agent: With whom; None for this handle's agent.
            actor: Who asked for it, for the audit, beside the dreamer itself.

        Raises:
            ForbiddenError: this handle is of another agent.
        """
        dream = await self._memory.dreamer.dream(self.user_id, self._narrow(agent) or self._agent_id)
        if dream is not None and actor is not None:
            await self._record("dream", actor, (dream.id,), dream.agent_id)
        return dream and _show_dream(dream)

    async def dream_diff(self, dream_id: str) -> tuple[TopicDiff, ...]:
        """Return the changes of a dream for each topic, their items, and what the new text lost. Errors as `get_dream`."""
        return await diff_dream(self._store, await self.get_dream(dream_id))

    async def dreams(self, *, limit: int = 100) -> list[Dream]:
        """List dreams, newest first: what each wrote, from which items, and its cost."""
        dreams = await self._store.list_dreams(self.user_id, self._scope, limit_count=require_page_size(limit))
        return [_show_dream(dream) for dream in dreams]

    async def get_dream(self, dream_id: str) -> Dream:
        """Return one dream.

        Raises:
            NotFoundError: this user has no such dream, or it is another agent's.
        """
        dream = await self._store.get_dream(DreamId(dream_id))
        if dream.user_id != self.user_id or self._scope not in (None, dream.agent_id):
            raise NotFoundError(f"this user's memory has no dream {dream_id!r}; list them", dream=dream_id)
        return _show_dream(dream)

    async def approve(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Apply a proposed dream.

        Raises:
            NotFoundError: this user has no such dream.
            ConflictError: it is not proposed, or memory has changed too much.
        """
        return _show_dream(await self._memory.dreamer.approve((await self.get_dream(dream_id)).id, actor=actor))

    async def reject(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Drop a proposed dream. Errors as in `approve`."""
        return _show_dream(await self._memory.dreamer.reject((await self.get_dream(dream_id)).id, actor=actor))

    async def revert(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Restore the topics that a dream changed. Errors as in `approve`."""
        return _show_dream(await self._memory.dreamer.revert((await self.get_dream(dream_id)).id, actor=actor))

    async def extractions(self, *, after: int = 0, limit: int = 100) -> list[Extraction]:
        """List extractions with what they found, oldest first; `after` is the last ordinal of the page before."""
        return await self._store.list_extractions(
            self.user_id, self._scope, after_ordinal=after, limit_count=require_page_size(limit)
        )

    async def latest_extractions(self, *, before: int | None = None, limit: int = 100) -> list[Extraction]:
        """The same from the newest on; `before` is the last ordinal of the page before."""
        return await self._store.list_latest_extractions(
            self.user_id, self._scope, before_ordinal=before, limit_count=require_page_size(limit)
        )

    async def audit_page(
        self,
        *,
        action: AuditAction | None = None,
        before: AuditPlace | None = None,
        limit: int = 100,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> AuditPage:
        """Return a page of the audit, newest first, and whether sessions that it names were erased.

        Args:
            action: Only this one.
            before: The place that the page before gave.
            limit: The most to give.
            since: Only entries of then or later.
            until: Only entries from before then.

        Raises:
            InvalidInputError: there is no such action, or a time has no zone.
        """
        return await read_audit(
            self._store,
            self.user_id,
            action=action,
            before=before or (None if until is None else AuditPlace(until)),
            limit_count=require_page_size(limit),
            since=since,
        )

    async def audit(self, *, before: datetime | AuditEntry | None = None, limit: int = 100) -> list[AuditEntry]:
        """List what was read, written and erased, and by whom, newest first.

        Args:
            before: Only what was before a moment; or the last entry of the page before, for the next one.
            limit: The most to give.

        Raises:
            InvalidInputError: the moment has no time zone.
        """
        place = None
        if before is not None:
            place = AuditPlace(before.at, before.ordinal) if isinstance(before, AuditEntry) else AuditPlace(before)
            require_aware("before", place.at)
        return await self._store.list_audit(self.user_id, before=place, limit_count=require_page_size(limit))

    async def note_read(self, *, actor: str, about: Sequence[str] = ()) -> None:
        """Record in the audit that a program has read this memory.

        Args:
            actor: Who read.
            about: What, in ids or the path of a request; never words of it.
        """
        is_known = await self._store.find_user(self.user_id) is not None
        if is_known:  # an unknown user has nothing to read, and looking creates no user
            await self._record("read", actor, about, self._scope)

    async def _record(self, action: AuditAction, actor: str, about: Sequence[str], agent_id: AgentId | None) -> None:
        entry = AuditEntry(
            at=self._now(), user_id=self.user_id, agent_id=agent_id, actor=actor, action=action, about=tuple(about)
        )
        await self._store.record_audit([entry])


def _show_dream(dream: Dream) -> Dream:
    """A dream as it is shown: the lines of its topics do not name their items' ids."""
    return replace(dream, topics=tuple(map(hide_ids, dream.topics)))
