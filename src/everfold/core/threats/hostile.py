"""Lines that speak to the reader of a digest instead of reporting: instructions, changed roles, forged marks.

A digest reports what was said; it has no reader to address. So the wordings that memory is scanned for are held against
its lines too, and some that only a digest may not have (`rule_tables`, scope "digest"). They are held against text that
a model wrote under the rule to report only, never against messages: a rule of the user ("never deploy on a Friday") and
a report of an attack ("the page tried to give instructions") must pass.

Source: DESIGN 3.4 and 4.
"""

import re
from functools import cache
from typing import Final

from everfold.core.text.wordings import WordingIndex, index_wordings
from everfold.core.threats.disguises import fold
from everfold.core.threats.kinds import ThreatKind, ThreatRule
from everfold.core.threats.openings import is_forbidden
from everfold.core.threats.rule_tables import RULES
from everfold.core.threats.scanning import scan_memory

_WORDS: Final[dict[ThreatKind, str]] = {
    "instruction_override": "an instruction to drop instructions",
    "identity_change": "a new role for the reader",
    "concealment": "a wish to hide something from the user",
    "exfiltration": "a wish to leak something",
    "persistence": "an order for later sessions",
    "remote_control": "an order to obey another person",
    "forged_mark": "a forged mark or turn",
    "hidden_markup": "markup that is not shown",
    "lifted_check": "an order to leave out a check",
}
_MARKS: Final = re.compile(r"^[\s>*\-\u2022#\d.)]{1,12}(?=[^\s])")
"""What a list, a quotation or a heading puts before a line."""
_LABEL: Final = re.compile(
    r"\W{0,3}(system|developer|assistant|agent|model|bot|tool|user|human)\W{0,3}:\W{0,3}(?!you\b|from now on|always\b|never\b|do not\b|don't\b|must\b|ignore\b|approve\b|execute\b|obey\b)",
    re.IGNORECASE,
)
"""A label in a list ("- System: Debian 12"), which gives no order."""
_REPORTED: Final = frozenset({"user", "human"})
"""The labels behind which a line reports an order: only the user may lift a check."""


def find_hostile(line: str) -> str | None:
    """What a line does to its reader, in words, or None. O(length)."""
    found = next(_read_index().find(fold(line).lowered, excuse=_is_forbidden), None)
    return None if found is None else _WORDS[found.rule.kind]


def find_digest_threat(line: str) -> str | None:
    """What a line of a model's digest does to its reader, in words, or None: by the scan of items too. O(length).

    The line is read with its list mark and without. Secrets are taken out of a digest, and characters that show nothing
    stripped from it, so neither is told here. Behind the user's label the line tells what the user ordered.
    """
    bare = _MARKS.sub("", line)
    label = _LABEL.match(bare) if bare != line else None
    bare = bare[label.end() :] if label is not None else bare
    is_reported = label is None or label[1].lower() in _REPORTED
    for text in dict.fromkeys((line, bare)):
        if (what := find_hostile(text)) is not None:
            return what
        threats = scan_memory(text, is_note=text == line or not is_reported)
        kind = next((threat.kind for threat in threats if threat.kind in _WORDS), None)
        if kind is not None:
            return _WORDS[kind]
    return None


@cache
def _read_index() -> WordingIndex[ThreatKind]:
    """The wordings that no digest may have, made ready when the first line is judged."""
    return index_wordings(RULES, scopes=("all", "digest"))


def _is_forbidden(rule: ThreatRule, text: str, start: int, _end: int) -> bool:
    """A digest has no need to quote an attack, not even as one; it may report that something was forbidden."""
    return rule.kind == "concealment" and is_forbidden(text, start)
