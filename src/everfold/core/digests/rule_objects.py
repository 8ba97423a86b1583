"""Objects of rules in the message before: the sentence that a standing instruction points at, quoted beside it.

"No, never put those in there." binds to nothing without the question that it answers. Its object is an exact quote of its
own, carried with the standing instructions as a line that does not bind, so that an erasure of its message finds it.

Source: DESIGN 3.4; `statements.objects` for objects within one message.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from everfold.core.digests.rows import neutralise
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.objects import lacks_object
from everfold.core.statements.strengths import STRONG, measure_line
from everfold.core.statements.substance import measure_substance

_OPENING_CHARS: Final = 24
"""Behind more than a greeting or an assent, the rule's own message says what it is about. Source: as in `answers`."""
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")


def list_objects(lines: Iterable[ExtractLine], before: Sequence[ExtractLine]) -> list[ExtractLine]:
    """The sentence of the message before that standing lines of a message speak of, as a line that does not bind.

    The assistant's last question, what it said where that is one line, or the last line of the user's own; none where no
    line needs it.
    """
    if not before or not any(map(_is_open, lines)):
        return []
    own = [line for line in before if line.origin in ("user", "assistant")]
    asked = [line for line in own if line.origin == "assistant" and line.quote.endswith(_QUESTION_MARKS)]
    found = asked or [line for line in own if line.origin == "user" or len(before) == 1]
    return [line._replace(standing=False, lasting=False) for line in found[-1:] if measure_substance(line.quote)]


def find_object(line: ExtractLine, objects: Mapping[int, ExtractLine]) -> ExtractLine | None:
    """What a standing line speaks of, of such sentences by the numbers of their messages."""
    found = objects.get(line.seq - 1)
    return found if found is not None and _is_open(line) else None


def show_object(line: ExtractLine) -> str:
    """What stands behind a rule: the quoted sentence, who said it, and its message; it can forge no frame."""
    owner = "the assistant's " if line.origin == "assistant" else ""
    return f' (on {owner}#{line.seq}: "{neutralise(line.quote)}")'


def _is_open(line: ExtractLine) -> bool:
    """Whether only the message before says what an order or a limit speaks of."""
    is_first = line.standing and line.start <= _OPENING_CHARS
    return is_first and lacks_object(line.kind, line.quote) and measure_line(line) >= STRONG
