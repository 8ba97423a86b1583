"""The visible form of a message: what the window shows of one that is too large to be shown whole.

It is decided once, when the message is stored (for the results of a step: when the step closes), and stored as cuts,
so that it never changes afterwards. Whatever it leaves out is named in place, with the page that holds it.
"""

from collections.abc import Sequence

from everfold.core.log.extras import EXTRAS_CUT, estimate_extras
from everfold.core.log.files import read_attached
from everfold.core.log.messages import (
    CallPart,
    Cut,
    DocumentPart,
    ImagePart,
    Message,
    MessageView,
    Part,
    ResultPart,
    TextPart,
)
from everfold.core.log.wire import shorten_strings
from everfold.core.primitives.json_values import JsonValue, encode_json, parse_json
from everfold.core.text.tokens import (
    MESSAGE_OVERHEAD_TOKENS,
    estimate_image_tokens,
    estimate_json_tokens,
    estimate_text_tokens,
    truncate_to_tokens,
)
from everfold.errors import InvalidInputError

PAGE_CHARS = 8000
"""The length of one page of an oversized message: about 2,000 tokens of English, a comfortable tool result."""

CALL_OVERHEAD_TOKENS = 12
"""Framing of one call or one result: its id and its role. Source: rendered examples of both providers, high side."""

ATTACHED_OVERHEAD_TOKENS = 48
"""Framing of what a result holds beside its text, as a message of its own. Source: rendered examples, high side."""

ELISION_TOKENS = 32
"""Room for the line that names what was left out; `elision_line` stays under it."""

SHORTEST_STRING_CHARS = 16
"""Strings of call arguments are not cut below this; then a pointer stands for all of them."""

INTERRUPTED_TEXT = "[interrupted: this call was never answered]"
"""The fixed result of a call that was abandoned. Source: DESIGN section 3.1."""

ERASED_TEXT = "[erased]"
"""The fixed result of a call whose result was erased."""

INTERRUPTED_TOKENS = CALL_OVERHEAD_TOKENS + estimate_text_tokens(INTERRUPTED_TEXT)


def elision_line(seq: int, start: int, end: int) -> str:
    """The line that stands where text was left out: how much, and where it can be read.

    Start and end count in the text of the whole message, as its pages do.
    """
    first, last = start // PAGE_CHARS + 1, max(end - 1, start) // PAGE_CHARS + 1
    pages = f"page {first}" if first == last else f"pages {first}-{last}"
    return f"[… {end - start} characters left out; history: message {seq}, {pages} …]"


def estimate_part_tokens(part: Part) -> int:
    """The fixed estimate of a whole part."""
    match part:
        case TextPart():
            return estimate_text_tokens(part.text)
        case ImagePart():
            return estimate_image_tokens(part.detail)
        case DocumentPart():
            return estimate_text_tokens(f"[{part.title}]\n{part.text}") if part.text else estimate_json_tokens(part.raw)
        case CallPart():
            return CALL_OVERHEAD_TOKENS + estimate_text_tokens(part.name) + estimate_text_tokens(part.arguments)
        case ResultPart():
            images = part.image_count * estimate_image_tokens(None)
            return CALL_OVERHEAD_TOKENS + estimate_text_tokens(part.text) + images + _estimate_attached(part)
        case _:
            return estimate_json_tokens(part.raw)


def _estimate_attached(result: ResultPart) -> int:
    """What a result has beside its text and its images: its files, and the lines that stand with both."""
    attached = read_attached(result)
    files = [estimate_part_tokens(part) for part in attached if not isinstance(part, ImagePart)]
    return ATTACHED_OVERHEAD_TOKENS + sum(files) if attached else 0


def estimate_view_tokens(view: MessageView) -> int:
    """The fixed estimate of a whole message."""
    return MESSAGE_OVERHEAD_TOKENS + sum(map(estimate_part_tokens, view.parts)) + estimate_extras(view)


def shows_extras(message: Message) -> bool:
    """Whether a message is shown with its extras: it is whole, and they were counted when it was stored."""
    return not message.cuts and message.raw_tokens >= estimate_view_tokens(message.view)


def choose_cuts(view: MessageView, *, seq: int, cap_tokens: int) -> tuple[tuple[Cut, ...], int]:
    """What to leave out so that a message fits the cap, and the tokens of what is left.

    Extras go first, and with whatever else is cut; then the smallest parts are filled first. A message whose framing alone
    is above the cap stays above it.
    """
    sizes = [estimate_part_tokens(part) for part in view.parts]
    extras_tokens = estimate_extras(view)
    total = MESSAGE_OVERHEAD_TOKENS + sum(sizes)
    if total + extras_tokens <= cap_tokens:
        return (), total + extras_tokens
    cuts: list[Cut] = [EXTRAS_CUT] if extras_tokens else []
    if total <= cap_tokens:
        return tuple(cuts), total
    tokens = MESSAGE_OVERHEAD_TOKENS
    shares = fill_smallest_first(sizes, cap_tokens - MESSAGE_OVERHEAD_TOKENS)
    for index, (part, size, share) in enumerate(zip(view.parts, sizes, shares, strict=True)):
        if size <= share:
            tokens += size
            continue
        cut, size_left = _cut_part(part, index=index, seq=seq, size=size, cap_tokens=share)
        tokens += size_left
        if cut is not None:
            cuts.append(cut)
    return tuple(cuts), tokens


def fill_smallest_first(sizes: Sequence[int], cap: int) -> list[int]:
    """Share a cap among sizes so that the small ones are whole and the large ones get equal shares.

    Gives the share of each, in the order of the sizes; a size at or under its share is whole. O(n log n).

    Source: max-min fairness ("water-filling"), Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    shares = [0] * len(sizes)
    left, waiting = max(cap, 0), len(sizes)
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        share = left // waiting
        shares[index] = min(sizes[index], share)
        left -= shares[index]
        waiting -= 1
    return shares


def _cut_part(part: Part, *, index: int, seq: int, size: int, cap_tokens: int) -> tuple[Cut | None, int]:
    """The cut that brings one part under its share, and what is left of its tokens."""
    match part:
        case TextPart() | DocumentPart() | ResultPart() if part.text:
            frame = size - estimate_text_tokens(part.text)
            head, tail, start, end = truncate_to_tokens(part.text, max(cap_tokens - frame - ELISION_TOKENS, 0))
            if end - start < len(elision_line(seq, start, end)):
                return None, size
            left = estimate_text_tokens(head) + estimate_text_tokens(tail)
            return Cut(part=index, start=start, end=end), frame + ELISION_TOKENS + left
        case CallPart():
            frame = size - estimate_text_tokens(part.arguments)
            text = shorten_arguments(part.arguments, seq=seq, cap_tokens=max(cap_tokens - frame, 0))
            return Cut(part=index, start=0, end=0, arguments=text), frame + estimate_text_tokens(text)
        case ImagePart():
            return Cut(part=index, start=0, end=0), ELISION_TOKENS
        case _:
            return None, size


def shorten_arguments(arguments: str, *, seq: int, cap_tokens: int) -> str:
    """Valid JSON that stands for call arguments that are too long: long strings cut, or only a pointer."""
    pointer: dict[str, JsonValue] = {"left_out": f"{len(arguments)} characters; history: message {seq}"}
    try:
        value = parse_json(arguments)
    except InvalidInputError:
        value = arguments
    limit_chars = 2048
    while isinstance(value, dict) and limit_chars >= SHORTEST_STRING_CHARS:
        short = shorten_strings(value, limit_chars, place=f"history: message {seq}")
        text = encode_json(short).decode("utf-8", "surrogatepass")
        if estimate_text_tokens(text) <= cap_tokens:
            return text
        limit_chars //= 2
    return encode_json(pointer).decode("utf-8")


def cut_text(text: str, cut: Cut, *, seq: int, offset: int) -> str:
    """The visible text of a part with a cut. `offset` is where the part begins in the text of its message."""
    line = elision_line(seq, offset + cut.start, offset + cut.end)
    return f"{text[: cut.start]}\n{line}\n{text[cut.end :]}"
