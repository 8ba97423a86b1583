"""Signals: errors, end states, identifiers, paths, dates, numbers and names in a segment, found by their shape.

An identifier, a path, a date or a number is a *hard fact*. Most are told by the shape of the text alone, which is the
same for many rows of output; what the shape leaves open is read.

Source: DESIGN 3.4, the list of what an extractive digest keeps.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import filterfalse
from typing import Final, Literal, NamedTuple, cast

from everfold.core.statements.extracts import QUOTE_CHARS, LineKind
from everfold.core.statements.rows import Row
from everfold.core.statements.rules import HAS_DATE, MAY_DATE, MAY_FAIL, MAY_STATE
from everfold.core.statements.sentences import Sentence

HardKind = Literal["identifier", "path", "date", "number"]

_find_hint: Final = re.compile(r"[0-9/\\_@#$€£]").search
"""A mark without which a text can hold no hard fact."""
_PIECES: Final = re.compile(r"[^\s\"'`(){}\[\]<>,;=|*]+")
_WIDE: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff0f\uff1a-\uff1f]+")
"""Characters of Chinese, Japanese and Korean, and their marks: no blank stands between them and a number."""
_FEW_ACCENTS: Final = 16
"""Where fewer than one in so many characters takes another byte, it is an accent: telling so takes a fifth of looking."""
_PIECE_ENDS: Final = bytes(32 if chr(code) in "\"'`(){}[]<>,;=|*" else code for code in range(256))
_EXTENSIONS: Final = (
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock"
    r"|log|csv|tsv|xml|html?|css|scss|docx?|xlsx?|pptx?|pdf|png|jpe?g|svg|zip|gz|tar|ipynb|db|sqlite)"
)
_HARD: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d(?::\d\d)?(?:[ap]m)?|\d{1,2}[ap]m"
    r"|(?:19|20)\d\d)"
    r"|(?P<path>[a-z]{2,6}://\S+|[A-Za-z]:\\.+|~?\.{0,2}/\w\S+|(?=[\w./:@-]*+[.:!?…]*$)[\w.@-]+/[\w./@-]*(?:/|\.\w)[\w./:-]*|[\w.-]+\."
    + _EXTENSIONS
    + r"(?::\d+)*)"
    r"|(?P<identifier>[\w.+-]+@[\w-]+\.[\w.]+|#\w*\d\w*#?|(?!\d+[A-Za-z]{1,3}[.:!?]*$)(?=[A-Za-z_-]*\d)(?=[\w-]*[A-Za-z])[\w-]*+|\+?\d{7,}|\+?\d{1,4}(?:-\d{2,4}){2,4})"
    r"|(?P<number>[$€£]\d[\d.]*|\d[\d.]*\d%?|\d+(?:%|[kKMGT]i?B?|ms|kg|km)))[.:!?…]*$"
)
"""The shape of one piece between blanks; a number has two digits or more, or a unit. The lookaheads and possessive
repeats only keep the time linear where a piece is a run of encoded data."""
_COMMON: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?|\d{1,2}:\d\d(?::\d\d)?(?:[ap]m)?|\d{1,2}[ap]m|(?:19|20)\d\d)"
    r"|(?P<identifier>[A-Za-z][A-Za-z_-]*+\d[\w-]*+|\d{7,}|(?!\d+[A-Za-z]{1,3}[.:!?…]*$)\d(?=[\w-]*[A-Za-z])[\w-]*+)"
    r"|(?P<number>\d+\.\d+|\d\d+|[$€£]\d[\d.]*|\d+(?:%|(?:[kKMGT]i?B?|ms|kg|km)(?=[.:!?]*$)))"
    r"|(?P<none>\d|\d+[A-Za-z]{1,3}(?=[.:!?]*$)))[.:!?…]*$"
)
"""The commonest of these shapes, tried first, and of what is none of them: the same kinds in a third of the time."""
_SHAPES: Final = bytes(
    ord(re.sub(r"\s", " ", re.sub("[0-9]", "0", re.sub("[A-Za-z]", "a", chr(code))))) for code in _PIECE_ENDS
)
_match_shape: Final = re.compile(
    r"(?:(?P<date>0000-00-00|00:00(?::00)?)"
    r"|(?P<path>~?\.{0,2}/[a0_]\S+|(?!0)[a0_.@-]+/[a0_./@-]*(?:/|\.[a0_])[a0_./:-]*)"
    r"|(?P<identifier>a[a_-]*0[\w-]*|0{7,}|(?!0+a{1,3}[.:!?]*$|0000-00-00a)0[0_-]*a[\w-]*)"
    r"|(?P<number>0+\.0+|00|000|00000|000000|\$0[0.]*|0+%)|(?P<none>0(?:-0+)?|[a_-]+/[a_-]*))[.:!?]*$"
).match
"""The shapes that tell alone what they are; four digits may be a year, and a day with letters behind it a moment."""
_match_hard: Final = _HARD.match
_match_common: Final = _COMMON.match
_is_telling: Final = re.compile(r"[\d@/\\]|\.\w").search
"""A mark that each of these shapes needs, looked for first: most pieces of a line have none."""
_RANK: Final[dict[HardKind, int]] = {"identifier": 3, "path": 2, "number": 1, "date": 0}
_PLACES: Final = {"identifier": 1 << 45, "path": 1 << 30, "number": 1 << 15, "date": 1, "none": 0}
"""One piece of a kind, in one sum that counts a segment's pieces of all kinds; of no text so many are read that they meet."""
_MOST_PIECES: Final = 0x7FFF
UNTOLD: Final = 1 << 60
"""What a piece weighs that its shape does not tell."""
_MOST_SHAPES: Final = 8_192
_ENOUGH: Final = 6

_FAILURE: Final = (
    r"(?:(?:errors|errno|fatal|panic|traceback|failed|failures?|fails|failing|denied|refused|unauthori[sz]ed"
    r"|forbidden|unreachable|unavailable|timed out|timeout|crash(?:ed|es)?|segfault|segmentation fault|aborted|unhandled|undefined|not found"
    r"|cannot (?:find|open|connect|read|write|import|be found|be used|access)|unable to|invalid|conflict|broken|warning|not a git|rejected|killed|overflow)\b"
    r"|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|bad gateway)"
)
_ERROR: Final = re.compile(rf"\b(?:[\w.]*(?:error|exception)\b|{_FAILURE})|err!|\berror\[")
_find_failure: Final = re.compile(rf"\W{_FAILURE}").search
"""What `_ERROR` finds where no name of an error is, of a text with a blank before it: in a fifth of the time."""
_NO_ERROR: Final = re.compile(
    r"\b(?:0 (?:errors?|failed|failures?)|no (?:errors?|warnings?|failures?|conflicts?)|without errors?)\b|\berrors?\"?: ?(?:null|\[\]|false|\"\"|0)"
)
_STATE: Final = re.compile(
    r"\b\d+ (?:passed|failed|skipped|tests?|errors?)\b|\b(?:total|subtotal|balance|sum)\b.{0,12}\d|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b"
    r"|\b(?:status|state|phase|result|outcome|verdict)\W{1,4}\w|\bsuccess(?:ful|fully)?\b|\b(?:completed?|finished|delivered|cancell?ed|confirmed"
    r"|up-to-date|deployed|merged|approved|passed|submitted|refunded|shipped|pending|processed)\b"
)
_find_name: Final = re.compile(r" [A-Z][A-Za-z]").search
"""A capitalised word that is not the first of a text, with the blank before it."""
_find_date_phrase: Final = re.compile(
    r"\W(?:(?:last|next|this|past|coming) (?:week|month|year|night|summer|winter|spring|fall|autumn|weekend)|in (?:may|march)\b|\d+ (?:may|mar|march|jun)\b"
    r"|(?:may|mar|march|jun) \d|(?:years?|months?|weeks?|days?) (?:ago|later|old)\b|since \w)"
).search
"""Of a text with a blank before it."""


class Signal(NamedTuple):
    """The most telling that a segment holds.

    Attributes:
        kind: `lead` where it holds nothing.
        at: Where in the segment it stands; told of a hard fact only in a segment that is too long for a quote.
        facts_count: How many hard facts, days and names there are.
    """

    kind: LineKind
    at: int
    facts_count: int


_NO_FACT: Final = Signal("lead", 0, 0)
_NAMED: Final = Signal("name", 0, 0)


def find_sentence_signals(sentences: Sequence[Sentence]) -> list[Signal]:
    """What each of some sentences holds."""
    return [_find_in_sentence(sentence, _find_fact(sentence.text)) for sentence in sentences]


def find_row_signals(rows: Sequence[Row]) -> list[Signal]:
    """What each of some rows of a program's output holds. A line of code reports nothing."""
    return [_find_in_row(row, _find_fact(row.text)) for row in rows]


def _find_in_sentence(sentence: Sentence, fact: Signal) -> Signal:
    kind, at, count = fact
    failure = find_error(sentence.lowered, sentence.cues)
    if failure is not None:
        return Signal("error", failure, count)
    if kind in {"lead", "number"} and has_day(sentence.lowered, sentence.cues):
        kind, count = "date", count + 1
    named = _find_name(sentence.text)
    if named is not None:
        kind, at, count = ("name", named.start(), count + 1) if kind == "lead" else (kind, at, count + 1)
    return fact if count == fact.facts_count else Signal(kind, at, count)


def _find_in_row(row: Row, fact: Signal) -> Signal:
    if row.may_tell and not row.is_code:
        if (failure := find_error(row.lowered, row.cues)) is not None:
            return Signal("error", failure, fact.facts_count)
        if (state := find_state(row.lowered, row.cues)) is not None:
            return Signal("state", state, fact.facts_count)
    return _NAMED if fact.kind == "lead" and _find_name(row.text) else fact


def _find_fact(segment: str) -> Signal:
    """The best hard fact of a segment, and how many there are."""
    if _find_hint(segment) is None:
        return _NO_FACT
    told = tell_shapes(weigh_pieces(shape_pieces(segment))) if segment.isascii() else None
    kind, count = told or find_hard(_list_pieces(segment))[:2]
    at = segment.find(find_hard(_list_pieces(segment))[2]) if kind and len(segment) > QUOTE_CHARS else 0
    return Signal(kind or "lead", at, count)


def _list_pieces(segment: str) -> list[str]:
    return blank_marks(segment).split() if segment.isascii() else cut_pieces(segment)


def blank_marks(text: str) -> str:
    """An ASCII text, as long, with blanks for quotes, brackets and marks of lists."""
    return text.encode().translate(_PIECE_ENDS).decode()


def shape_pieces(text: str) -> str:
    """An ASCII text, as long, with blanks as in `blank_marks`, a for every letter and 0 for every digit."""
    return text.encode().translate(_SHAPES).decode()


def cut_pieces(text: str) -> list[str]:
    """What stands between blanks, quotes, brackets, marks of lists, and characters of a script without blanks."""
    if not text.isascii() and (len(text.encode("utf-8", "surrogatepass")) - len(text)) * _FEW_ACCENTS > len(text):
        text = _WIDE.sub(" ", text)
    return _PIECES.findall(text)


def find_hard(pieces: list[str]) -> tuple[HardKind | None, int, str]:
    """The most telling identifier, path, number or date of a text's pieces: its kind, how many (up to 6), and itself."""
    best: HardKind | None = None
    rank, count, shown = -1, 0, ""
    for piece in filter(_is_telling, filterfalse(str.isalpha, pieces)):
        found = _match_common(piece) or _match_hard(piece)
        if found is None or found.lastgroup == "none":
            continue
        count += 1
        kind = cast("HardKind", found.lastgroup)
        if _RANK[kind] > rank:
            best, rank, shown = kind, _RANK[kind], piece
        if count >= _ENOUGH and kind == "identifier":
            break
    return best, count, shown


def weigh_pieces(shapes: str) -> int:
    """What all pieces in a text's shape weigh together."""
    return sum(map(weigh_shape, shapes.split()))


@lru_cache(maxsize=4_096)
def tell_shapes(found: int) -> tuple[HardKind | None, int] | None:
    """What `find_hard` finds, told by what the shapes of the pieces weigh together; None where one must be read itself.

    Rows of output have few sums.
    """
    if not found:
        return None, 0
    if found >= UNTOLD:
        return None
    identifiers, paths = found // _PLACES["identifier"], found // _PLACES["path"] & _MOST_PIECES
    numbers, dates = found // _PLACES["number"] & _MOST_PIECES, found & _MOST_PIECES
    kind: HardKind = "identifier" if identifiers else "path" if paths else "number" if numbers else "date"
    return kind, identifiers + paths + numbers + dates


class _Shapes(dict[str, int]):
    """What each shape that was met counts as: rows of output repeat few of them."""

    def __missing__(self, shape: str) -> int:
        if len(self) >= _MOST_SHAPES:
            self.clear()
        weight = self[shape] = _weigh_shape(shape)
        return weight


_KNOWN_SHAPES: Final = _Shapes()
weigh_shape: Final = _KNOWN_SHAPES.__getitem__
"""What a shape counts as."""


def _weigh_shape(shape: str) -> int:
    """One piece of its kind, `UNTOLD` where not every piece of the shape is the same, 0 for no hard fact."""
    if shape.isalpha() or len(shape) == 1:
        return 0
    if (found := _match_shape(shape)) is not None:
        return _PLACES[found.lastgroup or ""]
    return UNTOLD if _is_telling(shape) else 0


def find_error(lowered: str, cues: int) -> int | None:
    """Where a lower-cased text reports an error; "0 errors" and "no errors" do not."""
    is_named = "error" in lowered or "exception" in lowered
    if not (is_named or cues & MAY_FAIL):
        return None
    found = _ERROR.search(lowered) if is_named or "err!" in lowered else _find_failure(" " + lowered)
    return None if found is None or _NO_ERROR.search(lowered) else found.start()


def find_state(lowered: str, cues: int) -> int | None:
    """Where a lower-cased text names an end state, a summary or a total."""
    found = _STATE.search(lowered) if cues & MAY_STATE else None
    return None if found is None else found.start()


def has_day(lowered: str, cues: int) -> bool:
    """Whether a lower-cased sentence speaks of a day or a span of time in words."""
    return bool(cues & HAS_DATE) or bool(cues & MAY_DATE and _find_date_phrase(" " + lowered))
