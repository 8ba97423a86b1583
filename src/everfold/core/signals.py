"""Hard facts in a text: errors, end states, identifiers, paths, dates, numbers and names, found by their shape.

Source: DESIGN 3.4, the list of what an extractive digest keeps.
"""

import re
from typing import Final, Literal

SignalKind = Literal["error", "state", "identifier", "path", "date", "number", "name"]

HINT: Final = re.compile(r"[0-9/\\_@#$€£%]")
"""Whether a text can hold an identifier, a path or a number at all."""

_EXTENSIONS: Final = (
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock"
    r"|log|csv|tsv|xml|html?|css|scss|docx?|xlsx?|pptx?|pdf|png|jpe?g|svg|zip|gz|tar|ipynb|db|sqlite)"
)
HARD: Final = re.compile(
    r"(?P<date>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d(?::\d\d)?\b(?: ?[ap]m\b)?"
    r"|\b\d{1,2} ?[ap]m\b|\b(?:19|20)\d\d\b(?![\w-]))"
    r"|(?P<path>\b[a-z]{2,6}://[^\s\"'<>)]+|(?<![\w.<])(?:[A-Za-z]:\\|~?\.{0,2}/)\w[\w.\-/\\]+|(?<![\w./-])[\w.-]+/[\w.-]+[/.][\w./-]*\w"
    r"|\b[\w-]+\." + _EXTENSIONS + r"\b(?![(@]))"
    r"|(?P<identifier>\b[\w.+-]+@[\w-]+\.\w[\w.]*|#\w*\d\w*|\b(?!\d+[A-Za-z]{1,3}\b)(?=[A-Za-z_-]*\d)[\w-]*[A-Za-z][\w-]{2,}|\b\d{7,}\b)"
    r"|(?P<number>[$€£] ?\d[\d,.]*|\b\d[\d,.]*\d(?![\w-])%?|\b\d+ ?(?:%|[kKMG]i?B\b|[mk]?[gsm]\b))"
)
"""One shape after another at each place; a number is of two digits or more, or carries a unit."""

ERROR: Final = re.compile(
    r"\b(?:[\w.]*(?:Error|Exception)\b|(?:error|errors|errno|exception|fatal|panic|traceback|failed|failure|fails|failing|denied|refused|"
    r"unauthori[sz]ed|forbidden|unreachable|unavailable|timed out|timeout|crash(?:ed|es)?|segfault|segmentation fault|aborted|unhandled|"
    r"undefined|not found|cannot find|could not|unable to|no such|invalid|conflict|broken|warning|not a git|rejected|killed|"
    r"out of (?:memory|range)|overflow)\b|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|[45]\d\d (?=[A-Z]))|ERR!|\berror\[",
    re.IGNORECASE,
)
_NO_ERROR: Final = re.compile(r"\b(?:0 (?:errors?|failed|failures?)|no (?:errors?|warnings?|failures?|conflicts?)|without errors?)\b", re.IGNORECASE)
STATE: Final = re.compile(
    r"\b\d+ (?:passed|failed|skipped|tests?|errors?)\b|\b(?:total|subtotal|balance|sum|grand total)\b.{0,12}\d|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b"
    r"|\b(?:status|state|phase|result|outcome|verdict)\W{1,4}\w|\bsuccess(?:ful|fully)?\b|\b(?:completed?|finished|delivered|cancell?ed|confirmed|"
    r"up-to-date|deployed|merged|approved|passed|submitted|refunded|shipped)\b",
    re.IGNORECASE,
)
NAME: Final = re.compile(r"(?<=[\w,;&\"'] )(?!I\b|I'|I’)[A-Z][\w'’.-]*[a-z](?: [A-Z][\w'’-]+)*")
"""A capitalised word that is not the first of its sentence."""

_DATE_WORDS: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november"
    " december jan feb mar apr jun jul aug sep sept oct nov dec yesterday today tomorrow tonight weekend ago anniversary birthday".split()
)
_DATE_PHRASE: Final = re.compile(
    r"\b(?:last|next|this|past|coming) (?:week|month|year|night|summer|winter|spring|fall|autumn|weekend)|\bin may\b|\b\d+ may\b|\bmay \d+"
    r"|\b(?:years?|months?|weeks?|days?) (?:ago|later|old)\b|\bsince \w+"
)
_DATE_HINTS: Final = _DATE_WORDS | frozenset("last next past coming may years year months month weeks week days day since".split())


def is_error(text: str) -> bool:
    """Whether a text reports an error; "0 errors" and "no errors" do not."""
    return ERROR.search(text) is not None and not _NO_ERROR.search(text)


def has_date_words(lowered: str, words: frozenset[str] | set[str]) -> bool:
    """Whether a lower-cased sentence, given with its words, speaks of a day or a span of time."""
    return not _DATE_WORDS.isdisjoint(words) or (
        not _DATE_HINTS.isdisjoint(words) and _DATE_PHRASE.search(lowered) is not None
    )
