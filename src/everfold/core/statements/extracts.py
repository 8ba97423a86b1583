"""Extract lines: exact quotes noted when a message arrives, so that no later step has to read it again.

How a text becomes lines stands in `reading`.

Source: DESIGN G3, 3.4.
"""

from datetime import datetime
from typing import Final, Literal, NamedTuple, get_args

from everfold.core.primitives.origins import Origin
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

QUOTE_CHARS: Final = 240
"""The longest quote; about 60 tokens, so that a digest of 400 tokens still holds several."""
_COLUMNS: Final = 5


class ExtractLine(NamedTuple):
    """An exact quote from one message: `text[start:start + len(quote)] == quote`.

    Attributes:
        score: 0 to 100; how much a careful person would want to keep it.
        standing: Whether it binds beyond its moment; only a line of user origin can.
        said_at: When its message was said, aware, UTC.
        lasting: Whether it outlasts its moment, also where it does not bind: a task that a person took on, a decision of
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


def to_json(line: ExtractLine, origin: Origin) -> list[object]:
    """A line as a compact list, for a column; what the row of its message knows is left out.

    A line of another origin than its message, the one given, names it behind the rest.
    """
    _, own, kind, score, quote, start, standing, _, lasting = line
    row: list[object] = [_KIND_NUMBERS[kind], score, start, quote, 1 if standing else 2 * lasting]
    return row if own == origin else [*row, own]


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
            return ExtractLine(seq, origin, LINE_KINDS[kind], score, quote, start, standing == 1, said_at, standing > 0)
    message = (
        f"The extract line of message {seq} is not [kind, score, start, quote, standing]: {value!r:.120}. Run verify."
    )
    raise InvalidInputError(message, seq=seq)
