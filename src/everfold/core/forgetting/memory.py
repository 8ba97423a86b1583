"""What an erase changes in memory, as values: items without the erased quotes, and topics made again from the rest.

Theory of operation. An item that quotes erased words loses those quotes. With other evidence it stays, and where its
statement was taken from the erased words it becomes the newest quote that is left; without any it is erased. What an
erased item had superseded stays superseded: nothing is revived silently, and an undo brings it back. Topics that drew
on such an item, or whose prose has words that only the erased text had, are made again from the lines of the items that
are left, and erased where there are none. A name with such words is replaced where the topic was made of such an item,
or by a dream that was given one. Of all these the older revisions go too, since they hold the same words.

A dream that wrote such a topic loses it; a proposed one that would write it is dropped.

Source: DESIGN G10 and section 4; docs/adr/0023-forgetting.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Final

from everfold.core.dreams.consolidation import OUTSIDE, rebuild_topic
from everfold.core.dreams.topic_lines import Scan, read_topic_text
from everfold.core.dreams.topic_names import AREA_NAMES, GENERAL, choose_free_name
from everfold.core.extraction.answers import is_said_by
from everfold.core.forgetting.files import forget_lines
from everfold.core.memory.files import FilePlace, MemoryFile
from everfold.core.memory.items import Evidence, Item, ItemId, identify, is_entered
from everfold.core.memory.topics import Dream, Topic, TopicId
from everfold.core.merging.edits import plan_forget
from everfold.core.merging.releasing import keep_released, list_open_threats
from everfold.core.primitives.ids import SessionId
from everfold.core.text.words import read_matter

SCRUBBED: Final = "some of it was erased"
"""What is left of the problems that a dream had told of."""
_PLAIN_NAMES: Final = frozenset((*AREA_NAMES, OUTSIDE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What is erased: single messages, or whole sessions; by the session that stores them.

    Attributes:
        words: The index words of the erased text, without stop words.
    """

    messages: frozenset[tuple[SessionId, int]] = frozenset()
    sessions: frozenset[SessionId] = frozenset()
    words: frozenset[str] = frozenset()

    def holds(self, evidence: Evidence) -> bool:
        """Whether a quote is in the erased words."""
        return evidence.session_id in self.sessions or (evidence.session_id, evidence.seq) in self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What there is of a user's topics.

    Attributes:
        topics: Every topic with all its revisions, oldest first.
        dreams: Every dream.
        files: Every file of the user's agents.
        sources: The newest revisions of the items that topics were made of.
        superseded: The items that are superseded by one that is erased, but for what an undo put behind it.
    """

    topics: tuple[tuple[Topic, ...], ...] = ()
    dreams: tuple[Dream, ...] = ()
    files: tuple[MemoryFile, ...] = ()
    sources: Mapping[ItemId, Item] = field(default_factory=dict)
    superseded: tuple[Item, ...] = ()

    def list_wanted(self, changed: Iterable[ItemId], words: frozenset[str]) -> list[ItemId]:
        """The sources that it takes to decide about topics when these items change and these words are erased."""
        made = self.find_made(frozenset(changed))
        every = (topic for topics in (*self.topics, *(dream.topics for dream in self.dreams)) for topic in topics)
        wanted = (topic.sources for topic in every if topic.id in made or _may_tell(topic, words))
        return list(dict.fromkeys(id_ for sources in wanted for id_ in sources))

    def find_made(self, changed: frozenset[ItemId]) -> frozenset[TopicId]:
        """The topics that were made of any of these items, or by a dream that was given one."""
        made = [(topic.id, topic.sources) for history in self.topics for topic in history]
        made += [(topic.id, (*dream.items, *topic.sources)) for dream in self.dreams for topic in dream.topics]
        return frozenset(id_ for id_, items in made if not changed.isdisjoint(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What an erase writes into memory.

    Attributes:
        items: New revisions, in place of every older one.
        again: Those of them that were erased before already; they lose the places of their quotes.
        topics: The same for topics.
        dreams: Dreams without what they held of it.
        superseded: Items that stay superseded by something that is erased.
        files: Files without the lines that repeat what is erased.
        gone_files: Files that have nothing left.
    """

    items: tuple[Item, ...] = ()
    again: frozenset[ItemId] = frozenset()
    topics: tuple[Topic, ...] = ()
    dreams: tuple[Dream, ...] = ()
    superseded: tuple[ItemId, ...] = ()
    files: tuple[MemoryFile, ...] = ()
    gone_files: tuple[FilePlace, ...] = ()

    @property
    def erased(self) -> tuple[ItemId, ...]:
        """The items that nothing says any more, without those that were erased before."""
        return tuple(item.id for item in self.items if item.status == "erased" and item.id not in self.again)

    @property
    def kept(self) -> tuple[ItemId, ...]:
        """The items that lost quotes and stay."""
        return tuple(item.id for item in self.items if item.status != "erased")

    @property
    def is_empty(self) -> bool:
        """Whether memory has nothing of what is erased."""
        return not (self.erased or self.kept or self.topics or self.dreams or self.files or self.gone_files)


def read_gone_words(texts: Iterable[str]) -> frozenset[str]:
    """The index words of erased texts, without stop words."""
    return frozenset(word for text in texts for word in read_matter(text).split())


def forget_quotes(revisions: Sequence[Item], gone: Gone, *, now: datetime) -> Item:
    """An item's next revision, without its quotes from what is erased; erased where nothing else says it.

    What was entered by hand stays without a quote.

    Args:
        revisions: Every revision of the item, oldest first.
        gone: What is erased.
        now: The present moment.
    """
    last = revisions[-1]
    if last.status == "erased":
        places = tuple(one for one in last.evidence if not gone.holds(one))
        identity = last.identity if places else ""
        # Its moment stays: what was said after it was forgotten may be found.
        return replace(last, revision=last.revision + 1, written_by="erase", evidence=places, identity=identity)
    left = _list_left(revisions, gone)
    lost = [one for item in revisions for one in item.evidence if gone.holds(one)]
    words = gone.words | read_gone_words(one.quote for one in lost)
    is_by_hand = is_entered(revisions)
    statement = last.statement if is_by_hand else _choose_statement(last, left, words)
    if not statement:
        return plan_forget(last, now=now, written_by="erase", keeps_identity=False)
    released = keep_released(last.released, (statement, *(one.quote for one in left)))
    threats = list_open_threats(statement, left, released, origin=last.origin)
    status = last.status
    if status in ("active", "quarantined"):
        status = "quarantined" if threats else "active"
    return replace(
        last,
        statement=statement,
        evidence=left,
        identity=identify(statement, tier=last.tier, agent_id=last.agent_id),
        last_seen_at=max((one.said_at for one in left), default=last.recorded_at),
        status=status,
        threats=threats if status in ("active", "quarantined") else last.threats,
        released=released,
        is_by_hand=is_by_hand,
        revision=last.revision + 1,
        changed_at=now,
        written_by="erase",
    )


def plan_forgetting(items: Sequence[Item], gone: Gone, past: Past, *, now: datetime, scan: Scan) -> Forgotten:
    """What becomes of memory with these new revisions of items.

    Args:
        items: The new revisions, from `forget_quotes` or `plan_forget`.
        gone: What is erased; its words are those of the items too, where items alone are erased.
        past: The user's topics and dreams.
        now: The present moment.
        scan: Names what a text would do to its reader.
    """
    known = {**past.sources, **{item.id: item for item in items}}
    changed = frozenset(item.id for item in items)
    forgetting = _Forgetting(changed=changed, made=past.find_made(changed), known=known, gone=gone, now=now, scan=scan)
    taken = {history[-1].name for history in past.topics if history[-1].status == "active"}
    topics = [forgetting.renew(history, taken) for history in past.topics if forgetting.concerns(history)]
    ids = {topic.id for topic in topics}
    dreams = [scrubbed for dream in past.dreams if (scrubbed := forgetting.scrub(dream, ids)) is not None]
    files = [(file, forget_lines(file.content, gone.words)) for file in past.files]
    lost = {item.id for item in items if item.status == "erased"}
    return Forgotten(
        items=tuple(items),
        topics=tuple(topics),
        dreams=tuple(dreams),
        superseded=tuple(one.id for one in past.superseded if one.superseded_by in lost and one.id not in lost),
        files=tuple(
            replace(file, content=left, written_at=now) for file, left in files if left.strip() and left != file.content
        ),
        gone_files=tuple(file.place for file, left in files if file.content.strip() and not left.strip()),
    )


def forget_topic(topic: Topic, *, now: datetime) -> Topic:
    """An erased topic: without its text and its name."""
    return replace(
        topic,
        name="",
        summary="",
        content="",
        sources=(),
        status="erased",
        threats=(),
        revision=topic.revision + 1,
        updated_at=now,
    )


def scrub_dream(dream: Dream, kept: tuple[Topic, ...], *, now: datetime) -> Dream:
    """A dream with the topics that are left of it; one that is only proposed can not be applied any more."""
    if dream.state == "proposed":
        return replace(dream, topics=(), state="failed", ended_at=now, problem=SCRUBBED)
    return replace(dream, topics=kept, problem=SCRUBBED if dream.problem else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forgetting:
    """One erase: which items it has changed, the topics that these may have named, and what every source is by now."""

    changed: frozenset[ItemId]
    made: frozenset[TopicId]
    known: Mapping[ItemId, Item]
    gone: Gone
    now: datetime
    scan: Scan

    def concerns(self, revisions: Sequence[Topic]) -> bool:
        """Whether any revision of a topic was made of what is erased, or named after it."""
        return any(self._is_of_it(topic) for topic in revisions)

    def renew(self, revisions: Sequence[Topic], taken: set[str]) -> Topic:
        """The next revision of a topic that is concerned; one without items is erased, and an inactive one that drew on it."""
        newest = revisions[-1]
        left = self._list_left(newest)
        is_shown = newest.status in ("active", "quarantined")
        if not is_shown and any(self._draws(topic, self._list_left(topic)) for topic in revisions):
            return forget_topic(newest, now=self.now)
        renewed = self._rebuild(newest, left)
        if renewed.status == "erased":
            return forget_topic(newest, now=self.now)
        if self._names(newest, left):
            since = min((item.valid_from for item in left), default=self.now)
            renewed = replace(renewed, name=choose_free_name(GENERAL, taken, since=since))
            taken.add(renewed.name)
        return renewed

    def _rebuild(self, topic: Topic, left: Sequence[Item]) -> Topic:
        """The next revision of a topic; its text is made of the items that are left where it drew on what is erased."""
        if not self._draws(topic, left):
            return replace(topic, revision=topic.revision + 1, updated_at=self.now)
        renewed = rebuild_topic(topic, left, now=self.now, scan=self.scan)
        threats = tuple(self.scan(f"{renewed.summary}\n{renewed.content}"))
        if renewed.status == "erased":
            return renewed
        return replace(renewed, status="quarantined" if threats else "active", threats=threats)

    def scrub(self, dream: Dream, ids: Iterable[str]) -> Dream | None:
        """A dream without the topics that are concerned; None where it had none of them."""
        forgotten = frozenset(ids)
        kept = tuple(topic for topic in dream.topics if topic.id not in forgotten and not self._is_of_it(topic))
        if kept == dream.topics:
            return None
        return scrub_dream(dream, kept, now=self.now)

    def _is_of_it(self, topic: Topic) -> bool:
        left = self._list_left(topic)
        return self._draws(topic, left) or self._names(topic, left)

    def _list_left(self, topic: Topic) -> list[Item]:
        return [self.known[id_] for id_ in topic.sources if id_ in self.known]

    def _draws(self, topic: Topic, left: Iterable[Item]) -> bool:
        return not self.changed.isdisjoint(topic.sources) or self._tells(_read_prose(topic), _list_texts(left))

    def _names(self, topic: Topic, left: Sequence[Item]) -> bool:
        """Whether a topic may have its name from what is erased; an area's name, and the time of an item, are of no words."""
        dates = (f"{item.valid_from:%Y %m %d}" for item in left)
        said = chain(_list_texts(left), dates, map(_read_name, _PLAIN_NAMES))
        return topic.id in self.made and self._tells(_read_name(topic.name), said)

    def _tells(self, text: str, said: Iterable[str]) -> bool:
        """Whether a text has words of what is erased that other texts do not account for."""
        shared = self.gone.words & read_gone_words([text])
        return bool(shared) and bool(shared - read_gone_words(said))


def _may_tell(topic: Topic, words: frozenset[str]) -> bool:
    return not words.isdisjoint(read_gone_words([_read_prose(topic)]))


def _read_prose(topic: Topic) -> str:
    """What of a topic is not made of its items' lines; its summary counts them where there is no prose."""
    prose = read_topic_text(topic.content).prose
    return f"{prose}\n{topic.summary}" if prose else ""


def _read_name(name: str) -> str:
    return name.replace("_", " ")


def _list_texts(items: Iterable[Item]) -> Iterable[str]:
    return (text for item in items for text in (item.statement, *(one.quote for one in item.evidence)))


def _list_left(revisions: Sequence[Item], gone: Gone) -> tuple[Evidence, ...]:
    """The quotes that stay: those of the newest revision, or of older ones where it has none."""
    for item in reversed(revisions):
        if left := tuple(one for one in item.evidence if not gone.holds(one)):
            return left
    return ()


def _choose_statement(item: Item, left: Sequence[Evidence], gone_words: frozenset[str]) -> str:
    """What an item says without the erased words; empty where nothing says it any more."""
    said = [one.quote for one in left if one.quote.strip()]
    if not is_said_by(item.statement, said):
        return ""
    allowed = read_gone_words(said)
    if any(item.statement in text for text in said):
        return item.statement
    if read_gone_words([item.statement]) & gone_words - allowed:
        told = [text for text in said if item.kind == "open_item" or not text.rstrip().endswith("?")]
        return told[-1] if told else ""
    return item.statement
