"""A window part by part, as a person reads it: what each part is, what it costs, and whether a cache has it.

A provider's cache serves the beginning of a request that it has seen before. The newest answer of the assistant came to a
request that held everything before it (G5: requests only grow at their end), so that much has been seen; and of that what
comes before the first cache break is still the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from everfold.core.compaction.planning import measure_frame
from everfold.core.log.calibration import count_parts
from everfold.core.log.messages import Message, read_part
from everfold.core.log.visible import cut_text
from everfold.core.primitives.json_values import encode_json
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_json_tokens, estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry, Slice, TextEntry
from everfold.core.windows.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
    """One part of a window.

    Attributes:
        slice: Where it belongs.
        first_seq: The first message that it is, or stands for; None for texts of the session or of Everfold's own.
        text: What is shown of it; the system prompt, tools as JSON, messages in their visible form.
        is_cached: A provider that keeps what it has seen reads it from its cache.
        compaction_id: The compaction that made the digest.
    """

    slice: Slice
    tokens: int
    text: str
    first_seq: int | None = None
    last_seq: int | None = None
    is_cached: bool = False
    compaction_id: str | None = None


def list_parts(window: Window) -> list[WindowPart]:
    """The parts in the order of the request, in the provider's tokens. Together they cost what the report says."""
    parts = [*_prompt_parts(window), *(part for entry in window.entries for part in _read_entry(entry, window))]
    bound_tokens = _measure_stable(window)
    answered_seq = _find_answered(window)
    ends = accumulate(part.tokens for part in parts)
    counts = count_parts(window.calibration, [part.tokens for part in parts])
    return [
        replace(part, tokens=tokens, is_cached=end <= bound_tokens and _was_sent(part, answered_seq))
        for part, end, tokens in zip(parts, ends, counts, strict=True)
    ]


def _prompt_parts(window: Window) -> Iterator[WindowPart]:
    prompt = window.prompt
    if prompt.system:
        tokens = MESSAGE_OVERHEAD_TOKENS + estimate_text_tokens(prompt.system)
        yield WindowPart(slice="fixed", tokens=tokens, text=prompt.system)
    for tool in prompt.tools:
        text = encode_json(tool).decode("utf-8", "surrogatepass")
        yield WindowPart(slice="fixed", tokens=estimate_json_tokens(tool), text=text)


def _read_entry(entry: MessageEntry | RangeEntry | TextEntry, window: Window) -> Iterator[WindowPart]:
    match entry:
        case MessageEntry():
            yield _message_part(entry.message, entry.slice)
        case RangeEntry():
            yield from _range_parts(entry)
        case TextEntry():
            frame = MESSAGE_OVERHEAD_TOKENS if entry.slice == "standing" else 0
            yield WindowPart(
                slice=entry.slice, tokens=window.estimate.by_slice.get(entry.slice, 0) + frame, text=entry.text
            )


def _message_part(message: Message, name: Slice) -> WindowPart:
    return WindowPart(
        slice=name,
        tokens=message.raw_tokens if name == "fixed" else message.tokens,
        text=show_text(message),
        first_seq=message.seq,
        last_seq=message.seq,
    )


def _range_parts(entry: RangeEntry) -> Iterator[WindowPart]:
    """The kept messages of a range, then its digest with all that frames the range."""
    for message in entry.kept:
        part, asked = _message_part(message, "kept"), entry.asked.get(message.seq, "")
        text = f"{asked}\n{part.text}" if asked else part.text
        yield replace(part, tokens=part.tokens + estimate_text_tokens(asked), text=text)
    shown = entry.shown
    yield WindowPart(
        slice="digest",
        tokens=measure_frame([message.seq for message in entry.kept]) + shown.digest_tokens,
        text=entry.digest_text,
        first_seq=shown.first_seq,
        last_seq=shown.last_seq,
        compaction_id=shown.digest_id.rpartition(".")[0] or None,
    )


def show_text(message: Message) -> str:
    """The visible form of a message as text."""
    if not message.cuts:
        return message.view.text
    cuts = {cut.part: cut for cut in message.cuts}
    texts: list[str] = []
    for index, part in enumerate(message.view.parts):
        text, cut = read_part(part), cuts.get(index)
        if cut is not None and part.kind == "call":
            text = f"{part.name} {part.arguments if cut.arguments is None else cut.arguments}"
        elif cut is not None and text:
            text = cut_text(text, cut, seq=message.seq, offset=message.view.find_offset(index))
        texts.append(text)
    return "\n".join(filter(None, texts))


def _measure_stable(window: Window) -> int:
    """Tokens at the beginning that are as they were in the request before, by the fixed estimate."""
    report = window.estimate
    resent_tokens = max((broken.resent_tokens for broken in report.cache_breaks), default=0)
    return report.tokens - report.by_slice.get("suffix", 0) - resent_tokens


def _find_answered(window: Window) -> int:
    """The newest message that was in a request already, so that all before it were; 0 where none was sent."""
    report = window.report
    if report.withheld_seqs:
        return report.withheld_seqs[0]
    tail = [entry.message for entry in window.entries if isinstance(entry, MessageEntry) and entry.slice == "tail"]
    answers = [message.seq for message in tail if message.view.role == "assistant"]
    return answers[-1] if answers else report.compacted_through


def _was_sent(part: WindowPart, answered_seq: int) -> bool:
    """Whether a part was in the request before. What is no message of the tail was, once anything was sent."""
    if part.slice == "suffix" or not answered_seq:
        return False
    return part.slice != "tail" or part.first_seq is None or part.first_seq < answered_seq
