"""Which items the always-shown block takes of what rules find; the others are left to search and recall.

The block is short and in every request. So without a model it takes what the user asked to remember, what they order,
forbid or limit, how they want things done, and who they are. What happened, what a person plans and what either side
promised is found when a question needs it.

Source: DESIGN section 4, "Extraction"; own rules, measured as said in `self_contained`.
"""

import re
from functools import cache
from typing import Final

from everfold.core.extraction.phrases import ORDER, TASTE
from everfold.core.extraction.self_contained import (
    find_identity,
    has_own_turn,
    is_advice,
    is_self_contained,
    lower,
    points_back,
)
from everfold.core.memory.items import Shelf
from everfold.core.statements.extracts import QUOTE_CHARS, ExtractLine, LineKind
from everfold.core.statements.pronouns import points_back as lacks_object
from everfold.core.statements.substance import measure_substance

_PERMITS: Final = re.compile(r"(?:(?:and|so|if|then|also),? )?you (?:can|could|may|might)\b(?! ?(?:not|'t|only))")
_REQUESTS: Final = re.compile(
    r"\b(?:can|could|would) (?:you|i)\b(?!.*\b(?:always|never)\b)|\bhow (?:can|do|does|did|should|is|to)\b|\bexplain\b|\bhelp me\b"
    r"|\bi'm (?:not sure|trying|looking|kinda|aiming|thinking)\b|\bi don't (?:get|understand|know|remember)\b"
)
"""What asks for help with the work at hand, or tells of it, whatever limits it names."""
_CUT_CHARS: Final = QUOTE_CHARS - 30
"""From this length on a quote may be a part of its sentence, which is not understood alone."""
_OF_ONE_TIME: Final[frozenset[LineKind]] = frozenset(("decision", "commitment", "task", "question", "correction"))
_PASSING: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|right now|lately|just now|last (?:week|night|month|time)|this (?:morning|afternoon|evening|week))\b"
)
_LASTING_TURN: Final = re.compile(r"\b(?:lost|quit|left|moved|married|born|passed away|died|adopted|diagnosed)\b")


def choose_shelf(line: ExtractLine, statement: str) -> Shelf:
    """Where the item of a line goes: the block, or the archive, which search and recall reach.

    Args:
        line: The user's or the assistant's.
        statement: What the item says: the line's quote, or more.
    """
    return "block" if line.origin == "user" and _is_shown(line, statement) else "archive"


def shelve_answer(question: str) -> Shelf:
    """The same for a bare answer: by whether its question asks who the user is."""
    return "block" if _ASKS_WHO.search(lower(question)) else "archive"


def _is_shown(line: ExtractLine, statement: str) -> bool:
    lowered = lower(statement)
    if line.kind == "remember":
        return not is_advice(statement) and measure_substance(statement) > 0
    if len(statement) >= _CUT_CHARS or (line.kind in ("constraint", "preference") and _REQUESTS.search(lowered)):
        return False
    if line.kind == "constraint" and line.standing:
        return not is_advice(statement) and not has_own_turn(lowered) and _is_order(statement, lowered)
    if not is_self_contained(statement):
        return False
    if line.kind == "preference" and line.standing:
        return _match_taste().search(lowered) is not None and _PASSING.search(lowered) is None
    if line.kind in _OF_ONE_TIME:
        return find_identity(lowered) and _LASTING_TURN.search(lowered) is not None
    if _PASSING.search(lowered) and not _LASTING_TURN.search(lowered):
        return False
    return line.kind == "identity" or find_identity(lowered)


def _is_order(statement: str, lowered: str) -> bool:
    """Whether a limit holds beyond the work at hand, in words that need no other."""
    is_general = _find_order().search(lowered) is not None or not lowered.isascii() or find_identity(lowered)
    return is_general and not _PERMITS.match(lowered) and not points_back(statement) and not lacks_object(lowered)


@cache
def _find_order() -> re.Pattern[str]:
    return re.compile("|".join(row.pattern for row in ORDER))


@cache
def _match_taste() -> re.Pattern[str]:
    return re.compile("|".join(row.pattern for row in TASTE))


_ASKS_WHO: Final = re.compile(
    r"\b(?:name|names|called|allerg\w*|intoleran\w*|diet|eat|birthday|born|old|live|living|home|address|from|city|town|country|job|work|profession|occupation|married|partner|wife|husband|kids?|children"
    r"|son|daughter|brothers?|sisters?|siblings?|pets?|dog|cat|language|pronouns|condition|medication)\b"
)
