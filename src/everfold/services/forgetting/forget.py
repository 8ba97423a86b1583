"""Forget: what an erase of messages, sessions, items or topics does to memory, in one change of it.

Source: DESIGN G10 and section 4; docs/adr/0023-forgetting.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from everfold.core.forgetting.memory import (
    Forgotten,
    Gone,
    Past,
    forget_quotes,
    forget_topic,
    plan_forgetting,
    read_gone_words,
    scrub_dream,
)
from everfold.core.log.sessions import NO_END
from everfold.core.memory.files import FilePlace
from everfold.core.memory.items import Item, ItemId, ItemStatus, Tier, Writer
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.memory.topics import Dream, Topic, TopicId, choose_topic
from everfold.core.merging.edits import is_visible, plan_forget, require_authority, require_revision
from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import ConflictError, ForbiddenError, NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock
from everfold.services.dreams.dream import list_threat_kinds
from everfold.services.memory.list_items import list_agent_items
from everfold.services.memory.look_up import list_superseded
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import change_memory
from everfold.services.telling.tries import PATIENCE, Patience

_KEPT: Final[tuple[ItemStatus, ...]] = ("active", "superseded", "expired", "quarantined")
"""Of everything else there is nothing left to erase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErasure:
    """A change of memory that erases, and what it comes to."""

    change: MemoryChange
    forgotten: Forgotten


async def plan_memory_erasure(
    store: MemoryStore,
    version: MemoryVersion,
    gone: Gone,
    *,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    actor: str,
    about: Sequence[str],
) -> MemoryErasure:
    """What an erase of messages or sessions changes of memory. Writes nothing.

    The change raises the epoch in any case, so that nothing that was read before arrives after it.

    Args:
        store: Where memory is.
        version: That of memory before anything was read.
        gone: What is erased, under the ids of the sessions that store it.
        user_id: Whose.
        agent_id: Of the session.
        now: The present moment.
        actor: For the audit.
        about: What is erased, for the audit.
    """
    quoting: dict[ItemId, None] = {}
    for session_id, seqs in (*((id_, None) for id_ in gone.sessions), *((id_, [seq]) for id_, seq in gone.messages)):
        quoting |= dict.fromkeys(item.id for item in await store.find_quoting(session_id, seqs))
    histories = await store.list_histories(user_id, list(quoting))
    items = [forget_quotes(revisions, gone, now=now) for revisions in histories]
    forgotten = await _plan(store, user_id, items, [rows[-1] for rows in histories], gone, now)
    return _write(forgotten, version, user_id, agent_id, now, actor, about)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentForgotten:
    """What an agent had for itself, and has no more."""

    topics_count: int = 0
    items_count: int = 0
    files_count: int = 0


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Erases single items and topics of memory."""

    store: MemoryStore
    clock: Clock
    stream: Stream = field(default_factory=Stream)
    patience: Patience = PATIENCE

    async def forget_item(
        self,
        item_id: ItemId,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        writer: Writer = "user",
        actor: str = "user",
    ) -> Item:
        """Erase an item with all its revisions, and make again what drew on it; its id, places and hash stay.

        Raises:
            NotFoundError: this user, or agent, has no such item.
            ConflictError: the item is at another revision; says what it is now.
            ForbiddenError: the writer has less authority than the item.
        """

        async def attempt() -> Item | None:
            version = await self.store.read_memory_version(user_id)
            revisions = await self.store.list_revisions(item_id)
            last = revisions[-1]
            if last.user_id != user_id or not is_visible(last, agent_id):
                raise NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)
            require_revision(last, expected_revision)
            if writer == "agent":  # a person may erase whatever memory has of them
                require_authority(last, writer)
            now = self.clock.now()
            item = plan_forget(last, now=now, written_by="erase")
            gone = Gone(words=read_gone_words(_list_said(revisions)))
            forgotten = await _plan(self.store, user_id, [item], [last], gone, now)
            done = _write(forgotten, version, user_id, last.agent_id, now, actor, (item_id,))
            if await self._commit(done.change):
                return item
            return None

        return await write_in_turn(self.store, user_id, attempt, patience=self.patience)

    async def forget_topic(
        self,
        name: str,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        tier: Tier | None = None,
        of_agent: AgentId | None = None,
        expected_revision: int | None = None,
        writer: Writer = "user",
        actor: str = "user",
    ) -> tuple[TopicId, ...]:
        """Erase the topics with this name, with all their revisions. The items that they were made of stay.

        Args:
            name: Of the topics.
            user_id: Whose.
            agent_id: Who asks; None for the owner.
            tier: Only those of this tier.
            of_agent: Of the agent tier only those of this agent.
            expected_revision: That of the topic which the name means; see `choose_topic`.
            writer: Whose authority it is done with; an agent erases only what is its own.
            actor: For the audit.

        Raises:
            NotFoundError: this user, or agent, has no such topic.
            ConflictError: the topic is at another revision; says which.
            ForbiddenError: it is the user's, and an agent asks.
        """

        async def attempt() -> tuple[TopicId, ...] | None:
            version = await self.store.read_memory_version(user_id)
            histories: dict[TopicId, Topic] = {}
            for topic in await self.store.list_topic_revisions(user_id, agent_id, name):
                histories[topic.id] = topic
            topics = [
                one
                for one in histories.values()
                if one.status != "erased"
                and tier in (None, one.tier)
                and (one.tier == "user" or of_agent in (None, one.agent_id))
            ]
            _require_topic(name, topics, expected_revision, writer)
            now = self.clock.now()
            done = await self._plan_topics(version, topics, user_id, topics[0].agent_id, now, actor)
            if await self._commit(done.change):
                return tuple(sorted(topic.id for topic in topics))
            return None

        return await write_in_turn(self.store, user_id, attempt, patience=self.patience)

    async def forget_agent(self, agent_id: AgentId, *, user_id: UserId, actor: str = "user") -> AgentForgotten:
        """Erase all that one agent has for itself of a user, in one change: its files, topics and items, out of dreams too.

        What it shares with the user's other agents stays, and so do the messages. A second time counts nothing. O(what
        the agent is given, and the user's topics and dreams).
        """

        async def attempt() -> AgentForgotten | None:
            version = await self.store.read_memory_version(user_id)
            now = self.clock.now()
            known = await list_agent_items(self.store, user_id, agent_id, _KEPT)
            newest = [history[-1] for history in await self.store.list_topic_histories(user_id)]
            topics = [one for one in newest if _is_own(one, agent_id) and one.status != "erased"]
            items = [plan_forget(item, now=now, written_by="erase") for item in known]
            files = [file.place for file in await self.store.read_files(user_id) if file.agent_id == agent_id]
            done = await self._plan_topics(
                version, topics, user_id, agent_id, now, actor, items=items, files=files, forgotten_agent=agent_id
            )
            if done.forgotten.is_empty:
                await self.store.record_audit([_enter(done.forgotten, user_id, agent_id, now, actor, (agent_id,))])
                return AgentForgotten()
            if await self._commit(done.change):
                return AgentForgotten(topics_count=len(topics), items_count=len(items), files_count=len(files))
            return None

        return await write_in_turn(self.store, user_id, attempt, patience=self.patience)

    async def _plan_topics(
        self,
        version: MemoryVersion,
        topics: Sequence[Topic],
        user_id: UserId,
        agent_id: AgentId,
        now: datetime,
        actor: str,
        *,
        items: Sequence[Item] = (),
        files: Sequence[FilePlace] = (),
        forgotten_agent: AgentId | None = None,
    ) -> MemoryErasure:
        """What erases topics, out of dreams too, and these items and files with them; of an agent all that was its own."""
        ids = {topic.id for topic in topics}
        dreams: list[Dream] = []
        for dream in await self.store.list_dreams(user_id, None, limit_count=NO_END):
            kept = tuple(one for one in dream.topics if one.id not in ids and not _is_own(one, forgotten_agent))
            if kept != dream.topics:
                dreams.append(scrub_dream(dream, kept, now=now))
        gone = tuple(forget_topic(topic, now=now) for topic in topics)
        forgotten = Forgotten(items=tuple(items), topics=gone, dreams=tuple(dreams), gone_files=tuple(files))
        about = sorted(ids) if forgotten_agent is None else (forgotten_agent,)
        return _write(forgotten, version, user_id, agent_id, now, actor, about)

    async def _commit(self, change: MemoryChange) -> bool:
        try:
            await change_memory(self.store, change, stream=self.stream)
        except ConflictError:
            return False
        return True


async def _plan(
    store: MemoryStore,
    user_id: UserId,
    items: Sequence[Item],
    before: Sequence[Item],
    gone: Gone,
    now: datetime,
) -> Forgotten:
    """What becomes of memory with these new revisions of items, in place of those before."""
    again = frozenset(item.id for item in before if item.status == "erased")
    lost = [was for item, was in zip(items, before, strict=True) if item.status == "erased" and item.id not in again]
    past = Past(
        topics=tuple(map(tuple, await store.list_topic_histories(user_id))),
        dreams=tuple(await store.list_dreams(user_id, None, limit_count=NO_END)),
        files=tuple(await store.read_files(user_id)),
        superseded=tuple(await list_superseded(store, lost)),
    )
    wanted = past.list_wanted((item.id for item in items), gone.words)  # a topic may be imported without its items
    sources = {item.id: item for item in await store.read_items(user_id, None, list(wanted))}
    forgotten = plan_forgetting(items, gone, replace(past, sources=sources), now=now, scan=list_threat_kinds)
    return replace(forgotten, again=again)


def _write(
    forgotten: Forgotten,
    version: MemoryVersion,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    actor: str,
    about: Sequence[str],
) -> MemoryErasure:
    entry = _enter(forgotten, user_id, agent_id, now, actor, about)
    change = MemoryChange(
        user_id=user_id,
        agent_id=agent_id,
        expected=version,
        items=forgotten.items,
        topics=forgotten.topics,
        scrubbed=forgotten.dreams,
        files=forgotten.files,
        gone_files=forgotten.gone_files,
        audit=() if forgotten.is_empty else (entry,),
        has_erased=True,
    )
    return MemoryErasure(change=change, forgotten=forgotten)


def _enter(
    forgotten: Forgotten, user_id: UserId, agent_id: AgentId, now: datetime, actor: str, about: Sequence[str]
) -> AuditEntry:
    files_count = len(forgotten.files) + len(forgotten.gone_files)
    return AuditEntry(
        at=now,
        user_id=user_id,
        agent_id=agent_id,
        actor=actor,
        action="erase",
        about=tuple(about),
        counts=(
            ("items", len(forgotten.erased) + len(forgotten.kept)),
            ("topics", len(forgotten.topics)),
            *([("files", files_count)] if files_count else []),
        ),
    )


def _require_topic(name: str, topics: Sequence[Topic], expected_revision: int | None, writer: Writer) -> None:
    """Check that there is a topic with this name, that it is at this revision, and that the writer may erase it."""
    meant = choose_topic(topics)
    if meant is None:
        raise NotFoundError(f"there is no topic {name!r}; use the name of one that was listed", topic=name)
    if expected_revision not in (None, meant.revision):
        raise ConflictError(
            f"topic {meant.id} is at revision {meant.revision}, expected {expected_revision}: it was changed "
            "elsewhere; read it again, then decide",
            topic=meant.id,
            revision=meant.revision,
        )
    if writer == "agent" and any(topic.tier == "user" for topic in topics):
        raise ForbiddenError(
            f"topic {name!r} is the user's, and agents may not erase it; use the tier `agent`", topic=name
        )


def _is_own(topic: Topic, agent_id: AgentId | None) -> bool:
    """Whether an agent has a topic for itself."""
    return (topic.tier, topic.agent_id) == ("agent", agent_id)


def _list_said(revisions: Sequence[Item]) -> list[str]:
    return [text for item in revisions for text in (item.statement, *(one.quote for one in item.evidence))]
