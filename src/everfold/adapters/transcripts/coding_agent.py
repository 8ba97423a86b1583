"""Session logs of coding agents: JSONL, one event a line, with the provider's message nested under ``message``.

Which events become messages:

* ``user``, ``assistant``, ``system``, ``tool`` and ``message`` events with a nested ``message`` that has a role.
* An ``attachment`` of the type ``queued_command`` is what was sent while the agent worked. No ``user`` event repeats it, so
  it becomes a user message at its place, unless its ``source_uuid`` names an event that holds it.
* Events of ``SKIPPED_TYPES`` carry no message and are passed over; so are other attachments, and a ``system`` event without
  a message. Any other type is refused: better no import than one that silently lost a part.
* An assistant message is logged a block a line as it streams. Assistant events that follow one another in a conversation
  and have the same ``message.id`` are its parts: their blocks are joined in order, and the last part's other fields
  (``stop_reason``, ``usage``) hold.
* Side chains (``isSidechain``) are the talk of sub-agents. Each becomes a conversation of its own, told apart by
  ``agentId`` or else by the event that its ``parentUuid`` leads back to.
* Otherwise the order of the file holds, also after a rewind: what was said on an abandoned branch was said.

Whose words: a user message marked ``isMeta`` was written by the program around the agent (origin ``system``); a summary
marked ``isCompactSummary``, the task of a side chain, and what a task or another agent reported (an ``origin`` that is not
``human``, a queued command that is no prompt) were written by a model (origin ``assistant``).

Source: the session files that coding agents write; the nested message is that of the provider's API.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from everfold.adapters.transcripts import anthropic, openai, rollout
from everfold.adapters.transcripts.chat import find_provider
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, expect_string, name_of, parse_time, refuse
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue
from everfold.core.primitives.origins import Origin

MESSAGE_TYPES: Final = ("user", "assistant", "system", "tool", "message")
"""The types of events that carry a message."""

SKIPPED_TYPES: Final = (
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
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
    "worktree-state",
)
"""The types of events that carry no message of the conversation: titles, settings, snapshots, progress, the end of a run,
which repeats the last answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """One event with a message, and the chain of talk that it belongs to (empty for the main one)."""

    line: int
    fields: dict[str, JsonValue]
    message: dict[str, JsonValue]
    chain: str


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


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the main conversation and one for each side chain; a message's label is the ``uuid`` of its first event.

    Raises:
        InvalidInputError: With ``line``, where an event is of an unknown type or its message is not valid.
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
    name = next((name_of(event.fields["sessionId"], name) for event in events if event.fields.get("sessionId")), name)
    return tuple(
        Conversation(
            name=f"{name}/{chain}" if chain else name,
            messages=tuple(_message_of(parts, wire_format) for parts in runs),
        )
        for chain, runs in runs_by_chain.items()
    )


def _find_wire_format(events: Sequence[_Event]) -> WireFormat:
    # The objects that Anthropic's API answers with say of themselves that they are of the type message.
    if any(event.message.get("type") == "message" for event in events):
        return "anthropic"
    return find_provider([event.message for event in events])


def _events_with_messages(rows: Sequence[Row]) -> list[_Event]:
    events: list[_Event] = []
    chain_by_uuid: dict[str, str] = {}
    said_uuids = {str(row.value.get("uuid")) for row in rows if isinstance(row.value, dict) and "message" in row.value}
    for row in rows:
        event = expect_object(row.value, "this event", row.line)
        kind = expect_string(event.get("type"), "`type` of this event", row.line)
        chain = _chain_of(event, chain_by_uuid, row.line)
        if isinstance(event.get("uuid"), str):
            chain_by_uuid[str(event["uuid"])] = chain
        if (queued := _find_queued(event, said_uuids)) is not None:
            events.append(_Event(line=row.line, fields=event, message=queued, chain=chain))
            continue
        if kind in SKIPPED_TYPES or (kind == "system" and "message" not in event):
            continue
        if kind not in MESSAGE_TYPES:
            refuse(
                row.line,
                f"an event of the unknown type {kind!r}: expected {', '.join((*MESSAGE_TYPES, *SKIPPED_TYPES))}; "
                "if they hold no messages, remove these lines and try again",
            )
        message = expect_object(event.get("message"), f"`message` of this {kind} event", row.line)
        if kind != "message" and message.get("role") != kind:
            refuse(row.line, f"an event of the type {kind!r} holds a message of the role {message.get('role')!r}")
        events.append(_Event(line=row.line, fields=event, message=message, chain=chain))
    return events


def _find_queued(event: dict[str, JsonValue], said_uuids: set[str]) -> dict[str, JsonValue] | None:
    """The user message that was sent while the agent worked, where this event is one and no other event holds it."""
    queued = event.get("attachment") if event.get("type") == "attachment" else None
    if not isinstance(queued, dict) or queued.get("type") != "queued_command" or not queued.get("prompt"):
        return None
    return None if queued.get("source_uuid") in said_uuids else {"role": "user", "content": queued["prompt"]}


def _chain_of(event: dict[str, JsonValue], chain_by_uuid: dict[str, str], line: int) -> str:
    if event.get("isSidechain") is not True:
        return ""
    if isinstance(event.get("agentId"), str):
        return f"sidechain-{event['agentId']}"
    if "parentUuid" not in event:
        return "sidechain"
    # A side chain begins at an event whose parent is not in one; the line of its first event tells it apart.
    return chain_by_uuid.get(str(event["parentUuid"])) or f"sidechain-line-{line}"


def _message_of(parts: Sequence[_Event], wire_format: WireFormat) -> TranscriptMessage:
    check_message = anthropic.check_message if wire_format == "anthropic" else openai.check_message
    wires = [check_message(part.message, part.line) for part in parts]
    first = parts[0]
    uuid = first.fields.get("uuid")
    return TranscriptMessage(
        wire=wires[0] if len(wires) == 1 else _join_parts(wires),
        wire_format=wire_format,
        origin=_origin_of(first),
        said_at=parse_time(first.fields.get("timestamp"), "`timestamp` of this event", first.line),
        line=first.line,
        label=None if uuid is None else expect_string(uuid, "`uuid` of this event", first.line),
    )


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
    if event.fields.get("isMeta") is True:
        return "system"
    is_summary = event.fields.get("isCompactSummary") is True
    return "assistant" if event.chain or is_summary or not _is_by_a_person(event.fields) else None


def _is_by_a_person(fields: dict[str, JsonValue]) -> bool:
    """Whether nothing says that a program, a task or another agent wrote what stands in the user's place."""
    queued = fields.get("attachment")
    holder = queued if isinstance(queued, dict) else fields
    origin = holder.get("origin")
    is_human = not isinstance(origin, dict) or origin.get("kind", "human") == "human"
    return is_human and holder.get("isMeta") is not True and holder.get("commandMode", "prompt") == "prompt"


def _is_tool_result(block: JsonValue) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"
