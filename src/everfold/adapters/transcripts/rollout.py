"""Rollout logs of coding agents: JSONL whose ``response_item`` lines carry items of OpenAI's Responses form.

The items become OpenAI chat messages. An assistant text and the calls that follow it, with nothing between them, are one
message; so are calls that follow one another. Items that chat messages have no place for (``reasoning``, searches that the
provider ran, images that it made) are kept under ``response_items`` of the next assistant message, in order. Calls of custom
and shell tools become function calls whose arguments are JSON. What another agent sent is a user message of the origin
``assistant``, which keeps the item too. Lines of ``SKIPPED_TYPES`` repeat the talk for a display, or describe it. Where a
fork brings its parent's lines along, the first ``session_meta`` is its own.

Source: OpenAI, Responses API reference, input and output items; the rollout files that coding agents write.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from everfold.adapters.transcripts.openai import check_message
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_list, expect_object, expect_string, name_of, parse_time, refuse
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue, encode_json
from everfold.core.primitives.origins import Origin

SKIPPED_TYPES: Final = (
    "session_meta",
    "turn_context",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
)
"""The types of lines that carry no message."""

_ATTACHED_ITEMS: Final = (
    "reasoning",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
)
_SKIPPED_ITEMS: Final = ("ghost_snapshot", "compaction", "compaction_summary", "context_compaction")
"""Snapshots of files, and what stands for older items in the model's context, which the file holds themselves."""


@dataclass(slots=True, kw_only=True)
class _Talk:
    """The conversation while it is put together."""

    messages: list[TranscriptMessage] = field(default_factory=list)
    attached: list[JsonValue] = field(default_factory=list)
    attached_at: tuple[int, datetime | None] = (1, None)
    joins_calls: bool = False  # the last message is an assistant's and nothing came after it

    def add(
        self, wire: dict[str, JsonValue], line: int, said_at: datetime | None, *, origin: Origin | None = None
    ) -> None:
        """Add a message; what waits for an assistant message goes into this one, or before it in a message of its own."""
        if self.attached and wire["role"] == "assistant":
            wire["response_items"] = self.attached
        elif self.attached:
            self._add_attached()
        self.attached = []
        self.joins_calls = wire["role"] == "assistant"
        check_message(wire, line)
        self.messages.append(
            TranscriptMessage(wire=wire, wire_format="openai", origin=origin, said_at=said_at, line=line)
        )

    def add_call(self, call: dict[str, JsonValue], line: int, said_at: datetime | None) -> None:
        """Add a call to the assistant message that it follows, or to a new one."""
        if not self.joins_calls:
            self.add({"role": "assistant", "content": None, "tool_calls": [call]}, line, said_at)
            return
        wire = self.messages[-1].wire
        calls = wire.setdefault("tool_calls", [])
        if isinstance(calls, list):
            calls.append(call)

    def attach(self, item: JsonValue, line: int, said_at: datetime | None) -> None:
        """Keep an item for the next assistant message."""
        if not self.attached:
            self.attached_at = (line, said_at)
        self.attached.append(item)
        self.joins_calls = False

    def close(self) -> tuple[TranscriptMessage, ...]:
        """Give all messages, with what still waits in a message of its own."""
        if self.attached:
            self._add_attached()
        return tuple(self.messages)

    def _add_attached(self) -> None:
        line, said_at = self.attached_at
        wire: dict[str, JsonValue] = {"role": "assistant", "content": "", "response_items": self.attached}
        self.messages.append(TranscriptMessage(wire=wire, wire_format="openai", said_at=said_at, line=line))


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row is a line with a ``payload`` and a type, and one row has a type of this format."""
    value = rows[0].value
    if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
        return False
    kinds = (row.value.get("type") for row in rows if isinstance(row.value, dict))
    return isinstance(value.get("type"), str) and any(kind in ("response_item", *SKIPPED_TYPES) for kind in kinds)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the one conversation of the file, named by the id of its session.

    Raises:
        InvalidInputError: With ``line``, where a line or an item is of an unknown type or not valid.
    """
    talk = _Talk()
    own_name: str | None = None
    system: str | None = None
    for row in rows:
        event = expect_object(row.value, "this line", row.line)
        kind = expect_string(event.get("type"), "`type` of this line", row.line)
        payload = expect_object(event.get("payload"), f"`payload` of this {kind} line", row.line)
        if kind == "session_meta":
            own_name = own_name or name_of(payload.get("id"), "")
            system = system or _instructions(payload)
        elif kind == "response_item":
            _add_item(talk, payload, row.line, parse_time(event.get("timestamp"), "`timestamp` of this line", row.line))
        elif kind not in SKIPPED_TYPES:
            refuse(
                row.line,
                f"a line of the unknown type {kind!r}: expected response_item, {', '.join(SKIPPED_TYPES)}; "
                "if they hold no messages, remove these lines and try again",
            )
    return (Conversation(name=own_name or name, messages=talk.close(), system=system),)


def _instructions(payload: dict[str, JsonValue]) -> str | None:
    held = payload.get("base_instructions") or payload.get("instructions")
    text = held.get("text") if isinstance(held, dict) else held
    return text if isinstance(text, str) and text else None


def _add_item(talk: _Talk, item: dict[str, JsonValue], line: int, said_at: datetime | None) -> None:
    kind = expect_string(item.get("type"), "`type` of this item", line)
    if kind == "message":
        role = expect_string(item.get("role"), "`role` of this item", line)
        talk.add({"role": role, "content": _chat_content(item.get("content"), line)}, line, said_at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        talk.add_call(_chat_call(item, kind, line), line, said_at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        call_id = expect_string(item.get("call_id"), "`call_id`", line)
        output = _chat_content(item.get("output"), line)
        talk.add({"role": "tool", "tool_call_id": call_id, "content": output}, line, said_at)
    elif kind == "agent_message" and (texts := _texts_of_agent(item)):
        wire: dict[str, JsonValue] = {"role": "user", "content": texts, "response_items": [item]}
        talk.add(wire, line, said_at, origin="assistant")
    elif kind in (*_ATTACHED_ITEMS, "agent_message"):
        talk.attach(item, line, said_at)
    elif kind not in _SKIPPED_ITEMS:
        refuse(
            line,
            f"an item of the unknown type {kind!r}; where nothing was said in items of this type, take their lines out of "
            "the file and try again",
        )


def _texts_of_agent(item: dict[str, JsonValue]) -> list[JsonValue]:
    """What can be read of what another agent sent; the rest of it may be encrypted."""
    content = item.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return [{"type": "text", "text": text} for part in parts if isinstance(text := part.get("text"), str) and text]


def _chat_call(item: dict[str, JsonValue], kind: str, line: int) -> dict[str, JsonValue]:
    call_id = expect_string(item.get("call_id"), "`call_id`", line)
    name = "local_shell" if kind == "local_shell_call" else expect_string(item.get("name"), "`name`", line)
    if kind == "function_call":
        arguments = expect_string(item.get("arguments"), "`arguments`", line)
    elif kind == "custom_tool_call":
        arguments = _json_text({"input": expect_string(item.get("input"), "`input`", line)})
    else:
        arguments = _json_text(expect_object(item.get("action"), "`action`", line))
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _chat_content(content: JsonValue, line: int) -> JsonValue:
    """Give content as a string or chat parts; an output that is an object becomes its ``content``, or its JSON text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        inner = content.get("content")
        return inner if isinstance(inner, str) else _json_text(content)
    return [_chat_part(part, line) for part in expect_list(content, "the content of this item", line)]


def _chat_part(value: JsonValue, line: int) -> JsonValue:
    part = expect_object(value, "a part of this item", line)
    kind = expect_string(part.get("type"), "`type` of a part", line)
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": expect_string(part.get("text"), "`text`", line)}
    if kind == "input_image":
        return {"type": "image_url", "image_url": {"url": expect_string(part.get("image_url"), "`image_url`", line)}}
    if kind != "refusal":
        refuse(line, f"a part of the unknown type {kind!r}")
    return {"type": kind, "refusal": expect_string(part.get("refusal"), "`refusal`", line)}


def _json_text(value: JsonValue) -> str:
    return encode_json(value).decode("utf-8", "surrogatepass")
