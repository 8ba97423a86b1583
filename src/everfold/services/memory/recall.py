"""Recall: what memory and history hold that answers a question, packed as data for a request.

Words are always searched: messages by the search of history, items by their own index, topics in memory, since a user
has few. What an embedder found near in meaning comes in as keys, and is read here like everything else: only what is
this user's, for this agent, current, and not in the window already.
"""

from asyncio import gather
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from everfold.core.dreams.topic_lines import show_topic
from everfold.core.log.lines import holds_foreign
from everfold.core.log.messages import Message
from everfold.core.log.sessions import NO_END, SessionRecord, find_holder
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.topics import Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.recall.asking import Asked, find_asking, read_asked
from everfold.core.recall.packing import (
    ENTRY_CHARS,
    USUAL_CAP,
    RecallBlock,
    RecallCap,
    is_shown,
    list_telling,
    pack,
)
from everfold.core.recall.recalling import (
    MOST_TOPICS,
    Recalled,
    RecallKey,
    fuse,
    join_topic,
    list_evidence,
    list_heard,
    rank_topics,
    recall_item,
    recall_topic,
)
from everfold.core.statements.quotes import REMEMBERED_TEXTS
from everfold.core.statements.substance import measure_substance
from everfold.core.text.excerpts import make_excerpt
from everfold.core.text.searching import SearchQuery, index_text, is_question
from everfold.core.text.words import read_matter, read_words
from everfold.errors import InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.sessions.search import MOST_HITS

MOST_LOOKED_AT = 4
"""So many hits are looked at for each entry, since the newest ones are in the window. Source: a choice; a search ranks a
hundred candidates anyway."""
MOST_READ = 2
"""So many messages are read for each entry, since a digest may have said what one says. Source: as above."""
REPLY_WEIGHT = 0.4
"""What the reply to a question that was found counts of its score.

Source: own measurement on the first two conversations of LoCoMo: of the turns that answer, 0.773 are among the first 8 with
it and 0.749 without, of the first 5 0.719 and 0.682; 0.2 and 0.6 give less.
"""


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
        last_seq: The last message that may be recalled; all later ones are shown, or wait for a step to end.
        items: The items of its snapshot and delta.
        texts: What it shows else: digests, standing instructions, what memory says, and the messages.
    """

    session: SessionRecord
    seqs: Collection[int] = ()
    last_seq: int = NO_END
    items: Collection[ItemId] = ()
    texts: Sequence[str] = ()

    def is_own(self, key: RecallKey) -> bool:
        """Whether a key names a message of this session's log."""
        return key.kind == "message" and find_holder(self.session.lineage, key.seq) == key.id

    def hides(self, key: RecallKey) -> bool:
        """Whether what a key names is shown already."""
        if key.kind == "item":
            return key.id in self.items
        return self.is_own(key) and (key.seq > self.last_seq or key.seq in self.seqs)

    def holds(self, entry: Recalled, query: SearchQuery) -> bool:
        """Whether the telling sentences of an entry that a question finds stand in the window already; of none, all of them."""
        telling = [line for _, line in list_telling(entry.text)]
        asked = [line for line in telling if not query.words.isdisjoint(read_words(line))] or telling
        return all(is_shown(line, self.texts) for line in asked)


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
    """What goes into the dynamic suffix for a user's prompt; empty, without one query, where nothing is to be recalled.

    Nothing is where recall is off, or the prompt asks for nothing. Without structured memory only the session's own
    messages are searched.
    """
    question = find_asking(prompt) if policy.recall_enabled else ""
    if not question:
        return RecallBlock()
    found = await recall(
        store,
        question,
        user_id=shown.session.user_id,
        agent_id=shown.session.agent_id,
        now=now,
        limit_count=policy.recall_entries,
        exclude=shown,
        near=near,
        cap=cap,
        session_id=None if policy.is_structured else shown.session.id,
    )
    return found.block


async def recall(  # noqa: PLR0913 - each says what is looked for
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
    session_id: SessionId | None = None,
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
        session_id: Only messages of this session's log, and nothing of memory.

    Raises:
        InvalidInputError: the count is not between 1 and `MOST_HITS`.
    """
    if not 1 <= limit_count <= MOST_HITS:
        raise InvalidInputError(f"recall gives 1 to {MOST_HITS} results, got {limit_count}")
    asked = read_asked(question)
    query = asked.query
    if not query.terms and not near:
        return Recall()
    recalling = Recalling(
        store=store,
        asked=asked,
        user_id=user_id,
        agent_id=agent_id,
        now=now,
        shown=exclude,
        session_id=session_id,
    )
    lists = await recalling.search(limit_count) if query.terms else ()
    entries = fuse(lists, await recalling.read_near(near[:limit_count]), now=now, limit_count=limit_count)
    block = pack(entries, query=query, key=user_id, cap=cap, shown=() if exclude is None else exclude.texts)
    return Recall(entries=entries, block=block)


@dataclass(slots=True, kw_only=True)
class Recalling:
    """One recall under way.

    Attributes:
        shown: What is not given.
        session_id: The session whose messages alone are searched.
        topics: The topics of the user and agent, once they were read.
    """

    store: Store
    asked: Asked
    user_id: UserId
    agent_id: AgentId
    now: datetime
    shown: Shown | None
    session_id: SessionId | None = None
    topics: list[Topic] | None = None

    @property
    def query(self) -> SearchQuery:
        """What is searched for."""
        return self.asked.query

    async def search(self, limit_count: int) -> tuple[list[Recalled], ...]:
        """What words find, a list for each kind."""
        if self.session_id is not None:
            return (await self._search_messages(limit_count),)
        return tuple(
            await gather(self._search_messages(limit_count), self._search_items(limit_count), self._search_topics())
        )

    async def read_near(self, keys: Sequence[RecallKey]) -> list[Recalled]:
        """The entries with these keys that this user and agent may see, in their order."""
        wanted = [key for key in keys if not self._is_hidden(key)]
        seqs: dict[SessionId, list[int]] = {}
        for key in (one for one in wanted if one.kind == "message"):
            seqs.setdefault(SessionId(key.id), []).append(key.seq)
        found = await self._read_items([ItemId(key.id) for key in wanted if key.kind == "item"])
        found |= await self._read_topics({key.id for key in wanted if key.kind == "topic"})
        for session_id, own in seqs.items():
            if await self._is_own_session(session_id):
                found |= {entry.key: entry for entry in await self._read_messages(session_id, own)}
        return [found[key] for key in keys if key in found]

    async def _search_messages(self, limit_count: int) -> list[Recalled]:
        """Messages; some more are looked at than asked for, since what is in the window is left out."""
        count = limit_count if self.shown is None else min(MOST_LOOKED_AT * limit_count, MOST_HITS)
        hits = await self.store.search(
            self.query, user_id=self.user_id, agent_id=self.agent_id, session_id=self.session_id, limit_count=count
        )
        found = [(RecallKey("message", hit.session_id, hit.seq), hit.score) for hit in hits]
        scores = dict([one for one in found if not self._is_hidden(one[0])][: MOST_READ * limit_count])
        messages = await self.read_all(scores)
        for key, message in messages.items():
            reply = key._replace(seq=key.seq + 1)
            if is_question(message.view.text) and not self._is_hidden(reply) and self._is_searched(reply):
                scores[reply] = scores.get(reply, 0.0) + REPLY_WEIGHT * scores[key]
        best = sorted(scores, key=lambda key: (-scores[key], -key.seq))[: MOST_READ * limit_count]
        messages |= await self.read_all([key for key in best if key not in messages])
        fitting = ((key, messages[key]) for key in best if key in messages and self.fits(key, messages))
        shown = islice(self._show_messages(fitting), limit_count)
        return [replace(entry, strength=scores[entry.key] / scores[best[0]]) for entry in shown]

    async def _search_items(self, limit_count: int) -> list[Recalled]:
        found = await self.store.search_items(self.query, self.user_id, self.agent_id, limit_count=limit_count)
        items = [item for item, _ in found if self._is_met_by(item.statement)]
        return [self._show_item(item, self.query) for item in items if self._may_show(item)]

    async def _search_topics(self) -> list[Recalled]:
        topics = rank_topics(self.query, await self._list_topics(), now=self.now)
        return [
            entry
            for topic in topics
            if self._is_met_by(join_topic(topic)) and self._is_new(entry := recall_topic(topic, self.query))
        ]

    async def _list_topics(self) -> list[Topic]:
        if self.topics is None:
            topics = await self.store.list_topics(self.user_id, self.agent_id)
            texts = [topic for topic in topics if not topic.is_heading]  # the items of a heading are found themselves
            self.topics = [show_topic(topic, self.now) for topic in texts[:MOST_TOPICS]]
        return self.topics

    async def _read_items(self, ids: Sequence[ItemId]) -> dict[RecallKey, Recalled]:
        """The items that are to be seen."""
        entries = [
            self._show_item(item)
            for item in await self.store.read_items(self.user_id, self.agent_id, ids)
            if self._may_show(item)
        ]
        return {entry.key: entry for entry in entries}

    async def _read_topics(self, ids: Collection[str]) -> dict[RecallKey, Recalled]:
        """The topics that are to be seen."""
        topics = await self._list_topics() if ids else []
        entries = [recall_topic(topic) for topic in topics if topic.id in ids and topic.is_current(self.now)]
        return {entry.key: entry for entry in entries}

    def _is_met_by(self, statement: str) -> bool:
        """Whether words of memory are enough of the question's, and to the point."""
        words = read_words(statement)
        return self.asked.has_enough(words) and self.asked.is_met(words)

    def _show_item(self, item: Item, query: SearchQuery | None = None) -> Recalled:
        is_own = self.shown is not None and any(map(self.shown.is_own, list_evidence(item)[:1]))
        return recall_item(item, query, is_own=is_own)

    def _may_show(self, item: Item) -> bool:
        return item.is_current(self.now) and self._is_new(recall_item(item))

    def _is_hidden(self, key: RecallKey) -> bool:
        return self.shown is not None and self.shown.hides(key)

    def _is_new(self, entry: Recalled) -> bool:
        return self.shown is None or not (self.shown.hides(entry.key) or self.shown.holds(entry, self.query))

    async def _is_own_session(self, session_id: SessionId) -> bool:
        try:
            record = await self.store.get_session(session_id)
        except NotFoundError:
            return False
        return (record.user_id, record.agent_id) == (self.user_id, self.agent_id)

    async def _read_messages(self, session_id: SessionId, seqs: Sequence[int]) -> list[Recalled]:
        keys = [RecallKey("message", session_id, seq) for seq in seqs]
        return list(self._show_messages((await self.read_all(keys)).items()))

    async def read_all(self, keys: Iterable[RecallKey]) -> dict[RecallKey, Message]:
        """The messages with these keys, in their order, with one read a session; none that is erased."""
        wanted: dict[str, list[int]] = {}
        for key in keys:
            wanted.setdefault(key.id, []).append(key.seq)
        found = {
            RecallKey("message", id_, message.seq): message
            for id_, seqs in wanted.items()
            for message in await self.store.read_messages(SessionId(id_), sorted(set(seqs)))
        }
        return {key: found[key] for key in keys if key in found and not found[key].is_erased}

    def _show_messages(self, messages: Iterable[tuple[RecallKey, Message]]) -> Iterator[Recalled]:
        """The messages as entries, without those that tell nothing and those that the window shows; made one by one.

        A window has the newest context refresh: an older one, which that has replaced, does not come back into it.
        """
        for key, message in messages:
            is_replaced = self.shown is not None and message.source == "refresh"
            if not is_replaced and measure_substance(message.view.text):
                entry = self.show_message(SessionId(key.id), message)
                if self._is_new(entry):
                    yield entry

    def fits(self, key: RecallKey, messages: Mapping[RecallKey, Message]) -> bool:
        """Whether a message answers the question by its words and those of the messages before it that were found too.

        By itself, as the reply to a question that does, or beside another message that does, with a word of its own.
        """
        heard = [messages[one] for one in list_heard(key) if one in messages]
        words = [read_index_words(one) for one in heard]
        if not self.asked.has_enough(set().union(*(one.text | one.around for one in words))):
            return False
        own, *before = [self.asked.is_met(one.text, one.around) for one in words]
        is_reply = key._replace(seq=key.seq - 1) in messages and is_question(heard[1].view.text)
        return own or (is_reply and before[0]) or (any(before) and self.asked.has_any(words[0].text | words[0].around))

    def _is_searched(self, key: RecallKey) -> bool:
        return self.session_id is None or (self.shown is not None and self.shown.is_own(key))

    def show_message(self, session_id: SessionId, message: Message) -> Recalled:
        """A message as an entry."""
        speaker = f" {message.view.name}" if message.view.name else ""
        who = message.view.role if message.origin in {message.view.role, "tool"} else message.origin
        excerpt = make_excerpt(message.view.text, self.query, max_chars=ENTRY_CHARS)
        is_foreign = holds_foreign(message, excerpt.start, excerpt.start + len(excerpt.text))
        key = RecallKey("message", session_id, message.seq)
        return Recalled(
            key=key,
            text=excerpt.text,
            is_own=self.shown is not None and self.shown.is_own(key),
            label=f"{who}{speaker}{', quoted' if is_foreign else ''}",
            origin="external" if is_foreign else message.origin,
            said_at=message.said_at,
        )


class IndexWords(NamedTuple):
    """What the index has of a message itself: the words of its text, and those of its speaker and its date."""

    text: frozenset[str]
    around: frozenset[str]


def read_index_words(message: Message) -> IndexWords:
    """The index words of a message."""
    view = message.view
    return IndexWords(_list_words(view.text), _list_words_around(view.name or view.role, message.said_at))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_words(text: str) -> frozenset[str]:
    return frozenset(read_matter(text).split())


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_words_around(speaker: str, said_at: datetime) -> frozenset[str]:
    return frozenset(index_text("", speaker=speaker, said_at=said_at).own.split())
