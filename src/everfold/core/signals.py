"""Hard facts in a text: errors, end states, identifiers, paths, dates, numbers and names, found by their shape.

Source: DESIGN 3.4, the list of what an extractive digest keeps.
"""

import re
from typing import Final, Literal, cast

from everfold.core.statement_rules import HAS_DATE, MAY_DATE, MAY_FAIL, MAY_STATE

HardKind = Literal["identifier", "path", "date", "number"]

_HINT: Final = re.compile(r"[0-9/\\_@#$€£]")
_PIECES: Final = re.compile(r"[^\s\"'`(){}\[\]<>,;=|*]+")
_PIECE_ENDS: Final = bytes(32 if chr(code) in "\"'`(){}[]<>,;=|*" else code for code in range(256))
_EXTENSIONS: Final = (
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock"
    r"|log|csv|tsv|xml|html?|css|scss|docx?|xlsx?|pptx?|pdf|png|jpe?g|svg|zip|gz|tar|ipynb|db|sqlite)"
)
_HARD: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d(?::\d\d)?(?:[ap]m)?|\d{1,2}[ap]m"
    r"|(?:19|20)\d\d)"
    r"|(?P<path>[a-z]{2,6}://\S+|[A-Za-z]:\\.+|~?\.{0,2}/\w\S+|[\w.@-]+/[\w./@-]*(?:/|\.\w)[\w./:-]*|[\w.-]+\."
    + _EXTENSIONS
    + r"(?::\d+)*)"
    r"|(?P<identifier>[\w.+-]+@[\w-]+\.[\w.]+|#\w*\d\w*#?|(?!\d+[A-Za-z]{1,3}[.:!?]*$)(?=[A-Za-z_-]*\d)[\w-]*[A-Za-z][\w-]*|\d{7,})"
    r"|(?P<number>[$€£]\d[\d.]*|\d[\d.]*\d%?|\d+(?:%|[kKMGT]i?B?|ms|kg|km)))[.:!?…]*$"
)
"""The shape of one piece between blanks; a number has two digits or more, or a unit."""
_COMMON: Final = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?|\d\d:\d\d(?::\d\d)?|(?:19|20)\d\d)"
    r"|(?P<identifier>[A-Za-z][A-Za-z_-]*\d[\w-]*|\d{7,}|(?!\d+[A-Za-z]{1,3}[.:!?…]*$)\d[\w-]*[A-Za-z][\w-]*)"
    r"|(?P<number>\d+\.\d+|\d\d+))[.:!?…]*$"
)
"""The commonest of these shapes, tried first: the same kinds in a third of the time."""
_match_hard: Final = _HARD.match
_match_common: Final = _COMMON.match
_is_telling: Final = re.compile(r"[\d@/\\]|\.\w").search
"""A mark that each of these shapes needs, looked for first: most pieces of a line have none."""
_RANK: Final[dict[HardKind, int]] = {"identifier": 3, "path": 2, "number": 1, "date": 0}
_ENOUGH: Final = 6

_ERROR: Final = re.compile(
    r"\b(?:[\w.]*(?:error|exception)\b|(?:errors|errno|fatal|panic|traceback|failed|failures?|fails|failing|denied|refused|unauthori[sz]ed"
    r"|forbidden|unreachable|unavailable|timed out|timeout|crash(?:ed|es)?|segfault|segmentation fault|aborted|unhandled|undefined|not found"
    r"|cannot (?:find|open|connect|read|write|import|be found|be used|access)|unable to|invalid|conflict|broken|warning|not a git|rejected|killed|overflow)\b"
    r"|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|bad gateway)|err!|\berror\["
)
_NO_ERROR: Final = re.compile(
    r"\b(?:0 (?:errors?|failed|failures?)|no (?:errors?|warnings?|failures?|conflicts?)|without errors?)\b|\berrors?\"?: ?(?:null|\[\]|false|\"\"|0)"
)
_STATE: Final = re.compile(
    r"\b\d+ (?:passed|failed|skipped|tests?|errors?)\b|\b(?:total|subtotal|balance|sum)\b.{0,12}\d|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b"
    r"|\b(?:status|state|phase|result|outcome|verdict)\W{1,4}\w|\bsuccess(?:ful|fully)?\b|\b(?:completed?|finished|delivered|cancell?ed|confirmed"
    r"|up-to-date|deployed|merged|approved|passed|submitted|refunded|shipped|pending|processed)\b"
)
_NAME: Final = re.compile(r" [A-Z][A-Za-z]")
_DATE_PHRASE: Final = re.compile(
    r"\b(?:last|next|this|past|coming) (?:week|month|year|night|summer|winter|spring|fall|autumn|weekend)|\bin (?:may|march)\b|\b\d+ (?:may|mar|march|jun)\b"
    r"|\b(?:may|mar|march|jun) \d+|\b(?:years?|months?|weeks?|days?) (?:ago|later|old)\b|\bsince \w+"
)


def may_hold_hard(text: str, start: int, end: int) -> bool:
    """Whether a part of a text has a mark without which it can hold no hard fact."""
    return _HINT.search(text, start, end) is not None


def blank_marks(text: str) -> str | None:
    """The text, as long, with blanks for quotes, brackets and marks of lists; None where it is not ASCII."""
    return text.encode().translate(_PIECE_ENDS).decode() if text.isascii() else None


def cut_pieces(text: str) -> list[str]:
    """What stands between blanks, quotes, brackets and marks of lists."""
    return _PIECES.findall(text)


def find_hard(pieces: list[str]) -> tuple[HardKind | None, int, str]:
    """The most telling identifier, path, number or date of a text's pieces: its kind, how many (up to 6), and itself."""
    best: HardKind | None = None
    rank, count, shown = -1, 0, ""
    for piece in pieces:
        if piece.isalpha() or len(piece) == 1:
            continue
        found = _match_common(piece) or (_match_hard(piece) if _is_telling(piece) else None)
        if found is None:
            continue
        count += 1
        kind = cast("HardKind", found.lastgroup)
        if _RANK[kind] > rank:
            best, rank, shown = kind, _RANK[kind], piece
        if count >= _ENOUGH and kind == "identifier":
            break
    return best, count, shown


def find_error(lowered: str, cues: int) -> int | None:
    """Where a lower-cased text reports an error; "0 errors" and "no errors" do not."""
    if not cues & MAY_FAIL and "error" not in lowered and "exception" not in lowered:
        return None
    found = _ERROR.search(lowered)
    return None if found is None or _NO_ERROR.search(lowered) else found.start()


def find_state(lowered: str, cues: int) -> int | None:
    """Where a lower-cased text names an end state, a summary or a total."""
    found = _STATE.search(lowered) if cues & MAY_STATE else None
    return None if found is None else found.start()


def find_name(text: str, start: int, end: int) -> int | None:
    """Where a part of a text has a capitalised word that is not its first, as an offset in the part."""
    found = _NAME.search(text, start, end)
    return None if found is None else found.start() - start


def has_day(lowered: str, cues: int) -> bool:
    """Whether a lower-cased sentence speaks of a day or a span of time in words."""
    return bool(cues & HAS_DATE) or bool(cues & MAY_DATE and _DATE_PHRASE.search(lowered))
