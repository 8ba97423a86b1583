"""Session logs of coding agents: JSONL, one event a line, with the provider's message nested under ``message``.

Which events become messages:

* ``user``, ``assistant``, ``system``, ``tool`` and ``message`` events with a nested ``message`` that has a role.
* An ``attachment`` of the type ``queued_command`` is what was sent while the agent worked. No ``user`` event repeats it, so
  it becomes a user message at its place, unless its ``source_uuid`` names an event that holds it.
* Events of ``SKIPPED_TYPES`` carry no message and are passed over; so are other attachments, and a ``system`` event without
  a message. Events of any other type are passed over and counted: each release of a client brings new ones.
* An assistant message is logged a block a line as it streams. Assistant events that follow one another in a conversation
  and have the same ``message.id`` are its parts: their blocks are joined in order, and the last part's other fields
  (``stop_reason``, ``usage``) hold.
* Side chains (``isSidechain``) are the talk of sub-agents. Each becomes a conversation of its own, told apart by
  ``agentId`` or else by the event that its ``parentUuid`` leads back to.
* Otherwise the order of the file holds, also after a rewind: what was said on an abandoned branch was said.

Whose words: a user message that is marked ``isMeta``, or whose texts begin as the program marks commands of its own and what
they print, was written by the program around the agent (origin ``system``); what the user's shell commands print is from
outside (origin ``external``); a summary marked ``isCompactSummary``, the task of a side chain, and what a task or another agent
reported (a mark, an ``origin`` that is not ``human``, a queued command that is no prompt) were written by a model (origin
``assistant``). An ``origin`` that is ``human`` outranks the marks. A summary is an injection: it stands for what the client's
compaction took out of its window. What Everfold handed to the client is left out.

Source: the session files that coding agents write; the nested message is that of the provider's API.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from everfold.adapters.transcripts import anthropic, openai, rollout
from everfold.adapters.transcripts.chat import find_provider
from everfold.adapters.transcripts.handed import cut_handed
from everfold.adapters.transcripts.marks import find_least, list_marked
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import (
    expect_object,
    expect_string,
    label_line,
    name_of,
    parse_time,
    refuse,
    title_of,
)
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue
from everfold.core.primitives.origins import Origin
from everfold.errors import InvalidInputError

CLIENT: Final = "claude-code"
"""How conversations of this format are named among those of other clients."""

MESSAGE_TYPES: Final = ("user", "assistant", "system", "tool", "message")
"""The types of events that carry a message."""

SKIPPED_TYPES: Final = (
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attachment",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "summary",
    "tag",
    "task-summary",
    "token_usage_record",
    "tools-used",
    "worktree-state",
)
"""The types of events that carry no message of the conversation: titles, settings, snapshots, progress, the end of a run,
which repeats the last answer."""

_MARKS: Final[Mapping[str, Origin]] = {
    "<bash-stderr>": "external",
    "<bash-stdout>": "external",
    "<command-message>": "system",
    "<command-name>": "system",
    "<cross-session-message": "assistant",
    "<local-command-": "system",
    "<task-notification>": "assistant",
    "<teammate-message": "assistant",
    "[request interrupted by user": "system",
}
"""How user messages begin that the program around the agent wrote, and whose words they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """One event with a message, and the chain of talk that it belongs to (empty for the main one)."""

    line: int
    fields: dict[str, JsonValue]
    message: dict[str, JsonValue]
    chain: str
    label: str
    kept_labels: tuple[str, ...] = ()


def matches(rows: Sequence[Row]) -> bool:
    """Whether a row is an event with a nested message or an item of a rollout, and those before it have a type at least.

    An unknown type before the first message is left to `read`, which names it.
    """
    if rollout.matches(rows):
        return True
    for row in rows:
        if not isinstance(row.value, dict) or "role" in row.value or not isinstance(row.value.get("type"), str):
            return False
        if isinstance(row.value.get("message"), dict):
            return True
    return False


def read(rows: Sequence[Row], name: str, misfits: set[int] | None = None) -> tuple[Conversation, ...]:
    """Read the main conversation and one for each side chain; a message's labels are the ``uuid`` of its events.

    Args:
        rows: The lines of the file.
        name: What the conversation is called where the lines do not say.
        misfits: Takes the lines of messages that are none in the form of the file, which are left out then.

    Raises:
        InvalidInputError: With ``line``, where an event or its message is not valid.
    """
    if rollout.matches(rows):
        return rollout.read(rows, name)
    events = _events_with_messages(rows)
    wire_format = _find_wire_format(events)
    runs_by_chain: dict[str, list[list[_Event]]] = {}
    for event in events:
        runs = runs_by_chain.setdefault(event.chain, [])
        if runs and _is_next_part(runs[-1][-1].message, event.message):
            runs[-1].append(event)
        else:
            runs.append([event])
    own = next((name_of(event.fields["sessionId"], "") for event in events if event.fields.get("sessionId")), "")
    title = _find_title(rows)
    if title and "" not in runs_by_chain:
        runs_by_chain[""] = []
    return tuple(
        Conversation(
            name=f"{own or name}/{chain}" if chain else own or name,
            messages=tuple(_list_messages(runs, wire_format, misfits)),
            key=f"{CLIENT}:{own}/{chain}" if own and chain else f"{CLIENT}:{own}" if own else None,
            title=None if chain else title or None,
        )
        for chain, runs in runs_by_chain.items()
    )


def _find_title(rows: Sequence[Row]) -> str:
    """The last title that the user gave the session, else the last one that a model wrote."""
    events = [row.value for row in reversed(rows) if isinstance(row.value, dict)]
    return title_of(
        *(event.get("customTitle") for event in events if event.get("type") == "custom-title"),
        *(event.get("aiTitle") for event in events if event.get("type") == "ai-title"),
    )


def label_row(row: Row) -> str:
    """The id of an event: its ``uuid``, or a hash of its line."""
    return label_line(row.text, row.value.get("uuid") if isinstance(row.value, dict) else None)


def find_unknown(row: Row) -> str | None:
    """The type of an event that is not known, and is passed over."""
    kind = row.value.get("type") if isinstance(row.value, dict) else None
    return str(kind) if kind not in (*MESSAGE_TYPES, *SKIPPED_TYPES) else None


def count_unknown(rows: Sequence[Row]) -> Mapping[str, int]:
    """How many events, lines and items of each type that is not known are passed over."""
    find = rollout.find_unknown if rows and rollout.matches(rows) else find_unknown
    return Counter(kind for row in rows if (kind := find(row)) is not None)


def begins_compaction(row: Row) -> bool:
    """Whether an event announces a summary, and says which messages the client keeps beside it."""
    return isinstance(row.value, dict) and row.value.get("subtype") == "compact_boundary"


def _find_wire_format(events: Sequence[_Event]) -> WireFormat:
    # The objects that Anthropic's API answers with say of themselves that they are of the type message.
    if any(event.message.get("type") == "message" for event in events):
        return "anthropic"
    return find_provider([event.message for event in events])


def _events_with_messages(rows: Sequence[Row]) -> list[_Event]:
    events: list[_Event] = []
    kept: tuple[str, ...] = ()
    chain_by_uuid: dict[str, str] = {}
    said_uuids = {str(row.value.get("uuid")) for row in rows if isinstance(row.value, dict) and "message" in row.value}
    for row in rows:
        event = expect_object(row.value, "this event", row.line)
        kind = expect_string(event.get("type"), "`type` of this event", row.line)
        chain = _chain_of(event, chain_by_uuid, row.line)
        if isinstance(event.get("uuid"), str):
            chain_by_uuid[str(event["uuid"])] = chain
        label = label_row(row)
        if (queued := _find_queued(event, said_uuids)) is not None:
            events.append(_Event(line=row.line, fields=event, message=queued, chain=chain, label=label))
            continue
        if begins_compaction(row):
            kept = _list_kept(event)
        if kind not in MESSAGE_TYPES or (kind == "system" and "message" not in event):
            continue
        message = expect_object(event.get("message"), f"`message` of this {kind} event", row.line)
        if kind != "message" and message.get("role") != kind:
            refuse(row.line, f"an event of the type {kind!r} holds a message of the role {message.get('role')!r}")
        if (said := cut_handed(message)) is None:
            continue
        held, kept = (kept, ()) if event.get("isCompactSummary") is True else ((), kept)
        events.append(_Event(line=row.line, fields=event, message=said, chain=chain, label=label, kept_labels=held))
    return events


def _list_kept(event: dict[str, JsonValue]) -> tuple[str, ...]:
    """The events that a compaction has kept word for word, in their order."""
    metadata = event.get("compactMetadata")
    preserved = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
    uuids = preserved.get("uuids") if isinstance(preserved, dict) else None
    return tuple(str(uuid) for uuid in uuids) if isinstance(uuids, list) else ()


def _find_queued(event: dict[str, JsonValue], said_uuids: set[str]) -> dict[str, JsonValue] | None:
    """The user message that was sent while the agent worked, where this event is one and no other event holds it."""
    queued = event.get("attachment") if event.get("type") == "attachment" else None
    if not isinstance(queued, dict) or queued.get("type") != "queued_command" or not queued.get("prompt"):
        return None
    source = queued.get("source_uuid")
    is_said = isinstance(source, str) and source in said_uuids
    return None if is_said else {"role": "user", "content": queued["prompt"]}


def _chain_of(event: dict[str, JsonValue], chain_by_uuid: dict[str, str], line: int) -> str:
    if event.get("isSidechain") is not True:
        return ""
    if isinstance(event.get("agentId"), str):
        return f"sidechain-{event['agentId']}"
    if "parentUuid" not in event:
        return "sidechain"
    # A side chain begins at an event whose parent is not in one; the line of its first event tells it apart.
    return chain_by_uuid.get(str(event["parentUuid"])) or f"sidechain-line-{line}"


def _list_messages(
    runs: Sequence[Sequence[_Event]], wire_format: WireFormat, misfits: set[int] | None
) -> Iterator[TranscriptMessage]:
    """The messages of a conversation; see `read`."""
    for parts in runs:
        try:
            yield _message_of(parts, wire_format)
        except InvalidInputError as error:
            if misfits is None:
                raise
            misfits.add(cast("int", error.ids["line"]))


def _message_of(parts: Sequence[_Event], wire_format: WireFormat) -> TranscriptMessage:
    check_message = anthropic.check_message if wire_format == "anthropic" else openai.check_message
    wires = [check_message(part.message, part.line) for part in parts]
    first = parts[0]
    is_compaction = first.fields.get("isCompactSummary") is True
    return TranscriptMessage(
        wire=wires[0] if len(wires) == 1 else _join_parts(wires),
        wire_format=wire_format,
        origin=_origin_of(first),
        said_at=parse_time(first.fields.get("timestamp"), "`timestamp` of this event", first.line),
        line=first.line,
        source="injection" if is_compaction else "said",
        labels=tuple(part.label for part in parts),
        is_compaction=is_compaction,
        kept_labels=first.kept_labels,
        read_rest=partial(_read_rest, parts, wire_format) if len(parts) > 1 else None,
    )


def _read_rest(parts: Sequence[_Event], wire_format: WireFormat, left_out_count: int) -> TranscriptMessage:
    return _message_of(parts[left_out_count:], wire_format)


def _is_next_part(first: dict[str, JsonValue], second: dict[str, JsonValue]) -> bool:
    return (
        first.get("role") == second.get("role") == "assistant"
        and isinstance(first.get("id"), str)
        and first["id"] == second.get("id")
    )


def _join_parts(parts: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    joined: dict[str, JsonValue] = {}
    for part in parts:
        joined.update(part)
    joined["content"] = [block for part in parts for block in _content_blocks(part)]
    return joined


def _content_blocks(message: dict[str, JsonValue]) -> list[JsonValue]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _origin_of(event: _Event) -> Origin | None:
    if event.message.get("role") != "user" or any(_is_tool_result(block) for block in _content_blocks(event.message)):
        return None
    writer = _find_writer(event.fields)
    marked = [] if writer == "human" else list_marked(event.message.get("content"), _MARKS)
    if marked and None not in marked:
        return find_least(marked)
    if event.fields.get("isMeta") is True:
        return "system"
    is_by_model = event.chain or event.fields.get("isCompactSummary") is True or writer not in ("human", None)
    return "assistant" if is_by_model or _is_queued_by_program(event.fields) else None


def _find_writer(fields: dict[str, JsonValue]) -> JsonValue:
    """What kind of writer the log names, such as ``human``; None where it names none."""
    origin = _find_holder(fields).get("origin")
    return origin.get("kind") if isinstance(origin, dict) else None


def _is_queued_by_program(fields: dict[str, JsonValue]) -> bool:
    holder = _find_holder(fields)
    return holder.get("isMeta") is True or holder.get("commandMode", "prompt") != "prompt"


def _find_holder(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """What holds who wrote a message: the queued command, where it is one, else the event."""
    queued = fields.get("attachment")
    return queued if isinstance(queued, dict) else fields


def _is_tool_result(block: JsonValue) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"
