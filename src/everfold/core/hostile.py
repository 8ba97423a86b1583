"""Lines that speak to whoever reads a digest instead of reporting: instructions, changed roles, forged marks.

A digest reports what was said; it has no reader to address. So the wordings that memory is scanned for are held against
its lines too, and some that only a digest may not have (`threat_rules`, scope "digest"). They are held against text that
a model wrote under the rule to report only, never against messages: a rule of the user ("never deploy on a Friday") and
a report of an attack ("the page tried to give instructions") must pass.

Source: DESIGN 3.4 and 4.
"""

from typing import Final

from everfold.core.disguises import fold
from everfold.core.threat_kinds import ThreatKind, ThreatRule
from everfold.core.threat_rules import RULES_TABLE
from everfold.core.wordings import index_wordings

_INDEX: Final = index_wordings(RULES_TABLE, leave_out="memory")
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
    found = next(_INDEX.find(fold(line).lowered, excuse=_is_never_excused), None)
    return None if found is None else _WORDS[found.rule.kind]


def _is_never_excused(_rule: ThreatRule, _text: str, _start: int, _end: int) -> bool:
    """A digest has no need to quote an attack, not even as one."""
    return False
