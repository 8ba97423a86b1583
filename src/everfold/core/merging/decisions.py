"""Decisions on memory items: what becomes of statements that were found, given what is known already.

Theory of operation. Candidates are taken in the order in which they were said, whatever order they come in, and each is
one of these: a repeat of an item with the same identity, which is seen again; a newer statement about the same subject,
which supersedes; something of its own, which is added; or it is refused, with the reason. What has less authority changes
nothing of what has more. At the end the block is brought within its budget: its oldest items move to the archive. Nothing
is written here: the new revisions, one for each item, come out as a value.

The same candidates over what they have become already change nothing.

Source: DESIGN section 4; REQUIREMENTS U-43, U-44, HM-1 to HM-4.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, get_args

from everfold.core.extraction.candidates import clean_candidate, list_item_threats
from everfold.core.memory.block import list_overflow
from everfold.core.memory.items import Candidate, Evidence, Item, ItemId, ItemKind, Shelf, Writer, identify
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.merging.item_index import ItemIndex
from everfold.core.merging.item_subjects import (
    corrects,
    is_of_one_place,
    list_replaced_items,
    may_replace,
    says_again,
    says_no_more,
)
from everfold.core.merging.releasing import list_open_threats
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.primitives.stepwise import Steps, finish
from everfold.core.text.words import read_words
from everfold.core.threats.scanning import read_rules_ahead

RefusalReason = Literal["empty", "unquoted", "machine_word", "outranked", "forgotten", "threat"]
"""Why a candidate was not taken.

empty: it says nothing. unquoted: no message says it. machine_word: only the user can say what the user wants.
outranked: it repeats what is known from a source with more authority. forgotten: it, or another item of the words that say
it last, was erased or undone after they were said.
threat: its words equal those of a clean item, and its quote holds a threat.
"""

MOST_EVIDENCE: Final = 24
"""How many quotes an item keeps: its first, and the newest. Older revisions still name the others."""
LIKE_COUNT: Final = 24
"""How many items that share its words a candidate is held against. Source: `supersession.NEAR_COUNT`."""
STEP_COUNT: Final = 2
"""So many candidates are taken between two pauses: up to 10 ms where memory has thousands of similar items. Source: own measurement."""
INDEXED_COUNT: Final = 64
"""The same for known items, which are only indexed."""
MACHINES: Final[frozenset[Origin]] = frozenset(("tool", "external"))
"""Whose words are never in the block, which has no fences: their items are in the archive from the first."""
_BY_HAND: Final[frozenset[Writer]] = frozenset(("user", "agent", "import"))
_KINDS: Final = get_args(ItemKind)
_WANTS: Final[frozenset[ItemKind]] = frozenset(("preference", "decision"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a decision is made over.

    Attributes:
        block: All active items of the block that the agent is shown.
        same: All items with the identities of the candidates, whatever their status.
        like: Active items that share words with the candidates, those that superseded one of `same`, and those that a
            candidate says it replaces.
        gone: Erased, expired and superseded items that quote a message of the candidates.
    """

    block: tuple[Item, ...] = ()
    same: tuple[Item, ...] = ()
    like: tuple[Item, ...] = ()
    gone: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who decides now, and for whom."""

    user_id: UserId
    agent_id: AgentId
    written_by: Writer
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A candidate that was not taken. It holds the words that were found; what is told to a model names the reason."""

    candidate: Candidate
    reason: RefusalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What candidates come to.

    Attributes:
        items: The new revisions, one an item.
        seen: Every item that was added or seen again, once each, in the order in which it was said.
        counts: How many candidates were taken of each kind: facts, preferences, decisions, tasks, open items.
    """

    items: tuple[Item, ...] = ()
    seen: tuple[ItemId, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)


def plan_merge(
    candidates: Sequence[Candidate],
    known: Known,
    *,
    policy: MemoryPolicy,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    new_ids: Iterator[ItemId],
    written_by: Writer,
) -> Merge:
    """What becomes of candidates. Deterministic in everything but the new ids; the order of the candidates is no matter.

    Each candidate costs what shares its subject; see `item_index`.
    """
    author = Author(user_id=user_id, agent_id=agent_id, written_by=written_by, now=now)
    return finish(plan_merge_stepwise(candidates, known, policy=policy, author=author, new_ids=new_ids))


def plan_merge_stepwise(
    candidates: Sequence[Candidate], known: Known, *, policy: MemoryPolicy, author: Author, new_ids: Iterator[ItemId]
) -> Steps[Merge]:
    """`plan_merge`, with a pause after every few candidates."""
    yield from read_rules_ahead()
    cleaned: list[Candidate] = []
    for number, candidate in enumerate(candidates, 1):
        cleaned.append(clean_candidate(candidate))
        if number % STEP_COUNT == 0:
            yield
    desk = Desk(known, author, new_ids)
    yield from desk.index_stepwise()
    merge = yield from take_stepwise(cleaned, desk, author)
    desk.fit(policy)
    return replace(merge, items=desk.list_changed())


def take_stepwise(cleaned: Iterable[Candidate], desk: "Desk", author: Author) -> Steps[Merge]:
    """Take cleaned candidates onto a desk whose items are indexed, whatever the budget; its changed items are the merge's."""
    merger = _Merger(desk, author)
    for number, candidate in enumerate(sorted(cleaned, key=_read_order), 1):
        merger.take(candidate)
        if number % STEP_COUNT == 0:
            yield
    return merger.close()


class Desk:
    """The items of one decision as they are by now, and which of them are other than they were."""

    def __init__(self, known: Known, author: Author, new_ids: Iterator[ItemId]) -> None:
        self._was = {item.id: item for item in (*known.gone, *known.like, *known.same, *known.block)}
        self._author = author
        self._new_ids = new_ids
        self.items = dict(self._was)
        self._index = ItemIndex()

    def put(self, item: Item) -> None:
        """Have an item as it is now."""
        self.items[item.id] = item
        self._index.put(item)

    def index_stepwise(self) -> Steps[None]:
        """Have the known items found by the methods below, which until then find only those that were put."""
        for number, item in enumerate(self._was.values(), 1):
            self._index.put(item)
            if number % INDEXED_COUNT == 0:
                yield

    def list_same(self, identity: str) -> list[Item]:
        """The items of one identity, whatever their status."""
        return self._index.list_same(identity)

    def list_quoting(self, new: Item) -> list[Item]:
        """The active items of an item's place, also past their end, that quote a message which it quotes."""
        quoting = self._index.list_quoting(new)
        return [item for item in quoting if item.status == "active" and is_of_one_place(item, new)]

    def was_forgotten(self, new: Item) -> bool:
        """Whether an item of its place, of the words that say this last, was erased or undone after they were said."""
        said = replace(new, evidence=new.evidence[-1:])  # another answer to the same question is another statement
        return any(
            _was_taken_back(item)
            and item.changed_at >= new.last_seen_at
            and is_of_one_place(item, new)
            and says_again(said, item)
            for item in self._index.list_quoting(said)
        )

    def list_older(self, newer: Item) -> list[Item]:
        """The rivals that an item may replace: those said shortly before it, of all that share a word."""
        return self._index.list_older(newer, lambda item: self.is_rival(item, newer) and may_replace(newer, item))

    def list_later(self, older: Item) -> list[Item]:
        """The rivals that may replace an item: those said shortly after it, of all that share a word."""
        return self._index.list_later(older, lambda item: self.is_rival(item, older) and may_replace(item, older))

    def is_rival(self, item: Item, new: Item) -> bool:
        """Whether an item is current, and of the place of a new one, which it stands beside."""
        return item.is_current(self._author.now) and is_of_one_place(item, new)

    def new_id(self) -> ItemId:
        """An id for an item that is added."""
        return next(self._new_ids)

    def fit(self, policy: MemoryPolicy) -> None:
        """Bring the block within its budget: what is over moves to the archive."""
        for item in list_overflow(self.items.values(), policy, agent_id=self._author.agent_id, now=self._author.now):
            self.put(replace(item, shelf="archive"))

    def list_changed(self) -> tuple[Item, ...]:
        """The new revisions, those of known items first."""
        return tuple(self._sign(item) for item in self.items.values() if item != self._was.get(item.id))

    def _sign(self, item: Item) -> Item:
        was = self._was.get(item.id)
        return replace(
            item,
            revision=was.revision + 1 if was else 1,
            changed_at=self._author.now,
            written_by=self._author.written_by,
        )


def _was_taken_back(item: Item) -> bool:
    """Whether an item was erased, ended by hand, or undone."""
    return item.is_undone or item.status in ("erased", "expired")


def list_identities(candidates: Sequence[Candidate], agent_id: AgentId) -> list[str]:
    """The identities that items made of candidates would have, each once."""
    cleaned = map(clean_candidate, candidates)
    return list(dict.fromkeys(identify(one.statement, tier=one.tier, agent_id=agent_id) for one in cleaned))


def fit_block(
    changed: Sequence[Item], block: Sequence[Item], *, policy: MemoryPolicy, author: Author
) -> tuple[Item, ...]:
    """New revisions, and behind them those of the items that leave the block for them; nothing is dropped."""
    fresh = {item.id: item for item in changed}
    held = {item.id: item for item in block} | fresh
    leaving = list_overflow(held.values(), policy, agent_id=author.agent_id, now=author.now)
    for item in leaving:
        moved = replace(item, shelf="archive", changed_at=author.now, written_by=author.written_by)
        fresh[item.id] = moved if item.id in fresh else replace(moved, revision=item.revision + 1)
    return tuple(fresh.values())


def supersede(desk: Desk, newer: Item, older: Sequence[Item]) -> Item:
    """Put a newer item in the place of older ones, the nearest of which comes first; gives it with its link."""
    if not older:
        return newer
    for item in older:
        ends_at = max(newer.valid_from, item.valid_from)
        desk.put(replace(item, status="superseded", superseded_by=newer.id, valid_to=ends_at))
    is_shown = newer.origin not in MACHINES and any(item.shelf == "block" for item in older)
    return replace(newer, supersedes=older[0].id, shelf="block" if is_shown else newer.shelf)


def make_item(candidate: Candidate, item_id: ItemId, author: Author) -> Item:
    """A new item of what was found; quarantined where a scan hits its statement or a quote."""
    threats = list_item_threats(candidate.statement, candidate.evidence, origin=candidate.origin)
    return Item(
        id=item_id,
        user_id=author.user_id,
        agent_id=author.agent_id,
        tier=candidate.tier,
        kind=candidate.kind,
        statement=candidate.statement,
        evidence=_bound(candidate.evidence),
        origin=candidate.origin,
        confidence=candidate.confidence,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        recorded_at=author.now,
        last_seen_at=_read_said_at(candidate, author.now),
        changed_at=author.now,
        identity=identify(candidate.statement, tier=candidate.tier, agent_id=author.agent_id),
        written_by=author.written_by,
        status="quarantined" if threats else "active",
        shelf="archive" if threats or candidate.origin in MACHINES else candidate.shelf,
        is_explicit=candidate.is_explicit,
        threats=threats,
        is_by_hand=not candidate.evidence,
    )


class _Merger:
    """Takes candidates, one after the other, into the items on a desk."""

    def __init__(self, desk: Desk, author: Author) -> None:
        self._desk = desk
        self._author = author
        self._seen: dict[ItemId, None] = {}
        self._refusals: list[Refusal] = []
        self._counts: Counter[ItemKind] = Counter()

    def close(self) -> Merge:
        facts, preferences, decisions, tasks, open_items = (self._counts[kind] for kind in _KINDS)
        return Merge(
            items=self._desk.list_changed(),
            seen=tuple(self._seen),
            refusals=tuple(self._refusals),
            counts=(facts, preferences, decisions, tasks, open_items),
        )

    def take(self, candidate: Candidate) -> None:
        taken = self._refuse(candidate) or self._match(candidate)
        if isinstance(taken, Item):
            self._desk.put(taken)
            self._seen[taken.id] = None
            self._counts[candidate.kind] += 1
        else:
            self._refusals.append(Refusal(candidate=candidate, reason=taken))

    def _refuse(self, candidate: Candidate) -> RefusalReason | None:
        """Why a candidate cannot be taken whatever is known."""
        if not read_words(candidate.statement):
            return "empty"
        if not candidate.evidence and self._author.written_by not in _BY_HAND:
            return "unquoted"
        if candidate.tier == "user" and candidate.kind in _WANTS and AUTHORITY[candidate.origin] < AUTHORITY["user"]:
            return "machine_word"
        return None

    def _match(self, candidate: Candidate) -> Item | RefusalReason:
        """The item that a candidate is a repeat of, or a new one, or why it is neither."""
        new = make_item(candidate, ItemId(""), self._author)
        same = [item for item in self._desk.list_same(new.identity) if item.tier == new.tier]
        if any(item.status == "erased" and item.changed_at >= new.last_seen_at for item in same):
            return "forgotten"
        if new.status == "quarantined":
            if (passed := self._find_released(same, new)) is not None:
                return "outranked" if new.authority < passed.authority else self._see_again(passed, candidate)
            held = [item for item in same if item.status == "quarantined"]
            if held:
                return "outranked" if new.authority < held[0].authority else self._see_again(held[0], candidate)
            if any(item.status != "erased" for item in same):
                return "threat"
            return "forgotten" if self._desk.was_forgotten(new) else self._name(new)
        lasting = [item for item in same if item.status not in ("erased", "quarantined")]
        if lasting:
            return self._repeat(min(lasting, key=lambda item: _read_rank(item, candidate)), new, candidate)
        if not new.is_explicit and (older := self._find_fuller(new)) is not None:
            return "outranked" if new.authority < older.authority else self._see_again(older, candidate)
        return "forgotten" if self._desk.was_forgotten(new) else self._place(new, candidate)

    def _find_released(self, same: Sequence[Item], new: Item) -> Item | None:
        """The item that a person has let pass with exactly these words."""
        return next(
            (
                item
                for item in same
                if item.status not in ("erased", "quarantined")
                and item.released
                and not list_open_threats(new.statement, new.evidence, item.released, origin=new.origin)
            ),
            None,
        )

    def _repeat(self, item: Item, new: Item, candidate: Candidate) -> Item | RefusalReason:
        """What was said before is said again."""
        if new.authority < item.authority:
            return "outranked"
        if item.status == "superseded":
            return self._place(new, candidate) if self._is_after(new, item) else self._see_again(item, candidate)
        if new.authority > item.authority:
            named = self._name(new)
            return supersede(self._desk, named, [item])
        return self._see_again(item, candidate)

    def _is_after(self, new: Item, item: Item) -> bool:
        """Whether a superseded item is said again after what superseded it."""
        following = self._desk.items.get(item.superseded_by) if item.superseded_by else None
        if new.last_seen_at <= item.last_seen_at or following is None:
            return new.last_seen_at > item.last_seen_at
        said_at = following.evidence[0].said_at if following.evidence else following.recorded_at
        return new.last_seen_at > said_at

    def _see_again(self, item: Item, candidate: Candidate) -> Item:
        """The item with more evidence, and its end taken back where it is said again after it."""
        said_at = _read_said_at(candidate, self._author.now)
        is_fresh = said_at > item.last_seen_at or (said_at == item.last_seen_at and _stands_later(candidate, item))
        seen = replace(
            item,
            evidence=_bound((*item.evidence, *candidate.evidence)),
            last_seen_at=max(said_at, item.last_seen_at),
            confidence=max(candidate.confidence, item.confidence),
            is_by_hand=item.is_by_hand or not candidate.evidence,
        )
        if candidate.is_explicit and not item.is_explicit and candidate.statement:
            seen = replace(seen, is_explicit=True, statement=candidate.statement)
        if item.status in ("superseded", "quarantined"):
            return seen
        if not is_fresh:
            is_read_again = self._author.written_by == "model" and item.is_current(self._author.now)
            return replace(seen, shelf=_choose_shelf(seen, candidate)) if is_read_again else seen
        if item.is_current(self._author.now):
            ends_at = candidate.valid_to or item.valid_to
            return replace(seen, valid_to=ends_at, shelf=_choose_shelf(seen, candidate))
        if candidate.valid_to is not None and candidate.valid_to <= self._author.now:
            return seen
        return replace(seen, status="active", valid_to=candidate.valid_to)

    def _find_fuller(self, new: Item) -> Item | None:
        """An item taken from the same words, that says all that the new one says; also one whose end is past."""
        return next((item for item in self._desk.list_quoting(new) if says_no_more(new, item)), None)

    def _place(self, new: Item, candidate: Candidate) -> Item:
        """A new item, in the place of what it supersedes; or behind what was said later already."""
        named = self._name(new)
        replaced = list_replaced_items(named, self._desk.list_older(named))
        later = self._desk.list_later(named)
        told = self._desk.items.get(candidate.replaces) if candidate.replaces else None
        current = self._follow(told) if told is not None else self._find_current(new)
        if current is not None and self._desk.is_rival(current, named) and self._may_follow(named, current):
            replaced = [current, *(item for item in replaced if item.id != current.id)]
        named = supersede(self._desk, named, replaced)
        newest = next((item for item in later if list_replaced_items(item, [named])), None)
        if newest is None:
            return named
        if newest.supersedes is None:
            self._desk.put(replace(newest, supersedes=named.id))
        ends_at = max(newest.valid_from, named.valid_from)
        return replace(named, status="superseded", superseded_by=newest.id, valid_to=ends_at)

    def _find_current(self, new: Item) -> Item | None:
        """What holds now in the place of a superseded item with the same identity."""
        older = [item for item in self._desk.list_same(new.identity) if item.status == "superseded"]
        return self._follow(max(older, key=lambda item: item.last_seen_at)) if older else None

    def _follow(self, item: Item) -> Item | None:
        """The item that holds now instead of an item, or that item itself."""
        met: set[ItemId] = set()
        while item.superseded_by is not None and item.status == "superseded" and item.id not in met:
            met.add(item.id)
            following = self._desk.items.get(item.superseded_by)
            if following is None:
                return None
            item = following
        return item if item.status == "active" else None

    def _may_follow(self, newer: Item, older: Item) -> bool:
        is_later = older.authority <= newer.authority and older.last_seen_at <= newer.last_seen_at
        return is_later and (not older.is_explicit or newer.is_explicit or corrects(newer))

    def _name(self, new: Item) -> Item:
        return replace(new, id=self._desk.new_id())


def _choose_shelf(item: Item, candidate: Candidate) -> Shelf:
    """Where an item that is seen again goes: it leaves the archive for what the block may take of it."""
    if item.origin in MACHINES:
        return "archive"
    return "block" if item.is_explicit or item.shelf == "block" else candidate.shelf


def _read_said_at(candidate: Candidate, now: datetime) -> datetime:
    return max((one.said_at for one in candidate.evidence), default=now)


def _stands_later(candidate: Candidate, item: Item) -> bool:
    """Whether a candidate's newest quote stands in a later message of its session than every quote of an item there."""
    if not candidate.evidence:
        return False
    last = max(candidate.evidence, key=_read_place)
    seqs = [one.seq for one in item.evidence if one.session_id == last.session_id]
    return bool(seqs) and last.seq > max(seqs)


def _read_order(candidate: Candidate) -> tuple[object, ...]:
    """A total order of candidates: when and where they were said, then what they say."""
    last = max(map(_read_place, candidate.evidence), default=None)
    return (
        last is None,
        last,
        not candidate.is_explicit,
        -AUTHORITY[candidate.origin],
        candidate.tier,
        candidate.kind,
        candidate.statement,
        -candidate.confidence,
        candidate.evidence,
        candidate.valid_from,
        candidate.valid_to is not None,
        candidate.valid_to,
        candidate.replaces or "",
    )


def _read_place(one: Evidence) -> tuple[datetime, str, int, int, str]:
    return one.said_at, one.session_id, one.seq, one.start, one.quote


def _read_rank(item: Item, candidate: Candidate) -> tuple[bool, int, int, float]:
    """Which of several items of one identity a repeat is of: what has its quotes, what is active, what has authority."""
    is_known = bool(candidate.evidence) and set(candidate.evidence) <= set(item.evidence)
    order = ("active", "expired", "superseded").index(item.status)
    return not is_known, order, -item.authority, -item.last_seen_at.timestamp()


def _bound(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The quotes in the order in which they were said, each once: the first, and the newest of the others."""
    ordered = sorted(dict.fromkeys(evidence), key=_read_place)
    return tuple(ordered if len(ordered) <= MOST_EVIDENCE else [ordered[0], *ordered[1 - MOST_EVIDENCE :]])
