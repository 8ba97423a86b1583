"""Which extract lines still hold: a newer statement replaces an older one about the same subject.

General rules, by overlap of subject words, deterministic and on the careful side: what is not clearly replaced stays.
A number, an amount, a date or a time is a value, which a newer statement can change. An identifier or a proper name
tells which thing is spoken of: statements that differ in one are about different things.

Source: docs/adr/0006-extract-lines.md on what a digest selects from.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, Literal, NamedTuple

from everfold.core.extracts import ExtractLine, LineKind
from everfold.core.retractions import find_excess, find_moved, has_day_or_time, is_slip
from everfold.core.statement_rules import DATE_WORDS, list_word_set

_WORD: Final = re.compile(r"[^\W_][\w'.:/#@-]*[^\W_]|[^\W_]")
_STOP: Final = list_word_set(
    "a about actually after all also always am an and any are as at be been before but by call can correction could dear did do does don't"
    " done for from get give go going got had has have he her here hi him his how i i'd i'll i'm i've if in instead into is it it's its just"
    " let let's lets like make made me mean meant more most must my mine need never no not now of off ok okay on one only or our out over"
    " please pls rather said say scratch set she should so some sorry still sure take than thank thanks that that's the their them then there"
    " these they this those to too typo up us use used very want was wasn't we we'll well were what when which who will with would wrong yes"
    " you your remember keep prefer decided decide change changed mind wait hmm no,"
)
_REJECTED: Final = re.compile(
    r"(?:\bnot|\binstead of|\brather than|\bno longer|\bwas wrong[,:]?|\bi said|\bisn't|\bwasn't|\bdon't use|\bstop using) "
    r"(?:the |a |an |on |at |in |it's |to )?([\w$€£.:#@/-]+(?: [\w$€£.:#@/-]+)?)"
)
_REPLACES: Final = re.compile(
    r"\b(?:actually|instead|correction|changed my mind|scratch that|i meant|no longer|rather than|from now on|not anymore|make (?:it|that))\b"
)
_NEGATIVE: Final = re.compile(r"\b(?:not|never|no|don't|dont|can't|cannot|stop|avoid|without|won't|isn't)\b")
_DONE: Final = re.compile(
    r"\b(?:done|fixed|finished|completed?|resolved|closed|merged|deployed|delivered|cancell?ed|passed|passing|processed|booked|updated|works now)\b"
)
_DONE_PARTS: Final = (
    *("done", "fixed", "finished", "complete", "resolved", "closed", "merged", "deployed", "delivered", "cancel"),
    *("pass", "processed", "booked", "updated", "works now"),
)
"""Every text that `_DONE` finds holds one of these; looking for them takes a third of its time."""
_TEST_SUMMARY: Final = re.compile(r"\b\d+ (?:passed|failed|tests? ran)\b")
_SUMMARY_PARTS: Final = (" passed", " failed", " ran")
_STATUS: Final = re.compile(r"\bstatus\W{1,4}\w+", re.IGNORECASE)
_STATUS_PART: Final = "tatu"
"""What `_STATUS` holds in lower case whichever s it was written with."""

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

REMEMBERED_TEXTS = 4096
"""How many quotes stay read: the lines of a coarse digest come again at every roll-up."""

_DIGIT: Final = re.compile(r"\d")
_PLAIN_VALUE: Final = re.compile(r"\d[\d.,:/'-]*(?:[^\W\d_]{1,3})?|\d[\d-]*t[\d:.+-]+z?|v\d[\d.]*")
"""A number, also with a unit; a date; a time; a version. Any other word with a digit is an identifier."""
_ASSIGNED: Final = re.compile(r"(?:\b(?:is|are)|[:=]) ([\w'.:/#@-]*\w)\W*$")
"""What a statement says of its subject at its end ("my badge is K-17"): a value, whatever its shape."""
_PROPER: Final = re.compile(r"(?<=[\w,;] )(?!I\b)[A-Z][\w'-]*\w")
_DATES: Final = list_word_set(f"{DATE_WORDS} may march")


_Claim = Literal["corrects", "stands", "finishes", "reports"]
"""How a line can replace an older one: by rejecting it, by a changed rule, by its end, by a new status."""
_NOTHING: Final[frozenset[str]] = frozenset()


class _Reading(NamedTuple):
    """What a quote says, for the few lines that are compared with others."""

    lowered: str
    words: frozenset[str]
    subject: frozenset[str]
    values: frozenset[str]
    """The words with a digit, identifiers too."""
    names: frozenset[str]
    """The identifiers and proper names, which tell the thing that it is about from others of its sort."""
    changeable: frozenset[str]
    """The values that are no names."""
    identifiers: frozenset[str]
    """The values that are names."""
    has_unit: bool
    """Whether it holds a currency or a percent sign."""


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


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_words(text: str) -> frozenset[str]:
    """The words of a text that carry its subject: lower-cased, without stop words."""
    return frozenset(_WORD.findall(text.lower())) - _STOP


def _key(line: ExtractLine) -> tuple[int, int]:
    return line.seq, line.start


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _read(quote: str) -> _Reading:
    lowered = quote.lower()
    words = list_words(quote)
    values = frozenset(filter(_DIGIT.search, words)) if _DIGIT.search(lowered) else _NOTHING
    assigned = _ASSIGNED.search(lowered)
    names = {name.lower() for name in _PROPER.findall(quote)}
    names.update(word for word in values if not _PLAIN_VALUE.fullmatch(word))
    told = (words & names) - _DATES - {assigned[1] if assigned else ""}
    return _Reading(
        lowered=lowered,
        words=words,
        subject=words - values,
        values=values,
        names=told,
        changeable=values - told,
        identifiers=values & told,
        has_unit=any(sign in lowered for sign in "$€£%"),
    )


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _is_done(quote: str) -> bool:
    lowered = quote.lower()
    return any(part in lowered for part in _DONE_PARTS) and bool(_DONE.search(lowered))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _is_negative(quote: str) -> bool:
    return bool(_NEGATIVE.search(quote.lower()))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_replacing(quote: str) -> bool:
    """Whether a statement says itself that it takes the place of another one."""
    return bool(_REPLACES.search(quote.lower()))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_rejected(quote: str) -> tuple[frozenset[str], ...]:
    """The words of each value that a correction rejects."""
    return tuple(words for found in _REJECTED.findall(quote.lower()) if (words := list_words(found)))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _has_status(quote: str) -> bool:
    lowered = quote.lower()
    return _STATUS_PART in lowered and bool(_STATUS.search(lowered))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _is_summary(quote: str) -> bool:
    """Whether it sums up a run of tests."""
    lowered = quote.lower()
    return any(part in lowered for part in _SUMMARY_PARTS) and bool(_TEST_SUMMARY.search(lowered))


def _list_claims(line: ExtractLine) -> tuple[_Claim, ...]:
    """How a line can replace an older one; most lines cannot."""
    claims: list[_Claim] = []
    if line.kind == "correction" or (line.standing and is_replacing(line.quote)):
        claims.append("corrects")
    if line.standing:
        claims.append("stands")
    elif line.kind in ("task", "state") and line.origin != "external":
        if _is_done(line.quote):
            claims.append("finishes")
        if _has_status(line.quote):
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
        self._readings: dict[int, _Reading] = {}

    def run(self) -> None:
        """Find what is superseded. O(words of all lines)."""
        self._retire_summaries()
        claims = [_list_claims(line) for line in self._ordered]
        words = [list_words(line.quote) for line in compress(self._ordered, claims)]
        if not words:
            return
        asked = _NOTHING.union(*words)
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
        summaries = [line for line in self._ordered if line.kind in ("state", "error") and _is_summary(line.quote)]
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
            if line.kind == "state" and _has_status(line.quote):
                self._reported.add(at)
            else:
                self._pending.add(at)

    def _list_near(self, at: int, first_at: int) -> set[int]:
        """The places of older messages' lines that share a word, the newest of each word."""
        index = self._index
        rows = [index[word] for word in list_words(self._ordered[at].quote) if word in index]
        return set[int]().union(*rows).difference(range(first_at, at))

    def _read_at(self, place: int) -> _Reading:
        reading = self._readings.get(place)
        if reading is None:
            reading = self._readings[place] = _read(self._ordered[place].quote)
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

    def _correct(self, at: int, newer: _Reading, near: set[int], left: set[int]) -> None:
        """Retire what a correction is about: what it says so of, or the nearest statement of its subject."""
        seq = self._ordered[at].seq
        if rejected := _list_rejected(newer.lowered):
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
        self, places: Collection[int], newer: _Reading, is_replaced: Callable[[_Reading, _Reading], bool]
    ) -> None:
        """Retire those of the places that the newer line replaces by one rule."""
        self.pairs_count += len(places)
        for place in places:
            if is_replaced(self._read_at(place), newer):
                self._drop(place)

    def _drop(self, place: int) -> None:
        self._retired.add(place)
        self.gone.add(_key(self._ordered[place]))

    def _retire_nearest(self, at: int, newer: _Reading, near: set[int]) -> None:
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

    def _retire_moved(self, newer: _Reading, near: set[int], moved: frozenset[str]) -> None:
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

    def _retire_rejected(self, seq: int, newer: _Reading, near: set[int], rejected: Sequence[frozenset[str]]) -> None:
        """Retire the statements that hold a value which a correction rejects."""
        dropped = _NOTHING.union(*rejected)
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


def _is_same_subject(older: _Reading, newer: _Reading) -> bool:
    """Of two that have one frame: whether the number is another, or the words are the same with the opposite sign."""
    one, other = older.subject, newer.subject
    if not one or not other or _is_about_another(older, newer):
        return False
    smaller_count, is_alike = min(len(one), len(other)), len(one) == len(other)
    if older.changeable and newer.changeable and older.changeable.isdisjoint(newer.changeable):
        return (smaller_count >= _FIRM or is_alike) and older.has_unit == newer.has_unit
    return is_alike and older.values == newer.values and _is_negative(older.lowered) != _is_negative(newer.lowered)


def _is_about_another(older: _Reading, newer: _Reading) -> bool:
    """Whether one of them names a thing that the other does not speak of."""
    return not (older.names <= newer.words and newer.names <= older.words)


def _is_finished(older: _Reading, newer: _Reading) -> bool:
    """Whether a report that something is done is about what the older line says."""
    shared = len(older.words & newer.words)
    smaller = min(len(older.words), len(newer.words))
    return shared >= _FIRM and shared * 5 >= smaller * 3 and not _are_rivals(older, newer)


def _is_older_report(older: _Reading, newer: _Reading) -> bool:
    """Whether both tell the status of one thing, and not the same."""
    return (
        not older.values.isdisjoint(newer.values) and older.lowered != newer.lowered and not _are_rivals(older, newer)
    )


def _are_rivals(older: _Reading, newer: _Reading) -> bool:
    """Whether both name their thing by an identifier, and not by the same: a report need not repeat it."""
    told, said = older.identifiers, newer.identifiers
    return bool(told) and bool(said) and told.isdisjoint(said)
