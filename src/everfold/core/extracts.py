"""Extract lines: exact quotes noted when a message arrives, so that no later step has to read it again.

Theory of operation: a text is cut into units (sentences of prose, lines of a log, leaf runs of JSON), each unit gets a
kind and a score from what it says (`statements`) and what it holds (`signals`), and the best units become lines.
Of a long text only the beginning and the end are read, so the cost of a message is bounded.

Source: DESIGN G3, 3.4; issue of the lossless core, item 3.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Final, Literal, NamedTuple, get_args

from everfold.core.origins import Origin
from everfold.core.signals import (
    UNTOLD,
    blank_marks,
    cut_pieces,
    find_error,
    find_hard,
    find_hint,
    find_name,
    find_state,
    has_day,
    may_hold_hard,
    needs_digits,
    shape_pieces,
    tell_shapes,
    weigh_digits,
    weigh_pieces,
)
from everfold.core.statement_rules import FLAGS, HAS_DATE, IMPERATIVE, MAY_DATE, MAY_FAIL, list_word_set
from everfold.core.statements import (
    ENCLOSED_JOINT,
    ENCLOSING,
    JOINT,
    Statement,
    break_words,
    collect_cues,
    collect_word_cues,
    find_joint,
    find_statement,
    is_loose,
    list_outcome_words,
    mark_words,
)
from everfold.core.units import MOST_QUOTE_CHARS, Span, cut_output, cut_prose, fit_quote
from everfold.core.wide_statements import find_wide_statement, has_wide_script, measure_wide
from everfold.errors import InvalidInputError

LineKind = Literal[
    "remember",
    "constraint",
    "preference",
    "decision",
    "correction",
    "identity",
    "commitment",
    "task",
    "error",
    "state",
    "identifier",
    "path",
    "number",
    "date",
    "name",
    "question",
    "answer",
    "lead",
]
LINE_KINDS: Final[tuple[LineKind, ...]] = get_args(LineKind)
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(LINE_KINDS)}
_ROW_HEADS: Final = {kind: f"[{number}," for kind, number in _KIND_NUMBERS.items()}
_SCORE_TEXTS: Final = {score: str(score) for score in range(101)}
"""What begins a row of `to_text`: writing a number takes longer than finding it written."""

QUOTE_CHARS: Final = MOST_QUOTE_CHARS
PASTE_CHARS: Final = 6000
"""A longer message of a person is a paste. Source: DESIGN G3, "a fact buried in an oversized paste is best effort";
1500 tokens of English, the cap of a kept message."""
PASTE_EDGE_CHARS: Final = 600
"""What stands this near to the beginning or the end of a paste is taken for the person's own words about it."""
SCAN_CHARS: Final = 20_000
"""Of a text longer than twice this only so much of its beginning and so much of its end is read."""
_LINES: Final = 12
_MOST_LINES: Final = 24
_CHARS_PER_MORE_LINE: Final = 1_500
_SURE_UNITS: Final = 8
_TABLE_UNITS: Final = 6
_LAST_UNITS: Final = 3
_ROW_SPACING: Final = 4
"""Output in whose first 8 units 6 hold an identifier is a table: of its other rows every fourth is judged, more of them
where those would be fewer than the lines still to be kept, the last ones, and all that may tell of an error or a state.
Which of many rows become lines depends on these numbers; how many do does not where the rows are alike.
Source: own measurement, bench/digest_quality.py, in which no figure tells them from 16, 12 and every third."""
_COLUMNS: Final = 5
_WORTH: Final = 14
_CHARS_PER_POINT: Final = 3
_MOST_POINTS: Final = 30
_FULL: Final = 100
_FULL_CHARS: Final = _CHARS_PER_POINT * _MOST_POINTS


class ExtractLine(NamedTuple):
    """An exact quote from one message: `text[start:start + len(quote)] == quote`.

    A tuple, since a message makes up to 24 of them: it is made in a sixth of the time of a frozen dataclass.

    Attributes:
        score: 0 to 100; how much a careful person would want to keep it.
        standing: Whether it binds beyond its moment; only a line of user origin can.
        said_at: When its message was said, aware, UTC.
        lasting: Whether it outlasts its moment, also where it binds nobody: a task that somebody took on, a decision of
            the assistant's, a question that stays open. Every standing line does.
    """

    seq: int
    origin: Origin
    kind: LineKind
    score: int
    quote: str
    start: int
    standing: bool
    said_at: datetime
    lasting: bool = False


_new_line: Final = tuple.__new__
"""Makes a line from its columns, without the names of a call: in a quarter of the time."""

_BASE: Final[dict[LineKind, int]] = {
    "remember": 92,
    "constraint": 90,
    "correction": 88,
    "decision": 84,
    "identity": 80,
    "preference": 76,
    "error": 66,
    "state": 60,
    "commitment": 50,
    "task": 66,
    "identifier": 54,
    "path": 46,
    "number": 44,
    "date": 24,
    "name": 10,
    "answer": 40,
    "question": 10,
    "lead": 4,
}
_BY_MACHINE: Final[dict[LineKind, int]] = {
    "remember": 56,
    "constraint": 56,
    "correction": 60,
    "decision": 60,
    "identity": 30,
    "preference": 30,
    "commitment": 24,
    "task": 48,
}
_MACHINE_BASE: Final = {**_BASE, **_BY_MACHINE}
_SOFT: Final[frozenset[LineKind]] = frozenset(("lead", "name", "date"))
"""Kinds that say little of a sentence: it counts by its words as well."""
_Found = tuple[int, int, int, LineKind, bool, bool]  # score, start, end, kind, standing, lasting
_MAY_DAY: Final = HAS_DATE | MAY_DATE
_SCORE: Final = itemgetter(0)
_START: Final = itemgetter(1)

_APOSTROPHE: Final = "\u2019"
_LETTER: Final = re.compile(r"[^\W\d_]")
_CODE: Final = re.compile(
    r"(?:\d+[:|] ?)?\s*(?:except\b|raise\b|catch\b|throw\b|return\b|def \w|class \w|import \w|from \w|if \W?\w.*[:{]$|else\b|elif\b|try\b|for .*[:{]$|#(?!\d)|//"
    r"|\) from|@\w|self\.|const |let |var |fn |func |public |private |[\w.]+ = \S+\($)|\d+[:|](?!\d)"
)
"""A line of a program's text, which mentions errors without there being one."""
_NO_CODE_STARTS: Final = frozenset(map(chr, range(33, 127))) - frozenset("0123456789ercitdfs#/)@lvp")
"""What no line of a program's text begins with, unless it ends with an open bracket."""
_ERRORS: Final = ("error", "exception")
"""Parts of the names of errors, which stand in no table of words."""
_OUTPUT_BASE: Final[dict[LineKind, int]] = {**_BASE, "date": 42, "name": 34}
_MOST_PLAIN: Final = 16
"""What a line of output that tells nothing hard scores at most, however long it is."""
_COUNTED: Final = 6
"""How many hard facts of a line of output count."""
_PLEASANTRIES: Final = list_word_set(
    "thank thanks thx wow hi hey hello great good nice cool awesome sure ok okay yes yeah yep congrats congratulations that's sounds glad bye"
    " happy certainly absolutely feel i'm woah oh haha lol yay aww"
)


def find_extract_lines(
    text: str, *, seq: int, origin: Origin, is_result: bool, said_at: datetime
) -> tuple[ExtractLine, ...]:
    """The extract lines of one message's text, in the order of the text; none only where what is read of it is blank.

    At most 12, for a long text up to 24. O(len(text)) up to twice `SCAN_CHARS`, bounded above.
    """
    length = len(text)
    is_long = length > 2 * SCAN_CHARS
    scanned = text[:SCAN_CHARS] + text[-SCAN_CHARS:] if is_long else text
    if not scanned or scanned.isspace():
        return ()
    is_output = is_result or origin == "tool"
    spans = _cut(scanned, SCAN_CHARS if is_long else length, cut_output if is_output else cut_prose)
    found = _judge_output(scanned, spans) if is_output else _judge_talk(scanned, spans, from_user=origin == "user")
    if is_long:
        found = _move_tail(found, length)
    if length > PASTE_CHARS and not is_output:
        found = _doubt_paste(found, length)
    return tuple(
        [
            _new_line(ExtractLine, (seq, origin, kind, score, text[start:end], start, standing, said_at, lasting))
            for score, start, end, kind, standing, lasting in _choose(found, length)
        ]
    )


def to_json(line: ExtractLine) -> list[object]:
    """A line as a compact list, for a column; what its message's row knows is left out."""
    _, _, kind, score, quote, start, standing, _, lasting = line
    return [_KIND_NUMBERS[kind], score, start, quote, 1 if standing else 2 * lasting]


def to_text(lines: Sequence[ExtractLine], origin: Origin) -> str:
    """The lists that `to_json` gives, as JSON text, in a third of the time of an encoder.

    A line of another origin than the one given names it behind the rest.
    """
    rows = [
        f"{_ROW_HEADS[kind]}{_SCORE_TEXTS.get(score, score)},{start},{encode_basestring(quote)}"
        f"{',1' if standing else ',2' if lasting else ',0'}{']' if own == origin else _name_origin(own)}"
        for _, own, kind, score, quote, start, standing, _, lasting in lines
    ]
    return f"[{','.join(rows)}]"


def _name_origin(origin: Origin) -> str:
    return f',"{origin}"]'


def from_json(value: object, *, seq: int, origin: Origin, said_at: datetime) -> ExtractLine:
    """The line that `to_json` gave.

    Raises:
        InvalidInputError: the value is not such a list.
    """
    if isinstance(value, list) and len(value) == _COLUMNS:
        kind, score, start, quote, standing = value
        if (
            isinstance(kind, int)
            and isinstance(score, int)
            and isinstance(start, int)
            and isinstance(quote, str)
            and isinstance(standing, int)
            and 0 <= kind < len(LINE_KINDS)
        ):
            return ExtractLine(
                seq=seq,
                origin=origin,
                kind=LINE_KINDS[kind],
                score=score,
                quote=quote,
                start=start,
                standing=standing == 1,
                said_at=said_at,
                lasting=standing > 0,
            )
    message = (
        f"The extract line of message {seq} is not [kind, score, start, quote, standing]: {value!r:.120}. Run verify."
    )
    raise InvalidInputError(message, seq=seq)


def _cut(text: str, middle: int, cut: Callable[[str, int, int], list[Span]]) -> list[Span]:
    """The units of what stands before and behind the middle; a text of nothing but marks is its own only unit."""
    spans = cut(text, 0, middle)
    if middle < len(text):
        spans += cut(text, middle, len(text))
    if not spans:
        start = len(text) - len(text.lstrip())
        spans = [(start, start + len(text.strip()))]
    return spans


def _move_tail(found: list[_Found], length: int) -> list[_Found]:
    """What was found in the two ends of a text that is so long, where it stands in it."""
    moved = length - 2 * SCAN_CHARS
    return [
        (score, start + moved, end + moved, kind, standing, lasting)
        if start >= SCAN_CHARS
        else (score, start, end, kind, standing, lasting)
        for score, start, end, kind, standing, lasting in found
    ]


class _Whole(NamedTuple):
    """What is looked for once in an output, for all its units."""

    text: str
    lowered: str
    """In lower case, as long as the text."""
    outcomes: Sequence[str]
    shapes: str | None = None
    """The text's pieces by their shapes, as long as it; None where it is not ASCII."""
    is_of_digits: bool = False
    """Whether `needs_digits` holds for the shapes."""


def _read_output(text: str) -> _Whole:
    lowered = _lower(text)
    outcomes = [*list_outcome_words(lowered), *(word for word in _ERRORS if word in lowered)]
    shapes = shape_pieces(text) if text.isascii() else None
    return _Whole(text, lowered, outcomes, shapes, shapes is not None and needs_digits(shapes))


def _lower(text: str) -> str:
    """The text in lower case, as long as it is: a letter whose lower case is longer stays."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join([low if len(low := letter.lower()) == 1 else letter for letter in text])


def _judge_talk(text: str, spans: list[Span], *, from_user: bool) -> list[_Found]:  # noqa: C901, PLR0912, PLR0915 - see below
    """The units of what somebody said, judged.

    One long function, since it is the innermost loop of an append: a call for each step of a unit costs a tenth more.
    """
    is_ascii = text.isascii()
    lowered = _lower(text)
    if not is_ascii:
        lowered = lowered.replace(_APOSTROPHE, "'")
    marked = mark_words(lowered)
    may_enclose = ENCLOSING in marked
    may_join = find_joint(marked) is not None
    may_be_loose = is_loose(lowered)
    may_fail = "error" in lowered or "exception" in lowered
    is_wide = not is_ascii and has_wide_script(text)
    shapes = shape_pieces(text) if is_ascii else None
    is_of_digits = shapes is not None and needs_digits(shapes)
    may_hold = not is_of_digits and may_hold_hard(text)
    bases = _BASE if from_user else _MACHINE_BASE
    found: list[_Found] = []
    for start, end in spans:
        low = lowered[start:end]
        words = low.split()
        is_enclosed = may_enclose and marked.find(ENCLOSING, start, end) >= 0
        cues = collect_word_cues(low, break_words(low) if is_enclosed else words)
        flags = cues & FLAGS
        kind: LineKind = "lead"
        at = count = 0
        if shapes and is_of_digits:
            weight = weigh_digits(shapes, start, end)
        elif may_hold and find_hint(text, start, end) is not None:
            weight = weigh_pieces(shapes, start, end) if shapes else UNTOLD
        else:
            weight = 0
        if weight:
            hard, count = tell_shapes(weight) or _count_hard(text[start:end])
            if hard is not None:
                kind, at = hard, -1
        if (may_fail or flags & MAY_FAIL) and (failure := find_error(low, flags)) is not None:
            kind, at = "error", failure
        else:
            if flags & _MAY_DAY and kind in ("lead", "number") and has_day(low, flags):
                kind = "date"
                count += 1
            if low[1:] != text[start + 1 : end] and (named := find_name(text, start, end)) is not None:
                count += 1
                if kind == "lead":
                    kind, at = "name", named.start() - start
        score = _BASE[kind] + (min(2 * count, 8) if count else 0)
        standing = lasting = False
        statement = None
        if cues >= IMPERATIVE or low[-1] == "?":
            is_joined = (
                (may_join and marked.find(JOINT, start, end) >= 0)
                or (is_enclosed and marked.find(ENCLOSED_JOINT, start, end) >= 0)
                or (may_be_loose and is_loose(low))
            )
            statement = find_statement(low, cues, from_user=from_user, is_spaced=not is_joined)
        if is_wide and statement is None:
            statement = find_wide_statement(low, from_user=from_user)
        if statement is not None:
            _, standing, _, lasting = statement
            kind, score, at = _prefer(statement, kind, score, at, bases)
            if kind == "question":
                score += (_weigh_wide(low) if is_wide else _weigh_words(low, words)) // 2
        elif kind in _SOFT:
            score += _weigh_wide(low) if is_wide else _weigh_words(low, words)
        if end - start > QUOTE_CHARS:
            at = at if at >= 0 else _find_shown(text[start:end])
            start, end = fit_quote(text, start, end, start + at)  # noqa: PLW2901 - the quote of the unit
        found.append((score if score < _FULL else _FULL, start, end, kind, standing, lasting))  # noqa: FURB136 - no call
    return found


def _prefer(
    statement: Statement, kind: LineKind, score: int, at: int, bases: Mapping[LineKind, int]
) -> tuple[LineKind, int, int]:
    """What a unit that makes a statement is, of that and of what it holds: its kind, its score and where that shows."""
    said, standing, said_at, lasting = statement
    if standing or bases[said] >= _BASE[kind] or (said == "question" and kind in _SOFT):
        return said, score + bases[said] - _BASE[kind], said_at
    return (said, score, said_at) if lasting else (kind, score, at)


def _weigh_words(lowered: str, words: list[str]) -> int:
    """0 to 30 for how much a plain sentence tells, by its length; what opens as a pleasantry tells little."""
    weight = len(lowered) // _CHARS_PER_POINT if len(lowered) < _FULL_CHARS else _MOST_POINTS
    return weight // 2 if words and words[0].rstrip(",.!") in _PLEASANTRIES else weight


def _weigh_wide(text: str) -> int:
    return min(measure_wide(text) // _CHARS_PER_POINT, _MOST_POINTS)


def _judge_output(text: str, spans: list[Span]) -> list[_Found]:
    """The units of output judged; of a long table, whose rows all tell the same, not every row."""
    whole = _read_output(text)
    found = _judge_units(whole, spans[:_SURE_UNITS])
    rest = spans[_SURE_UNITS:]
    rows_count = [one[3] for one in found].count("identifier")
    if len(rest) > _LAST_UNITS and rows_count >= _TABLE_UNITS:
        rest = _thin_rows(whole, rest, lines_count=_count_lines(len(text)) - rows_count)
    found += _judge_units(whole, rest)
    _raise_last(found)
    return found


def _thin_rows(whole: _Whole, rows: list[Span], *, lines_count: int) -> list[Span]:
    """The rows of a table, without its first ones, that are judged: so many at least as lines are still kept."""
    lowered, outcomes = whole.lowered, whole.outcomes
    spacing = max(1, min(_ROW_SPACING, len(rows) // lines_count))
    last = len(rows) - _LAST_UNITS
    kept: list[Span] = []
    for at, (start, end) in enumerate(rows, 1):
        if at % spacing == 0 or at > last or _may_tell(lowered, start, end, outcomes):
            kept.append((start, end))
    return kept


def _may_tell(lowered: str, start: int, end: int, outcomes: Sequence[str]) -> bool:
    """Whether a unit of output has a word of an error or a state."""
    for word in outcomes:  # noqa: SIM110 - without the generator, which costs more than the search
        if lowered.find(word, start, end) >= 0:
            return True
    return False


def _judge_units(whole: _Whole, spans: Iterable[Span]) -> list[_Found]:
    """Units of output, judged. The innermost loop of an append of output: it makes no call that it can do without."""
    text, lowered, outcomes, shapes, is_of_digits = whole
    found: list[_Found] = []
    for start, end in spans:
        unit = text[start:end]
        if shapes:
            weight = weigh_digits(shapes, start, end) if is_of_digits else weigh_pieces(shapes, start, end)
        else:
            weight = UNTOLD
        hard, count = (tell_shapes(weight) or _count_hard(unit)) if weight else (None, 0)
        kind: LineKind = hard or "lead"
        at = -1
        is_code = (unit[0] not in _NO_CODE_STARTS or unit[-1] == "(") and _CODE.match(unit) is not None
        outcome = None
        if not is_code:
            for word in outcomes:
                if lowered.find(word, start, end) >= 0:
                    outcome = _find_outcome(lowered[start:end])
                    break
        if outcome is not None:
            kind, at = outcome
        elif kind == "lead" and find_name(text, start, end) is not None:
            kind = "name"
        if is_code or kind == "lead" or (kind == "number" and _LETTER.search(unit) is None):
            score = _BASE["lead"] + len(unit) // 16
            score = score if score < _MOST_PLAIN else _MOST_PLAIN  # noqa: FURB136 - no call
        else:
            score = _OUTPUT_BASE[kind] + (2 * count if count < _COUNTED else 2 * _COUNTED)
        if end - start > QUOTE_CHARS:
            start, end = fit_quote(text, start, end, start + (at if at >= 0 else _find_shown(unit)))  # noqa: PLW2901
        found.append((score, start, end, kind, False, False))
    return found


def _count_hard(unit: str) -> tuple[LineKind | None, int]:
    """The best hard fact of a unit of output, by reading its pieces, and how many there are."""
    if not may_hold_hard(unit):
        return None, 0
    hard, count, _ = find_hard(_list_pieces(unit))
    return hard, count


def _find_shown(unit: str) -> int:
    """Where the best hard fact of a unit of output stands; 0 where it has none."""
    return unit.find(find_hard(_list_pieces(unit))[2]) if may_hold_hard(unit) else 0


def _list_pieces(unit: str) -> list[str]:
    return blank_marks(unit).split() if unit.isascii() else cut_pieces(unit)


def _find_outcome(lowered: str) -> tuple[LineKind, int] | None:
    """What a unit of output that may tell of it reports of an error or else of a state, and where."""
    cues = collect_cues(lowered, lowered.split())
    if (failure := find_error(lowered, cues)) is not None:
        return "error", failure
    if (state := find_state(lowered, cues)) is not None:
        return "state", state
    return None


def _raise_last(found: list[_Found]) -> None:
    """What a command said last counts more: it is its outcome."""
    for back in range(1, min(3, len(found)) + 1):
        score, start, end, kind, standing, lasting = found[-back]
        found[-back] = (min(score + 12 - 3 * back, 100), start, end, kind, standing, lasting)


def _doubt_paste(found: list[_Found], length: int) -> list[_Found]:
    """The lines of a paste: what stands in its middle is material, only what is said around it binds."""
    doubted: list[_Found] = []
    for score, start, end, kind, standing, lasting in found:
        is_said = kind == "remember" or end <= PASTE_EDGE_CHARS or start >= length - PASTE_EDGE_CHARS
        binds = standing and is_said
        doubted.append((score if binds else min(score, 40), start, end, kind, binds, lasting and is_said))
    return doubted


def _count_lines(length: int) -> int:
    """How many lines a text of so many characters gives at most."""
    return min(_MOST_LINES, _LINES + length // _CHARS_PER_MORE_LINE)


def _choose(found: list[_Found], length: int) -> list[_Found]:
    most = _count_lines(length)
    worth = [one for one in found if one[0] >= _WORTH or one[5]]
    if not worth:
        return [max(found, key=lambda one: (one[0], -one[1]))] if found else []
    if len(worth) > most:
        worth.sort(key=_SCORE, reverse=True)  # of equals, which stay in their order, the earlier ones
        worth = sorted(worth[:most], key=_START)
    return worth
