"""Which extract lines still hold: a newer statement replaces an older one about the same subject.

General rules, by overlap of subject words, deterministic and on the careful side: what is not clearly replaced stays.
What a line says is read in `quotes`.

Source: docs/adr/0006-extract-lines.md on what a digest selects from.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import compress
from typing import Final, Literal, NamedTuple

from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.quotes import (
    NOTHING,
    Reading,
    has_status,
    is_done,
    is_negative,
    is_replacing,
    list_rejected,
    list_words,
    read_quote,
    sums_up,
)
from everfold.core.statements.retractions import find_excess, find_moved, has_day_or_time, is_slip

_FIRM: Final = 2
"""How many shared subject words make two statements speak of one subject."""
_REACH: Final = 40
"""How many messages back a bare correction ("no, make it 12") can reach without sharing a subject word."""
_SLIP_GAP: Final = 3
"""How many marks and blanks stand at most between a sentence and the next."""
NEAR_COUNT: Final = 24
"""With how many older lines a line is compared at most for each of its words, the newest ones."""
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
_PENDING: Final[frozenset[LineKind]] = frozenset(("task", "state", "commitment"))
_COMPARED: Final[frozenset[LineKind]] = _VALUED | _PENDING | {"error"}

_Claim = Literal["corrects", "stands", "finishes", "reports"]
"""How a line can replace an older one: by rejecting it, by a changed rule, by its end, by a new status."""


class Superseded(NamedTuple):
    """What a walk over lines found.

    Attributes:
        gone: The lines that a newer one supersedes, by message and start.
        pairs_count: How many pairs of lines were compared for it.
    """

    gone: frozenset[tuple[int, int]]
    pairs_count: int


def list_current(lines: Iterable[ExtractLine]) -> tuple[ExtractLine, ...]:
    """The lines without those that a newer one supersedes, in their order. Costs what `find_superseded` does."""
    given = tuple(lines)
    gone = find_superseded(given).gone
    return tuple(line for line in given if _key(line) not in gone) if gone else given


def find_superseded(lines: Iterable[ExtractLine]) -> Superseded:
    """Which of the lines a newer one supersedes.

    O(n log n) for the order, else O(n): only a line that can replace another is compared, with `NEAR_COUNT` older ones
    for each of its words.
    """
    walk = _Walk(sorted(lines, key=_key))
    walk.run()
    return Superseded(frozenset(walk.gone), walk.pairs_count)


def list_replaced(newer: ExtractLine, older: Iterable[ExtractLine]) -> tuple[ExtractLine, ...]:
    """Those of the older lines that one newer line supersedes, in their order; what they do to each other is not asked.

    Lines of the newer one's own message, and later ones, are left alone. Costs as `find_superseded`.
    """
    before = sorted((line for line in older if line.seq < newer.seq), key=_key)
    gone = _Walk([*before, newer]).run_last()
    return tuple(line for line in before if _key(line) in gone)


def _key(line: ExtractLine) -> tuple[int, int]:
    return line.seq, line.start


def _list_claims(line: ExtractLine) -> tuple[_Claim, ...]:
    """How a line can replace an older one; most lines cannot."""
    claims: list[_Claim] = []
    if line.kind == "correction" or (line.standing and is_replacing(line.quote)):
        claims.append("corrects")
    if line.standing:
        claims.append("stands")
    elif line.kind in ("task", "state") and line.origin != "external":
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

    def __init__(self, ordered: Sequence[ExtractLine]) -> None:
        self.gone: set[tuple[int, int]] = set()
        self.pairs_count = 0
        self._ordered = ordered
        self._index: dict[str, deque[int]] = {}
        self._retired: set[int] = set()
        self._standing: set[int] = set()
        self._subjects: dict[int, frozenset[str]] = {}
        self._pending: set[int] = set()
        self._reported: set[int] = set()
        self._readings: dict[int, Reading] = {}

    def run(self) -> None:
        """Find what is superseded. O(words of all lines)."""
        self._retire_summaries()
        claims = [_list_claims(line) for line in self._ordered]
        words = [list_words(line.quote) for line in compress(self._ordered, claims)]
        if not words:
            return
        asked = NOTHING.union(*words)
        seq, first_at = 0, 0
        for at, line in enumerate(self._ordered):
            if line.seq != seq:
                seq, first_at = line.seq, at
            if claims[at]:
                if at > first_at and line.kind == "correction":
                    self._retire_before(at)
                self._retire(at, self._list_near(at, first_at), claims[at])
            if line.kind in _COMPARED:
                self._add(at, line, list_words(line.quote) & asked)

    def run_last(self) -> set[tuple[int, int]]:
        """Find what the last line alone supersedes, by message and start. O(words of all lines)."""
        last = len(self._ordered) - 1
        if claims := _list_claims(self._ordered[last]):
            asked = list_words(self._ordered[last].quote)
            for at, line in enumerate(self._ordered[:last]):
                if line.kind in _COMPARED:
                    self._add(at, line, list_words(line.quote) & asked)
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
            self._subjects[at] = self._read_at(at).subject
        if line.kind in _PENDING:
            if line.kind == "state" and has_status(line.quote):
                self._reported.add(at)
            else:
                self._pending.add(at)

    def _list_near(self, at: int, first_at: int) -> set[int]:
        """The places of older messages' lines that share a word, the newest of each word."""
        index = self._index
        rows = [index[word] for word in list_words(self._ordered[at].quote) if word in index]
        return set[int]().union(*rows).difference(range(first_at, at))

    def _read_at(self, place: int) -> Reading:
        reading = self._readings.get(place)
        if reading is None:
            reading = self._readings[place] = read_quote(self._ordered[place].quote)
        return reading

    def _retire(self, at: int, near: set[int], claims: Sequence[_Claim]) -> None:
        if not near:
            return
        newer = self._read_at(at)
        left = near - self._retired
        for claim in claims:
            match claim:
                case "corrects":
                    self._correct(at, newer, near, left)
                case "stands":
                    self._retire_those(self._list_framed(newer.subject, left), newer, _is_same_subject)
                case "finishes":
                    self._retire_those(left & self._pending, newer, _is_finished)
                    if "reports" not in claims:
                        self._retire_those(left & self._reported, newer, _is_finished)
                case "reports":
                    self._retire_those(left & self._reported, newer, _is_older_report)

    def _correct(self, at: int, newer: Reading, near: set[int], left: set[int]) -> None:
        """Retire what a correction is about: what it says so of, or the nearest statement of its subject."""
        seq = self._ordered[at].seq
        if rejected := list_rejected(newer.lowered):
            self._retire_rejected(seq, newer, left, rejected)
        elif excess := find_excess(newer.lowered):
            self._retire_rejected(seq, newer, left & self._standing, (list_words(excess),))
        elif moved := list_words(find_moved(newer.lowered) or ""):
            self._retire_moved(newer, left, moved)
        else:
            self._retire_nearest(at, newer, near)

    def _list_framed(self, subject: frozenset[str], near: set[int]) -> list[int]:
        """Of these places, the standing lines whose subject holds all of this one, or is held by it."""
        subjects = self._subjects
        places = near & self._standing
        self.pairs_count += len(places)
        return [place for place in places if subject <= subjects[place] or subjects[place] <= subject]

    def _retire_those(
        self, places: Collection[int], newer: Reading, is_replaced: Callable[[Reading, Reading], bool]
    ) -> None:
        """Retire those of the places that the newer line replaces by one rule."""
        self.pairs_count += len(places)
        for place in places:
            if is_replaced(self._read_at(place), newer):
                self._drop(place)

    def _drop(self, place: int) -> None:
        self._retired.add(place)
        self.gone.add(_key(self._ordered[place]))

    def _retire_nearest(self, at: int, newer: Reading, near: set[int]) -> None:
        """Retire the nearest older statement of the same subject, which a correction that rejects no value means."""
        is_correction = self._ordered[at].kind == "correction"
        for place in sorted(near & self._standing, reverse=True):
            self.pairs_count += 1
            older = self._read_at(place)
            if self._ordered[place].kind not in _VALUED:
                continue
            if not is_correction and _is_about_another(older, newer):
                continue
            shared = len(newer.subject & older.subject)
            if shared and shared * 2 >= min(len(newer.subject), len(older.subject)):
                self._drop(place)
                return

    def _retire_before(self, at: int) -> None:
        """Retire what the same message says right before a slip of the tongue is taken back."""
        line, before = self._ordered[at], self._ordered[at - 1]
        gap = line.start - before.start - len(before.quote)
        if gap <= _SLIP_GAP and before.kind in _VALUED and is_slip(line.quote):
            self._drop(at - 1)

    def _retire_moved(self, newer: Reading, near: set[int], moved: frozenset[str]) -> None:
        """Retire the statements that name another day or time of what was moved."""
        self.pairs_count += len(near)
        for place in near:
            line = self._ordered[place]
            if line.origin == "external" or line.kind not in _VALUED or not has_day_or_time(line.quote):
                continue
            older = self._read_at(place)
            if (
                moved <= frozenset(older.lowered.replace("'s", "").replace(",", "").split())
                and older.values != newer.values
            ):
                self._drop(place)

    def _retire_rejected(self, seq: int, newer: Reading, near: set[int], rejected: Sequence[frozenset[str]]) -> None:
        """Retire the statements that hold a value which a correction rejects."""
        dropped = NOTHING.union(*rejected)
        fresh = newer.values - dropped
        subject = newer.subject - dropped
        self.pairs_count += len(near)
        for place in near:
            line = self._ordered[place]
            if line.origin == "external" or line.kind not in _VALUED:
                continue
            older = self._read_at(place)
            if (
                any(words <= older.words for words in rejected)
                and (seq - line.seq <= _REACH or not subject.isdisjoint(older.subject))
                and not (fresh and fresh <= older.values)
            ):
                self._drop(place)


def _is_same_subject(older: Reading, newer: Reading) -> bool:
    """Of two that have one frame: whether the number is another, or the words are the same with the opposite sign."""
    one, other = older.subject, newer.subject
    if not one or not other or _is_about_another(older, newer):
        return False
    smaller_count, is_alike = min(len(one), len(other)), len(one) == len(other)
    if older.changeable and newer.changeable and older.changeable.isdisjoint(newer.changeable):
        return (smaller_count >= _FIRM or is_alike) and older.has_unit == newer.has_unit
    return is_alike and older.values == newer.values and is_negative(older.lowered) != is_negative(newer.lowered)


def _is_about_another(older: Reading, newer: Reading) -> bool:
    """Whether one of them names a thing that the other does not speak of."""
    return not (older.names <= newer.words and newer.names <= older.words)


def _is_finished(older: Reading, newer: Reading) -> bool:
    """Whether a report that something is done is about what the older line says."""
    shared = len(older.words & newer.words)
    smaller = min(len(older.words), len(newer.words))
    return shared >= _FIRM and shared * 5 >= smaller * 3 and not _are_rivals(older, newer)


def _is_older_report(older: Reading, newer: Reading) -> bool:
    """Whether both tell the status of one thing, and not the same."""
    return (
        not older.values.isdisjoint(newer.values) and older.lowered != newer.lowered and not _are_rivals(older, newer)
    )


def _are_rivals(older: Reading, newer: Reading) -> bool:
    """Whether both name their thing by an identifier, and not by the same: a report need not repeat it."""
    told, said = older.identifiers, newer.identifiers
    return bool(told) and bool(said) and told.isdisjoint(said)
