"""Which extract lines still hold: a newer statement replaces an older one about the same subject.

Which pairs are compared is decided here, by the words that they share; whether the newer one takes the place of the older
one is decided by `replacement` over the two alone. What is not clearly replaced stays. Reports of what is done or has
another status replace older ones of the same thing by their words, which `quotes` reads.

Source: docs/adr/0006-extract-lines.md on what a digest selects from.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import compress, pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from everfold.core.changes.retractions import find_excess, is_slip
from everfold.core.clauses.assertions import WIDE
from everfold.core.primitives.stepwise import Steps, finishing, map_stepwise
from everfold.core.replacement.attributes import read_attributes
from everfold.core.replacement.opposites import list_sorts
from everfold.core.replacement.replacement import is_marked, replaces
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.quotes import (
    NOTHING,
    Reading,
    has_status,
    is_done,
    list_words,
    read_quote,
    sums_up,
)
from everfold.core.text.ends import find_end
from everfold.core.text.stems import stem

_FIRM: Final = 2
"""How many shared words make two reports speak of one thing."""
_LINES_PER_STEP: Final = 200
_PAIRS_PER_STEP: Final = 100
"""Some milliseconds where nothing of the lines was read before. Source: own measurement, bench/folds.py."""
_REACH: Final = 40
"""How many messages back a bare correction ("no, make it 12, not 300") can reach without naming its subject."""
_SLIP_GAP: Final = 3
"""How many marks and blanks stand at most between a sentence and the next."""
_REMEMBERED_KEYS: Final = 2048
"""Of how many lines the keys stay known: a walk over a rollup's meets them again."""
NEAR_COUNT: Final = 24
"""With how many older lines a line is compared at most for each of its words, the newest ones."""
_WIDE: Final = re.compile(f"[{WIDE}]+")
_VALUED: Final[frozenset[LineKind]] = frozenset(
    (
        "constraint",
        "preference",
        "decision",
        "correction",
        "identity",
        "remember",
        "number",
        "date",
        "task",
        "identifier",
        "answer",
    )
)
_BINDING: Final[frozenset[LineKind]] = frozenset(("constraint", "preference", "decision", "number", "task"))
"""What may be found too much; a fact is none the less true for it."""
_PENDING: Final[frozenset[LineKind]] = frozenset(("task", "state", "commitment"))
_COMPARED: Final[frozenset[LineKind]] = _VALUED | _PENDING | {"error"}

_Claim = Literal["corrects", "stands", "finishes", "reports"]
"""How a line can replace an older one: by a mark that it does, by a changed rule, by its end, by a new status."""


Key: TypeAlias = tuple[int, int]
"""A line, by its message and where it starts there."""


class Superseded(NamedTuple):
    """What a walk over lines found.

    Attributes:
        gone: The lines that a newer one supersedes, by message and start.
        pairs_count: How many pairs of lines were compared for it.
    """

    gone: frozenset[Key]
    pairs_count: int


def list_current_stepwise(
    lines: Iterable[ExtractLine], *, settled: Collection[Key] = frozenset()
) -> Steps[tuple[ExtractLine, ...]]:
    """The lines without those that a newer one supersedes, in their order. Costs what `find_superseded_stepwise` does."""
    given = tuple(lines)
    gone = (yield from find_superseded_stepwise(given, settled=settled)).gone
    return tuple([line for line in given if _key(line) not in gone]) if gone else given


def find_superseded_stepwise(
    lines: Iterable[ExtractLine], *, settled: Collection[Key] = frozenset()
) -> Steps[Superseded]:
    """Which of the lines a newer one supersedes.

    O(n log n) for the order, else O(n): only a line that can replace another is compared, with `NEAR_COUNT` older ones
    for each of its words. Lines that are `settled`, by message and start, were left by a walk that all of them were in:
    they are not compared with each other again.
    """
    walk = _Walk(sorted(lines, key=_key), settled)
    yield from walk.run()
    return Superseded(frozenset(walk.gone), walk.pairs_count)


list_current: Final = finishing(list_current_stepwise)


def has_ended(line: ExtractLine, as_of: datetime) -> bool:
    """Whether a statement had an end in its own words ("never this week") that is past."""
    ends_at = find_end(line.quote, line.said_at)
    return ends_at is not None and ends_at < as_of


def list_replaced(newer: ExtractLine, older: Iterable[ExtractLine]) -> tuple[ExtractLine, ...]:
    """Those of the older lines that one newer line supersedes, in their order; what they do to each other is not asked.

    Lines of the newer one's own message, and later ones, are left alone. Costs as `find_superseded_stepwise`.
    """
    before = sorted((line for line in older if line.seq < newer.seq), key=_key)
    gone = _Walk([*before, newer]).run_last()
    return tuple(line for line in before if _key(line) in gone)


def _key(line: ExtractLine) -> Key:
    return line.seq, line.start


@lru_cache(maxsize=_REMEMBERED_KEYS)
def list_keys(quote: str) -> frozenset[str]:
    """What a line is found by: the stems of its words, the attributes and the sorts that it tells of, and each pair of Chinese or Japanese characters."""
    words = list_words(quote)
    stems = frozenset(map(stem, words)).union(f"={name}" for name in (*read_attributes(quote), *list_sorts(words)))
    if quote.isascii() or _WIDE.search(quote) is None:
        return stems
    pairs = (f"{one}{other}" for one, other in pairwise(quote))
    return stems.union(pair for pair in pairs if _WIDE.fullmatch(pair))


def _list_claims(line: ExtractLine) -> tuple[_Claim, ...]:
    """How a line can replace an older one; most lines cannot."""
    claims: list[_Claim] = []
    if line.kind == "correction" or (line.standing and is_marked(line.quote)):
        claims.append("corrects")
    elif line.standing:
        claims.append("stands")
    if not line.standing and line.kind in ("task", "state") and line.origin != "external":
        if is_done(line.quote):
            claims.append("finishes")
        if has_status(line.quote):
            claims.append("reports")
    return tuple(claims)


class _Walk:
    """One pass over lines from the oldest to the newest: each that claims to replace something meets the older ones near it.

    Only words of lines with a claim are indexed. What is compared is told by places in the order.

    Attributes:
        gone: The lines that are superseded, by message and start.
        pairs_count: How many pairs of lines were compared.
    """

    def __init__(self, ordered: Sequence[ExtractLine], settled: Collection[Key] = ()) -> None:
        self.gone: set[Key] = set()
        self.pairs_count = 0
        self._ordered = ordered
        self._settled = {at for at, line in enumerate(ordered) if _key(line) in settled} if settled else set[int]()
        self._index: dict[str, deque[int]] = {}
        self._retired: set[int] = set()
        self._standing: set[int] = set()
        self._pending: set[int] = set()
        self._reported: set[int] = set()
        self._readings: dict[int, Reading] = {}

    def run(self) -> Steps[None]:
        """Find what is superseded. O(words of all lines)."""
        self._retire_summaries()
        claims = yield from map_stepwise(_list_claims, self._ordered, count=_LINES_PER_STEP)
        words = [list_keys(line.quote) for line in compress(self._ordered, claims)]
        if not words:
            return
        asked = NOTHING.union(*words)
        seq, first_at, pause_at, pause_pairs = 0, 0, _LINES_PER_STEP, _PAIRS_PER_STEP
        for at, line in enumerate(self._ordered):
            if at >= pause_at or self.pairs_count >= pause_pairs:
                yield
                pause_at, pause_pairs = at + _LINES_PER_STEP, self.pairs_count + _PAIRS_PER_STEP
            if line.seq != seq:
                seq, first_at = line.seq, at
            if claims[at]:
                if at > first_at and line.kind == "correction":
                    self._retire_before(at)
                self._retire(at, self._list_near(at, first_at), claims[at])
            if line.kind in _COMPARED:
                self._add(at, line, list_keys(line.quote) & asked)

    def run_last(self) -> set[Key]:
        """Find what the last line alone supersedes, by message and start. O(words of all lines)."""
        last = len(self._ordered) - 1
        if claims := _list_claims(self._ordered[last]):
            asked = list_keys(self._ordered[last].quote)
            for at, line in enumerate(self._ordered[:last]):
                if line.kind in _COMPARED:
                    self._add(at, line, list_keys(line.quote) & asked)
            self._retire(last, self._list_near(last, last), claims)
        return self.gone

    def _retire_summaries(self) -> None:
        """All summaries of test runs but the newest."""
        summaries = [line for line in self._ordered if line.kind in ("state", "error") and sums_up(line.quote)]
        self.gone.update(map(_key, summaries[:-1]))

    def _add(self, at: int, line: ExtractLine, words: Iterable[str]) -> None:
        for word in words:
            places = self._index.get(word)
            if places is None:
                places = self._index[word] = deque(maxlen=NEAR_COUNT)
            places.append(at)
        if line.standing:
            self._standing.add(at)
        if line.kind in _PENDING:
            if line.kind == "state" and has_status(line.quote):
                self._reported.add(at)
            else:
                self._pending.add(at)

    def _list_near(self, at: int, first_at: int) -> set[int]:
        """The places of older messages' lines that share a word, the newest of each word."""
        index = self._index
        rows = [index[word] for word in list_keys(self._ordered[at].quote) if word in index]
        return set[int]().union(*rows).difference(range(first_at, at))

    def _read_at(self, place: int) -> Reading:
        reading = self._readings.get(place)
        if reading is None:
            reading = self._readings[place] = read_quote(self._ordered[place].quote)
        return reading

    def _retire(self, at: int, near: set[int], claims: Sequence[_Claim]) -> None:
        left = near - self._retired
        if at in self._settled:
            left -= self._settled
        for claim in claims:
            match claim:
                case "corrects":
                    self._replace(at, left)
                    self._retire_excess(at, left & self._standing)
                case "stands":
                    self._replace(at, left & self._standing)
                case "finishes":
                    self._retire_those(at, left & self._pending, _is_finished)
                    if "reports" not in claims:
                        self._retire_those(at, left & self._reported, _is_finished)
                case "reports":
                    self._retire_those(at, left & self._reported, _is_older_report)

    def _replace(self, at: int, places: Collection[int]) -> None:
        """Retire those of the places that the newer line takes the place of."""
        newer = self._ordered[at]
        self.pairs_count += len(places)
        for place in places:
            older = self._ordered[place]
            if older.origin == "external" or older.kind not in _VALUED:
                continue
            is_near = newer.seq - older.seq <= _REACH
            if replaces(newer.quote, older.quote, is_saved=older.kind == "remember", is_near=is_near):
                self._drop(place)

    def _retire_excess(self, at: int, places: Collection[int]) -> None:
        """Retire what was laid down shortly before and is said to be too much or too little."""
        newer = self._ordered[at]
        words = list_words(find_excess(newer.quote) or "")
        for place in places if words else ():
            older = self._ordered[place]
            if newer.seq - older.seq <= _REACH and older.kind in _BINDING and words <= list_words(older.quote):
                self._drop(place)

    def _retire_those(self, at: int, places: Collection[int], is_replaced: Callable[[Reading, Reading], bool]) -> None:
        """Retire those of the places that the newer line replaces by one rule."""
        self.pairs_count += len(places)
        for place in places:
            if is_replaced(self._read_at(place), self._read_at(at)):
                self._drop(place)

    def _drop(self, place: int) -> None:
        self._retired.add(place)
        self.gone.add(_key(self._ordered[place]))

    def _retire_before(self, at: int) -> None:
        """Retire what the same message says right before a slip of the tongue is taken back."""
        line, before = self._ordered[at], self._ordered[at - 1]
        gap = line.start - before.start - len(before.quote)
        if gap <= _SLIP_GAP and before.kind in _VALUED and is_slip(line.quote):
            self._drop(at - 1)


def _is_finished(older: Reading, newer: Reading) -> bool:
    """Whether a report that something is done is about what the older line says."""
    shared = len(older.words & newer.words)
    smaller = min(len(older.words), len(newer.words))
    is_open = not is_done(older.lowered)
    return is_open and shared >= _FIRM and shared * 5 >= smaller * 3 and not _are_rivals(older, newer)


def _is_older_report(older: Reading, newer: Reading) -> bool:
    """Whether both tell the status of one thing, and not the same."""
    return (
        not older.values.isdisjoint(newer.values) and older.lowered != newer.lowered and not _are_rivals(older, newer)
    )


def _are_rivals(older: Reading, newer: Reading) -> bool:
    """Whether both name their thing by an identifier, and not by the same: a report need not repeat it."""
    told, said = older.identifiers, newer.identifiers
    return bool(told) and bool(said) and told.isdisjoint(said)
