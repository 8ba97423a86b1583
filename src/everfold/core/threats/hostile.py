"""Lines that speak to whoever reads a digest instead of reporting: instructions, changed roles, forged marks.

A digest reports what was said; it has no reader to address. So the wordings that memory is scanned for are held against
its lines too, and some that only a digest may not have (`rule_tables`, scope "digest"). They are held against text that
a model wrote under the rule to report only, never against messages: a rule of the user ("never deploy on a Friday") and
a report of an attack ("the page tried to give instructions") must pass.

Source: DESIGN 3.4 and 4.
"""

from functools import cache
from typing import Final

from everfold.core.text.wordings import WordingIndex, index_wordings
from everfold.core.threats.disguises import fold
from everfold.core.threats.kinds import ThreatKind, ThreatRule
from everfold.core.threats.rule_tables import RULES

_WORDS: Final[dict[ThreatKind, str]] = {
    "instruction_override": "an instruction to drop instructions",
    "identity_change": "a new role for the reader",
    "concealment": "a wish to hide something from the user",
    "exfiltration": "a wish to leak something",
    "persistence": "an order for later sessions",
    "remote_control": "an order to obey somebody else",
    "forged_mark": "a forged mark or turn",
}


def find_hostile(line: str) -> str | None:
    """What a line does to its reader, in words, or None. O(length)."""
    found = next(_read_index().find(fold(line).lowered, excuse=_is_never_excused), None)
    return None if found is None else _WORDS[found.rule.kind]


@cache
def _read_index() -> WordingIndex[ThreatKind]:
    """The wordings that no digest may have, made ready when the first line is judged."""
    return index_wordings(RULES, leave_out="memory")


def _is_never_excused(_rule: ThreatRule, _text: str, _start: int, _end: int) -> bool:
    """A digest has no need to quote an attack, not even as one."""
    return False
