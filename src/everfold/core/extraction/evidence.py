"""Evidence: which messages, and which of their parts, an extraction may read, and whose words they are.

Memory is made from what was said, once. What Everfold or a program put into a log or a request (injections, refreshes,
ticks, digests, notes, recalled memory) is no evidence of anything: it came from memory, or no person said it.
Thinking is no evidence either.

Source: DESIGN section 4, "Extraction", and G9; REQUIREMENTS U-40, P-OF-5 and P-OF-6.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from everfold.core.log.lines import find_foreign
from everfold.core.log.messages import (
    CallPart,
    DocumentPart,
    Kind,
    Message,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
    read_part,
)
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.statements.segments import Span
from everfold.core.text.frames import (
    ASKED_TITLE,
    BETWEEN_TEXT,
    DELTA_TITLE,
    EARLIER_TEXT,
    OPENER_TEXT,
    RECALL_TITLE,
    SNAPSHOT_TITLE,
)

_SAID: Final[frozenset[Kind]] = frozenset(("user", "notice", "assistant", "result", "late"))
_FRAMES: Final = (
    OPENER_TEXT,
    BETWEEN_TEXT,
    EARLIER_TEXT,
    ASKED_TITLE,
    RECALL_TITLE,
    DELTA_TITLE,
    *(f"{mark}{SNAPSHOT_TITLE}" for mark in ("=== ", "## ", "# ", "[")),
    "=== digest ",
    "<<<untrusted ",
    "<<<messages ",
    "[AUTONOMOUS TICK]",
    "[SCHEDULED TICK]",
)
"""How texts begin that a program made; a client may have put one back into a log as a message.

Source: `frames`, `digest_rows` and `digest_requests` for ours; REQUIREMENTS OF-46 for the ticks.
"""


class EvidencePart(NamedTuple):
    """One readable part of a message, or of a part of which another stretch holds words of others.

    Attributes:
        text: All of it.
        start: Where it begins in the text of the message's view.
        origin: Whose words it holds; never above the message's own origin.
        is_written: Its sender wrote it as text: it is no call, result or document, and not what the sender quotes.
    """

    text: str
    start: int
    origin: Origin
    is_written: bool


def is_evidence(message: Message) -> bool:
    """Whether memory may be made from a message at all: a person or the assistant said it, or a tool returned it.

    No message of system origin: it says how an agent is to work, not what is known.
    """
    if message.is_erased or message.source != "said" or message.kind not in _SAID or message.origin == "system":
        return False
    return any(_is_said(part) for part in message.view.parts)


def list_parts(message: Message, *, silent_calls: Collection[str] = ()) -> Iterator[EvidencePart]:
    """The parts of a message that are evidence, none where the message is none.

    A document that rides on a message is not its sender's words, and neither is what a user quotes or pastes: both count
    as external.

    Args:
        message: One for which `is_evidence` may hold.
        silent_calls: Ids of calls whose arguments and results are no evidence; see `list_silent_calls`.
    """
    if not is_evidence(message):
        return
    foreign = find_foreign(message.view) if message.origin == "user" else ()
    at = 0
    for part in message.view.parts:
        text = read_part(part)
        if text and _is_said(part) and not _is_silent(part, silent_calls):
            whole = EvidencePart(text, at, _lower(message.origin, part), isinstance(part, TextPart))
            yield from _part_by_voice(whole, foreign) if whole.is_written and foreign else (whole,)
        at += len(text) + 1 if text else 0


def _part_by_voice(part: EvidencePart, foreign: Sequence[Span]) -> Iterator[EvidencePart]:
    """A text of a user cut where words of others begin and end."""
    at, end = part.start, part.start + len(part.text)
    cuts = [(max(low, at), min(high, end)) for low, high in foreign if low < end and high > at]
    for low, high in [*cuts, (end, end)]:
        for start, stop, is_own in ((at, low, True), (low, high, False)):
            text = part.text[start - part.start : stop - part.start]
            if text and not text.isspace():
                yield EvidencePart(text, start, part.origin if is_own else "external", is_own)
        at = high


def list_silent_calls(messages: Sequence[Message], tools: Collection[str]) -> frozenset[str]:
    """Ids of the calls of these tools: those that read and write memory give back what memory knows already."""
    return frozenset(call.id for message in messages for call in message.view.calls if call.name in tools)


def _is_said(part: Part) -> bool:
    return not isinstance(part, ThinkingPart) and not read_part(part).lstrip().startswith(_FRAMES)


def _is_silent(part: Part, calls: Collection[str]) -> bool:
    if isinstance(part, CallPart):
        return part.id in calls
    return isinstance(part, ResultPart) and part.call_id in calls


def _lower(origin: Origin, part: Part) -> Origin:
    """The origin of a part, which may have less authority than the message's sender."""
    own: Origin = origin
    if isinstance(part, DocumentPart):
        own = "external"
    elif isinstance(part, ResultPart):
        own = "tool"
    return min(own, origin, key=AUTHORITY.__getitem__)
