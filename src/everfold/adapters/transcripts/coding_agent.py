"""Session logs of coding agents: JSONL, one event a line, with the provider's message nested under ``message``.

Which events become messages:

* ``user``, ``assistant``, ``system``, ``tool`` and ``message`` events with a nested ``message`` that has a role.
* Events of ``SKIPPED_TYPES`` carry no message and are passed over; so is a ``system`` event without one. Any other type is
  refused: better no import than one that lost a part nobody knew of.
* An assistant message is logged a block a line as it streams. Assistant events that follow one another in a conversation
  and have the same ``message.id`` are its parts: their blocks are joined in order, and the last part's other fields
  (``stop_reason``, ``usage``) hold.
* Side chains (``isSidechain``) are the talk of sub-agents. Each becomes a conversation of its own, told apart by
  ``agentId`` or else by the event that its ``parentUuid`` leads back to.
* Otherwise the order of the file holds, also after a rewind: what was said on an abandoned branch was said.

Whose words: a user message marked ``isMeta`` was written by the program around the agent (origin ``system``); a summary
marked ``isCompactSummary`` and the task of a side chain were written by the model (origin ``assistant``).

Source: the session files that coding agents write; the nested message is that of the provider's API.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from everfold.adapters.transcripts import anthropic, openai, rollout
from everfold.adapters.transcripts.chat import find_provider
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, expect_string, name_of, parse_time, refuse
from everfold.core.json_values import JsonValue
from everfold.core.messages import WireFormat
from everfold.core.origins import Origin
from everfold.core.transcripts import Conversation, TranscriptMessage

MESSAGE_TYPES: Final = ("user", "assistant", "system", "tool", "message")
"""The types of events that carry a message."""

SKIPPED_TYPES: Final = (
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attachment",
    "attribution-snapshot",
    "content-replacement",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
)
"""The types of events that carry no message of the conversation: titles, settings, snapshots, progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """One event with a message, and the chain of talk that it belongs to (empty for the main one)."""

    line: int
    fields: dict[str, JsonValue]
    message: dict[str, JsonValue]
    chain: str


def matches(rows: Sequence[Row]) -> bool:
    """Whether a row is an event with a nested message or an item of a rollout, and those before it are skipped types."""
    if rollout.matches(rows):
        return True
    for row in rows:
        if not isinstance(row.value, dict) or "role" in row.value or not isinstance(row.value.get("type"), str):
            return False
        if isinstance(row.value.get("message"), dict):
            return True
        if row.value["type"] not in (*SKIPPED_TYPES, "system"):
            return False
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


def _events_with_messages(rows: Iterable[Row]) -> list[_Event]:
    events: list[_Event] = []
    chain_by_uuid: dict[str, str] = {}
    for row in rows:
        event = expect_object(row.value, "this event", row.line)
        kind = expect_string(event.get("type"), "`type` of this event", row.line)
        chain = _chain_of(event, chain_by_uuid, row.line)
        if isinstance(event.get("uuid"), str):
            chain_by_uuid[str(event["uuid"])] = chain
        if kind in SKIPPED_TYPES or (kind == "system" and "message" not in event):
            continue
        if kind not in MESSAGE_TYPES:
            refuse(
                row.line,
                f"an event of the unknown type {kind!r}: expected {', '.join((*MESSAGE_TYPES, *SKIPPED_TYPES))}",
            )
        message = expect_object(event.get("message"), f"`message` of this {kind} event", row.line)
        if kind != "message" and message.get("role") != kind:
            refuse(row.line, f"an event of the type {kind!r} holds a message of the role {message.get('role')!r}")
        events.append(_Event(line=row.line, fields=event, message=message, chain=chain))
    return events


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
    return "assistant" if event.chain or event.fields.get("isCompactSummary") is True else None


def _is_tool_result(block: JsonValue) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"
