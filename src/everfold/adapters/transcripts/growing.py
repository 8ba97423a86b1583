"""Read what a transcript has grown by: whole lines from some position on, each of which stands or falls alone.

A file that is still written ends anywhere. A last line without its end waits, and so does a message that may go on: an
assistant message whose calls have no result yet, since its client writes it line by line. A line that cannot be read is
passed over and counted, for an import that stops at it would never get past it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from everfold.adapters.transcripts import coding_agent, opencode, rollout
from everfold.adapters.transcripts.rows import Row
from everfold.core.log.transcripts import Conversation, Growth, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject, parse_json
from everfold.errors import InvalidInputError

BROKEN: Final = "(broken)"
"""Under what lines are counted that cannot be read."""
_GOES_ON: Final = ("tool_use", "pause_turn")
"""Why a model stopped where its message is not over. Source: Anthropic, Messages API reference, `stop_reason`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    read: Callable[[Sequence[Row], str, set[int] | None], tuple[Conversation, ...]]
    label_row: Callable[[Row], str]
    find_unknown: Callable[[Row], str | None]
    waits: Callable[[Row], bool]
    ends_reply: Callable[[Row], bool] | None
    has_whole_lines: bool = False


_CLIENTS: Final = {
    coding_agent.CLIENT: _Client(
        read=coding_agent.read,
        label_row=coding_agent.label_row,
        find_unknown=coding_agent.find_unknown,
        waits=coding_agent.begins_compaction,
        ends_reply=None,
    ),
    rollout.CLIENT: _Client(
        read=lambda rows, name, _: rollout.read(rows, name),
        label_row=rollout.label_row,
        find_unknown=rollout.find_unknown,
        waits=lambda _: False,
        ends_reply=rollout.ends_reply,
    ),
    opencode.CLIENT: _Client(
        read=lambda rows, name, _: opencode.read(rows, name),
        label_row=opencode.label_row,
        find_unknown=opencode.find_unknown,
        waits=lambda _: False,
        ends_reply=None,
        has_whole_lines=True,
    ),
}

CLIENTS: Final = tuple(_CLIENTS)
"""The clients whose transcripts can be followed."""


def read_growth(data: bytes, client: str, *, name: str, is_over: bool = False) -> Growth:
    """Read the lines of a transcript from the beginning of one of them on.

    Args:
        data: From where the last reading ended to the end of the file.
        client: One of `CLIENTS`.
        name: What the conversation is called where the lines do not say.
        is_over: Nothing will follow: what would wait for more is given.
    """
    known = _CLIENTS[client]
    rows, starts, end_bytes, broken_count = _read_lines(data)
    counts = Counter({BROKEN: broken_count} if broken_count else {})
    sound: list[Row] = []
    for row in rows:
        if not _is_sound(row, known):
            counts[BROKEN] += 1
        elif (unknown := known.find_unknown(row)) is not None:
            counts[unknown] += 1
        else:
            sound.append(row)
    conversations, read = _read_together(sound, name, known)
    counts[BROKEN] += len(sound) - len(read)
    sound = read
    lines = {known.label_row(row): row.line for row in sound}
    is_whole = is_over or known.has_whole_lines
    held = [] if is_whole else [*_list_open(conversations, sound, known), *_list_waiting(sound, conversations, known)]
    first_held = min(held, default=None)
    return Growth(
        conversations=tuple(_leave_out(one, lines, first_held) for one in conversations),
        read_bytes=end_bytes if first_held is None else starts[first_held],
        skipped=+counts,
    )


def _read_lines(data: bytes) -> tuple[list[Row], dict[int, int], int, int]:
    """The lines that are whole, where each begins, where the last one ends, and how many are no JSON objects."""
    rows: list[Row] = []
    starts: dict[int, int] = {}
    at = broken_count = 0
    whole, _, _ = data.rpartition(b"\n")
    for number, line in enumerate(whole.split(b"\n") if b"\n" in data else (), 1):
        starts[number] = at
        at += len(line) + 1
        if line.strip():
            row = _read_line(line, number)
            broken_count += row is None
            rows += [] if row is None else [row]
    return rows, starts, at, broken_count


def _read_line(line: bytes, number: int) -> Row | None:
    try:
        text = line.decode("utf-8")
        return Row(value=parse_json(text), line=number, text=text, start_chars=0, end_chars=len(text))
    except (UnicodeDecodeError, InvalidInputError):
        return None


def _is_sound(row: Row, client: _Client) -> bool:
    """Whether a line can be read by itself."""
    try:
        client.read([row], "", None)
    except InvalidInputError:
        return False
    return True


def _read_together(rows: list[Row], name: str, client: _Client) -> tuple[tuple[Conversation, ...], list[Row]]:
    """The conversations of lines that can each be read alone, and those lines, without any that do not fit with the others."""
    while rows:
        misfits: set[int] = set()
        try:
            conversations = client.read(rows, name, misfits)
        except InvalidInputError as error:  # a line of another format than the first one
            misfits.add(cast("int", error.ids.get("line")))
            if not any(row.line in misfits for row in rows):
                raise
        else:
            if not misfits:
                return conversations, rows
        rows = [row for row in rows if row.line not in misfits]
    return (), rows


def _list_open(conversations: Sequence[Conversation], rows: Sequence[Row], client: _Client) -> list[int]:
    """Where the last message of a conversation begins that may go on."""
    lines = {client.label_row(row): row.line for row in rows}
    lasts = [conversation.messages[-1] for conversation in conversations if conversation.messages]
    return [
        lines[message.labels[0]]
        for message in lasts
        if _is_open(message, [row for row in rows if row.line > lines[message.labels[-1]]], client)
    ]


def _is_open(message: TranscriptMessage, after: Sequence[Row], client: _Client) -> bool:
    """Whether the client may still write something that belongs to a message; the rows after it may say otherwise."""
    wire = message.wire
    if wire.get("role") != "assistant":
        return False
    if client.ends_reply is not None and not any(map(client.ends_reply, after)):
        return True
    has_calls = bool(wire.get("tool_calls")) or any(block.get("type") == "tool_use" for block in _blocks(wire))
    is_bare = "response_items" in wire and not wire.get("content")
    return has_calls or is_bare or wire.get("stop_reason") in _GOES_ON


def _blocks(wire: JsonObject) -> list[JsonObject]:
    content = wire.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _list_waiting(rows: Sequence[Row], conversations: Sequence[Conversation], client: _Client) -> list[int]:
    """Where lines begin that announce a message which is not there yet."""
    last_line = max((message.line for one in conversations for message in one.messages), default=0)
    return [row.line for row in rows if row.line > last_line and client.waits(row)][:1]


def _leave_out(conversation: Conversation, lines: Mapping[str, int], held_line: int | None) -> Conversation:
    """A conversation without what begins at a line or later."""
    kept = tuple(
        message
        for message in conversation.messages
        if held_line is None or lines.get(message.labels[0], message.line) < held_line
    )
    return replace(conversation, messages=kept)
