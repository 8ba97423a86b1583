"""Recalling: what of memory and history answers a prompt, in one order.

Theory of operation. Messages, items and topics are each ranked by their words. The lists become one by reciprocal rank:
an entry counts `1 / (K + place)`, a little more where a person said it and where it is young, less where it is an item or
a topic that has few of the question's words; and an item that is noted
of a recalled message is joined to it. What vectors add comes after that: an entry that words did not find is put in
behind every second entry, by its place among the vectors, and nothing else moves. So an entry never stands lower than
words alone put it, but for those that were put in before it, and those are at most half as many.

Source: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", 2009, for the sum and its K; the rule for vectors is ours (DESIGN section 4, "fused so that vectors can only
help": a sum of both lets a poor embedder push a good answer down).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple

from everfold.core.memory.items import Item
from everfold.core.memory.topics import Topic
from everfold.core.primitives.origins import Origin
from everfold.core.text.searching import BEFORE_COUNT, SearchQuery, SearchText, rank_documents
from everfold.core.text.words import read_matter, read_words

RecallKind = Literal["message", "item", "topic"]

RANK_CONSTANT: Final = 60
"""Source: Cormack et al., section 2."""
VECTOR_GAP: Final = 2
"""One entry of the vectors alone behind so many of the words."""
MOST_TOPICS: Final = 200
"""How many topics are ranked; a user has some tens. Source: DESIGN section 4, 3 to 7 a pass."""

_AUTHORITY_WEIGHT: Final[dict[Origin, float]] = {
    "user": 1.0,
    "system": 1.0,
    "assistant": 0.97,
    "tool": 0.94,
    "external": 0.91,
}
"""What an entry's share is multiplied by. Source: own choice: three places among the first of a list at most for a tool,
since a place is worth about 1.6 %."""
_RECENCY_WEIGHT: Final = 0.05
"""How much more an entry of this moment counts than one of long ago: about three places."""
_RECENCY_DAYS: Final = 30.0
"""After so many days half of that is gone. Source: as the share, own choice."""
_MEMORY_WEIGHT: Final = 0.8
_COVERAGE_WEIGHT: Final = 0.3
"""What an item or a topic counts beside a message: the first, and so much more by the share of the question's words that
it has. Source: own measurement on the first two conversations of locomo-dev with heuristic items: of the turns that
answer, 0.79 are among the first 10 of messages alone, 0.77 with items at these weights, 0.71 with items as equals."""
_SECS_A_DAY: Final = 86_400


class RecallKey(NamedTuple):
    """What one entry is: a message by session and number, else an item or a topic by its id."""

    kind: RecallKind
    id: str
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One entry that recall found.

    Attributes:
        text: What is shown: an exact excerpt of a message, an item's statement, a topic's summary and content.
        strength: The score of a message beside that of the best one that was found; None for anything else.
        is_own: It is a message of the session that asks, or noted of one.
        label: What it is, in words: who spoke, or the kind and tier.
        origin: Whose words it was made of; the lowest of them.
        said_at: When it was said, holds from, or was written.
        evidence: The messages that an item is noted of.
        notes: Statements of items that were joined to a message.
        coverage: The share of the question's words that it has; of a message it does not matter.
        by: What found it.
        score: Comparable within one recall only.
    """

    key: RecallKey
    text: str
    label: str
    origin: Origin
    said_at: datetime
    evidence: tuple[RecallKey, ...] = ()
    notes: tuple[str, ...] = ()
    strength: float | None = None
    is_own: bool = False
    coverage: float = 1.0
    by: Literal["text", "vector", "both"] = "text"
    score: float = 0.0


def recall_item(item: Item, query: SearchQuery | None = None, *, is_own: bool = False) -> Recalled:
    """An item as an entry, for a question; `is_own` where its first evidence is of the session that asks."""
    return Recalled(
        key=RecallKey("item", item.id),
        text=item.statement,
        label=f"noted {item.kind.replace('_', ' ')}, {item.tier} tier",
        origin=item.origin,
        said_at=item.valid_from,
        evidence=list_evidence(item),
        is_own=is_own,
        coverage=_measure_coverage(item.statement, query),
    )


def list_evidence(item: Item) -> tuple[RecallKey, ...]:
    """The messages that an item is noted of."""
    return tuple(RecallKey("message", one.session_id, one.seq) for one in item.evidence)


def recall_topic(topic: Topic, query: SearchQuery | None = None) -> Recalled:
    """A topic as an entry, for a question."""
    text = "\n".join(filter(None, (topic.summary, topic.content)))
    return Recalled(
        key=RecallKey("topic", topic.id),
        text=text,
        label=f"topic {topic.name}, {topic.tier} tier",
        origin=topic.origin,
        said_at=topic.updated_at,
        coverage=_measure_coverage(join_topic(topic), query),
    )


def join_topic(topic: Topic) -> str:
    """All words of a topic: its name, its summary and its content."""
    return f"{topic.name.replace('_', ' ')}\n{topic.summary}\n{topic.content}"


def _measure_coverage(text: str, query: SearchQuery | None) -> float:
    words = query.words if query is not None else frozenset()
    return len(words.intersection(read_words(text))) / len(words) if words else 1.0


def list_heard(key: RecallKey) -> list[RecallKey]:
    """A message and those before it that may tell what it answers: their words count for it where they were found too."""
    return [key._replace(seq=key.seq - back) for back in range(BEFORE_COUNT + 1)]


def rank_topics(query: SearchQuery, topics: Sequence[Topic], *, now: datetime) -> list[Topic]:
    """The current topics that a question's words are in, best first. O(their words)."""
    return [topic for topic, _ in score_topics(query, topics, now=now)]


def score_topics(query: SearchQuery, topics: Sequence[Topic], *, now: datetime) -> list[tuple[Topic, float]]:
    """The same with their scores, which are comparable within one search only."""
    current = [topic for topic in topics if topic.is_current(now)][:MOST_TOPICS]
    texts = [SearchText(own=read_matter(join_topic(topic)), before="") for topic in current]
    return [(current[at], score) for at, score in rank_documents(query, texts)]


def fuse(
    lists: Sequence[Sequence[Recalled]], vectors: Sequence[Recalled] = (), *, now: datetime, limit_count: int
) -> tuple[Recalled, ...]:
    """One list of the best entries, each once, best first.

    Let `place` be an entry's place without the vectors. Its place with them is `place` and the number of entries that the
    vectors alone put in before it, which is at most `(place - 1) // VECTOR_GAP`.

    Args:
        lists: What words found, each list best first.
        vectors: What is near in meaning, best first; of what words found too it changes nothing but `by`.
        now: What recency is measured from.
        limit_count: The most to give.
    """
    ranked = _join_items(_rank(lists, now))
    near = {entry.key for entry in vectors}
    ranked = [replace(entry, by="both") if entry.key in near else entry for entry in ranked]
    found = {key for entries in lists for entry in entries for key in (entry.key, *entry.evidence)}
    return tuple(_put_in(ranked, _list_new(vectors, found)))[:limit_count]


def _rank(lists: Sequence[Sequence[Recalled]], now: datetime) -> list[Recalled]:
    """The entries of all lists by the sum of their shares; of equal ones the younger first."""
    found: dict[RecallKey, Recalled] = {}
    scores: dict[RecallKey, float] = {}
    for entries in lists:
        for place, entry in enumerate({entry.key: entry for entry in entries}.values(), 1):
            found.setdefault(entry.key, entry)
            scores[entry.key] = scores.get(entry.key, 0.0) + _weigh(entry, now) / (RANK_CONSTANT + place)
    scored = [replace(entry, score=scores[key]) for key, entry in found.items()]
    return sorted(scored, key=lambda entry: (-entry.score, -entry.said_at.timestamp(), entry.key))


def _weigh(entry: Recalled, now: datetime) -> float:
    age_days = max((now - entry.said_at).total_seconds(), 0.0) / _SECS_A_DAY
    recency = 1 + _RECENCY_WEIGHT * 0.5 ** (age_days / _RECENCY_DAYS)
    matter = 1.0 if entry.key.kind == "message" else _MEMORY_WEIGHT + _COVERAGE_WEIGHT * entry.coverage
    return float(_AUTHORITY_WEIGHT[entry.origin] * recency * matter)


def _join_items(ranked: Sequence[Recalled]) -> list[Recalled]:
    """The same with each item at the message that it is noted of, where both have the same origin, at the better place."""
    messages = {entry.key: entry for entry in ranked if entry.key.kind == "message"}
    homes: dict[RecallKey, RecallKey] = {}
    notes: dict[RecallKey, list[str]] = {}
    for entry in ranked:
        home = next((key for key in entry.evidence if key in messages and messages[key].origin == entry.origin), None)
        if home is not None:
            homes[entry.key] = home
            notes.setdefault(home, []).append(entry.text)
    joined: dict[RecallKey, Recalled] = {}
    for entry in ranked:
        key = homes.get(entry.key, entry.key)
        if key not in joined:
            whole = messages.get(key, entry)
            joined[key] = replace(whole, score=entry.score, notes=tuple(notes.get(key, ())))
    return list(joined.values())


def _list_new(vectors: Sequence[Recalled], found: set[RecallKey]) -> Iterator[Recalled]:
    """The entries that vectors alone found, each once; none that is evidence of what words found, or noted of it."""
    for entry in {entry.key: entry for entry in vectors}.values():
        if found.isdisjoint((entry.key, *entry.evidence)):
            yield replace(entry, by="vector")


def _put_in(ranked: Sequence[Recalled], added: Iterator[Recalled]) -> Iterator[Recalled]:
    for place, entry in enumerate(ranked, 1):
        yield entry
        if place % VECTOR_GAP == 0 and (one := next(added, None)) is not None:
            yield one
    yield from added
