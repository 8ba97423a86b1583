"""Forget: what an erase of messages, sessions, items or topics does to memory, in one change of it.

Source: DESIGN G10 and section 4; docs/adr/0023-forgetting.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everfold.core.forgetting import (
    Forgotten,
    Gone,
    Past,
    forget_quotes,
    forget_topic,
    plan_forgetting,
    read_gone_words,
    scrub_dream,
)
from everfold.core.items import Item, ItemId
from everfold.core.ledger_edits import is_visible, plan_forget, require_revision
from everfold.core.memory import AuditEntry, MemoryChange, MemoryHead
from everfold.core.sessions import NO_END, AgentId, UserId
from everfold.core.topics import Topic, TopicId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock
from everfold.services.dream import list_threat_kinds
from everfold.services.remember import MOST_TRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErasure:
    """A change of memory that erases, and what it comes to."""

    change: MemoryChange
    forgotten: Forgotten


async def plan_memory_erasure(
    store: MemoryStore,
    head: MemoryHead,
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
        head: That of memory before anything was read.
        gone: What is erased, under the ids of the sessions that store it.
        user_id: Whose.
        agent_id: Of the session.
        now: The present moment.
        actor: For the audit.
        about: What is erased, for the audit.
    """
    former: dict[ItemId, list[Item]] = {}
    for session_id, seq in (*((id_, None) for id_ in gone.sessions), *gone.messages):
        for item in await store.find_quoting(session_id, seq):
            former.setdefault(item.id, await store.list_revisions(item.id))
    items = [
        forget_quotes(revisions, gone, now=now) for revisions in former.values() if revisions[-1].user_id == user_id
    ]
    forgotten = await _plan(store, user_id, items, gone, now)
    return _write(forgotten, head, user_id, agent_id, now, actor, about)


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Erases single items and topics of memory."""

    store: MemoryStore
    clock: Clock

    async def forget_item(
        self,
        item_id: ItemId,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        expected_revision: int | None = None,
        actor: str = "user",
    ) -> Item:
        """Erase an item with all its revisions, and make again what drew on it; its id and the hash of its words stay.

        Raises:
            NotFoundError: this user, or agent, has no such item.
            ConflictError: the item is at another revision; says what it is now.
        """
        for _ in range(MOST_TRIES):
            head = await self.store.read_head(user_id)
            revisions = await self.store.list_revisions(item_id)
            last = revisions[-1]
            if last.user_id != user_id or not is_visible(last, agent_id):
                raise NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)
            require_revision(last, expected_revision)
            now = self.clock.now()
            item = plan_forget(last, now=now, written_by="erase")
            gone = Gone(words=read_gone_words(_list_said(revisions)))
            forgotten = await _plan(self.store, user_id, [item], gone, now)
            done = _write(forgotten, head, user_id, last.agent_id, now, actor, (item_id,))
            if await self._commit(done.change):
                return item
        raise _refuse(user_id)

    async def forget_topic(
        self, name: str, *, user_id: UserId, agent_id: AgentId | None, tier: str | None = None, actor: str = "user"
    ) -> tuple[TopicId, ...]:
        """Erase the topics with this name, with all their revisions. The items that they were made of stay.

        Raises:
            NotFoundError: this user, or agent, has no such topic.
        """
        for _ in range(MOST_TRIES):
            head = await self.store.read_head(user_id)
            histories: dict[TopicId, Topic] = {}
            for topic in await self.store.list_topic_revisions(user_id, agent_id, name):
                histories[topic.id] = topic
            now = self.clock.now()
            topics = [one for one in histories.values() if one.status != "erased" and tier in (None, one.tier)]
            if not topics:
                raise NotFoundError(f"there is no topic {name!r}; use the name of one that was listed", topic=name)
            ids = {topic.id for topic in topics}
            dreams = [
                scrub_dream(dream, tuple(one for one in dream.topics if one.id not in ids), now=now)
                for dream in await self.store.list_dreams(user_id, None, limit_count=NO_END)
                if any(one.id in ids for one in dream.topics)
            ]
            gone = tuple(forget_topic(topic, now=now) for topic in topics)
            forgotten = Forgotten(topics=gone, dreams=tuple(dreams))
            done = _write(forgotten, head, user_id, topics[0].agent_id, now, actor, sorted(ids))
            if await self._commit(done.change):
                return tuple(ids)
        raise _refuse(user_id)

    async def _commit(self, change: MemoryChange) -> bool:
        try:
            await self.store.change_memory(change)
        except ConflictError:
            return False
        return True


async def _plan(store: MemoryStore, user_id: UserId, items: Sequence[Item], gone: Gone, now: datetime) -> Forgotten:
    past = Past(
        topics=tuple(map(tuple, await store.list_topic_histories(user_id))),
        dreams=tuple(await store.list_dreams(user_id, None, limit_count=NO_END)),
    )
    sources: dict[ItemId, Item] = {}
    for id_ in past.list_wanted((item.id for item in items), gone.words):
        try:
            sources[id_] = (await store.list_revisions(id_))[-1]
        except NotFoundError:
            continue  # a topic that was imported without its items
    return plan_forgetting(items, gone, replace(past, sources=sources), now=now, scan=list_threat_kinds)


def _write(
    forgotten: Forgotten,
    head: MemoryHead,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    actor: str,
    about: Sequence[str],
) -> MemoryErasure:
    entry = AuditEntry(
        at=now,
        user_id=user_id,
        agent_id=agent_id,
        actor=actor,
        action="erase",
        about=tuple(about),
        counts=(("items", len(forgotten.items)), ("topics", len(forgotten.topics))),
    )
    change = MemoryChange(
        user_id=user_id,
        agent_id=agent_id,
        expected=head,
        items=forgotten.items,
        topics=forgotten.topics,
        scrubbed=forgotten.dreams,
        audit=() if forgotten.is_empty else (entry,),
        has_erased=True,
    )
    return MemoryErasure(change=change, forgotten=forgotten)


def _list_said(revisions: Sequence[Item]) -> list[str]:
    return [text for item in revisions for text in (item.statement, *(one.quote for one in item.evidence))]


def _refuse(user_id: UserId) -> ConflictError:
    return ConflictError(
        f"the memory of user {user_id} was changed by others at each of {MOST_TRIES} tries; try again", user=user_id
    )
