"""Recall: what memory and history hold that answers a question, packed as data for a request.

Words are always searched: messages by the search of history, items by their own index, topics in memory, since a user
has few. What an embedder found near in meaning comes in as keys, and is read here like everything else: only what is
this user's, for this agent, current, and not in the window already.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from everfold.core.dreams.topic_lines import hide_ended
from everfold.core.log.lines import holds_foreign
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord, find_holder
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.topics import Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.recall.recalling import (
    ENTRY_CHARS,
    MOST_TOPICS,
    USUAL_CAP,
    RecallBlock,
    RecallCap,
    Recalled,
    RecallKey,
    fuse,
    pack,
    rank_topics,
    recall_item,
    recall_topic,
)
from everfold.core.text.excerpts import make_excerpt
from everfold.core.text.searching import SearchQuery, plan_query
from everfold.core.text.trivial_prompts import is_trivial
from everfold.errors import InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.sessions.search import MOST_HITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What a question brought back.

    Attributes:
        entries: At most as many as asked for, best first.
        block: Those of them that fit, as text.
    """

    entries: tuple[Recalled, ...] = ()
    block: RecallBlock = field(default_factory=RecallBlock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a window shows already, so that recall need not.

    Attributes:
        session: Whose window.
        seqs: Its messages that are shown whole.
        items: The items of its snapshot and delta.
    """

    session: SessionRecord
    seqs: Collection[int] = ()
    items: Collection[ItemId] = ()

    def list_keys(self) -> frozenset[RecallKey]:
        """The keys of all of it."""
        lineage = self.session.lineage
        messages = (RecallKey("message", find_holder(lineage, seq), seq) for seq in self.seqs)
        return frozenset((*messages, *(RecallKey("item", item) for item in self.items)))


async def recall_turn(
    store: Store,
    prompt: str,
    policy: MemoryPolicy,
    *,
    now: datetime,
    shown: Shown,
    cap: RecallCap = USUAL_CAP,
    near: Sequence[RecallKey] = (),
) -> RecallBlock:
    """What goes into the dynamic suffix for a user's prompt; empty, without one query, where nothing is to be injected.

    Nothing is where memory or its injection is off, or the prompt asks for nothing.
    """
    if not policy.is_structured or not policy.recall_enabled or is_trivial(prompt):
        return RecallBlock()
    found = await recall(
        store,
        prompt,
        user_id=shown.session.user_id,
        agent_id=shown.session.agent_id,
        now=now,
        limit_count=policy.recall_entries,
        exclude=shown,
        near=near,
        cap=cap,
    )
    return found.block


async def recall(
    store: Store,
    question: str,
    *,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    limit_count: int,
    exclude: Shown | None = None,
    near: Sequence[RecallKey] = (),
    cap: RecallCap = USUAL_CAP,
) -> Recall:
    """The best messages, items and topics for a question, and as many of them as fit as a block of data.

    Args:
        store: Where everything is.
        question: In words.
        user_id: Whose memory and history.
        agent_id: What an agent may see: its own messages and notes, and what is shared.
        now: What is expired and how old things are.
        limit_count: The most to give: `recall.entries`.
        exclude: What is in the window already.
        near: What vectors found, best first; what is not this user's, or not current, is left out.
        cap: What the block may have.

    Raises:
        InvalidInputError: the count is not between 1 and `MOST_HITS`.
    """
    if not 1 <= limit_count <= MOST_HITS:
        raise InvalidInputError(f"recall gives 1 to {MOST_HITS} results, got {limit_count}")
    query = plan_query(question)
    if not query.terms and not near:
        return Recall()
    recalling = _Recalling(
        store=store,
        query=query,
        user_id=user_id,
        agent_id=agent_id,
        now=now,
        hidden=exclude.list_keys() if exclude else frozenset(),
    )
    lists = await recalling.search(limit_count) if query.terms else ()
    entries = fuse(lists, await recalling.read_near(near[:limit_count]), now=now, limit_count=limit_count)
    block = pack(entries, key=user_id, cap=cap)
    return Recall(entries=entries, block=block)


@dataclass(slots=True, kw_only=True)
class _Recalling:
    """One recall under way.

    Attributes:
        hidden: What is not given.
        topics: The topics of the user and agent, once they were read.
    """

    store: Store
    query: SearchQuery
    user_id: UserId
    agent_id: AgentId
    now: datetime
    hidden: frozenset[RecallKey]
    topics: list[Topic] | None = None

    async def search(self, limit_count: int) -> tuple[list[Recalled], ...]:
        """What words find, a list for each kind."""
        return (
            await self._search_messages(limit_count),
            await self._search_items(limit_count),
            await self._search_topics(),
        )

    async def read_near(self, keys: Sequence[RecallKey]) -> list[Recalled]:
        """The entries with these keys that this user and agent may see, in their order."""
        found: dict[RecallKey, Recalled] = {}
        seqs: dict[SessionId, list[int]] = {}
        for key in keys:
            if key in self.hidden:
                continue
            if key.kind == "message":
                seqs.setdefault(SessionId(key.id), []).append(key.seq)
            elif (entry := await self._read_entry(key)) is not None:
                found[key] = entry
        for session_id, wanted in seqs.items():
            if await self._is_own_session(session_id):
                found |= {entry.key: entry for entry in await self._read_messages(session_id, wanted)}
        return [found[key] for key in keys if key in found]

    async def _search_messages(self, limit_count: int) -> list[Recalled]:
        """Messages, some more than asked for, since those in the window are left out."""
        hidden_count = sum(key.kind == "message" for key in self.hidden)
        count = min(limit_count + min(hidden_count, limit_count), MOST_HITS)
        hits = await self.store.search(
            self.query, user_id=self.user_id, agent_id=self.agent_id, session_id=None, limit_count=count
        )
        keys = [RecallKey("message", hit.session_id, hit.seq) for hit in hits]
        keys = [key for key in keys if key not in self.hidden][:limit_count]
        seqs: dict[SessionId, list[int]] = {}
        for key in keys:
            seqs.setdefault(SessionId(key.id), []).append(key.seq)
        found = {
            entry.key: entry
            for session_id, wanted in seqs.items()
            for entry in await self._read_messages(session_id, wanted)
        }
        return [found[key] for key in keys if key in found]

    async def _search_items(self, limit_count: int) -> list[Recalled]:
        found = await self.store.search_items(self.query, self.user_id, self.agent_id, limit_count=limit_count)
        return [recall_item(item, self.query) for item, _ in found if self._may_show(item)]

    async def _search_topics(self) -> list[Recalled]:
        topics = rank_topics(self.query, await self._list_topics(), now=self.now)
        return [entry for topic in topics if (entry := recall_topic(topic, self.query)).key not in self.hidden]

    async def _list_topics(self) -> list[Topic]:
        if self.topics is None:
            topics = await self.store.list_topics(self.user_id, self.agent_id)
            self.topics = [hide_ended(topic, self.now) for topic in topics[:MOST_TOPICS]]
        return self.topics

    async def _read_entry(self, key: RecallKey) -> Recalled | None:
        """An item or a topic, where it is to be seen."""
        if key.kind == "topic":
            topics = await self._list_topics()
            return next((recall_topic(one) for one in topics if one.id == key.id and one.is_current(self.now)), None)
        try:
            item = (await self.store.list_revisions(ItemId(key.id)))[-1]
        except NotFoundError:
            return None
        is_own = item.user_id == self.user_id and (item.tier == "user" or item.agent_id == self.agent_id)
        return recall_item(item) if is_own and self._may_show(item) else None

    def _may_show(self, item: Item) -> bool:
        return item.is_current(self.now) and RecallKey("item", item.id) not in self.hidden

    async def _is_own_session(self, session_id: SessionId) -> bool:
        try:
            record = await self.store.get_session(session_id)
        except NotFoundError:
            return False
        return (record.user_id, record.agent_id) == (self.user_id, self.agent_id)

    async def _read_messages(self, session_id: SessionId, seqs: Sequence[int]) -> list[Recalled]:
        messages = await self.store.read_messages(session_id, sorted(set(seqs)))
        return [self._show_message(session_id, message) for message in messages if not message.is_erased]

    def _show_message(self, session_id: SessionId, message: Message) -> Recalled:
        speaker = f" {message.view.name}" if message.view.name else ""
        who = message.view.role if message.origin in {message.view.role, "tool"} else message.origin
        excerpt = make_excerpt(message.view.text, self.query, max_chars=ENTRY_CHARS)
        is_foreign = holds_foreign(message, excerpt.start, excerpt.start + len(excerpt.text))
        return Recalled(
            key=RecallKey("message", session_id, message.seq),
            text=excerpt.text,
            label=f"{who}{speaker} {'quoted' if is_foreign else 'said'}",
            origin="external" if is_foreign else message.origin,
            said_at=message.said_at,
        )
