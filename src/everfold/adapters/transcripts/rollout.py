"""Rollout logs of coding agents: JSONL whose ``response_item`` lines carry items of OpenAI's Responses form.

The items become OpenAI chat messages. An assistant text and the calls that follow it, with nothing between them, are one
message; so are calls that follow one another. Items that chat messages have no place for (``reasoning``, searches that the
provider ran, images that it made) are kept under ``response_items`` of the next assistant message, in order. Calls of custom
and shell tools become function calls whose arguments are JSON. What another agent sent is a user message of the origin
``assistant``, which keeps the item too. Lines of ``SKIPPED_TYPES`` repeat the talk for a display, or describe it; lines and
items of types that are not known are passed over and counted. A ``compacted`` line becomes an injection: the summary that
stands for what the client took out of its window. A user message that the harness wrote is of the origin ``system``, what a
command printed there ``external``, what another agent reported ``assistant``. Where a fork brings its parent's lines along,
the first ``session_meta`` is its own.

Source: OpenAI, Responses API reference, input and output items; the rollout files that coding agents write.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from everfold.adapters.transcripts.handed import cut_handed
from everfold.adapters.transcripts.marks import find_least, list_marked
from everfold.adapters.transcripts.openai import check_message
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import (
    expect_list,
    expect_object,
    expect_string,
    label_line,
    name_of,
    parse_time,
    refuse,
    title_of,
)
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue, encode_json
from everfold.core.primitives.origins import Origin

SKIPPED_TYPES: Final = (
    "session_meta",
    "turn_context",
    "event_msg",
    "token_usage_record",
    "world_state",
    "inter_agent_communication_metadata",
)
"""The types of lines that carry no message."""

CLIENT: Final = "codex"
"""How conversations of this format are named among those of other clients."""

_ATTACHED_ITEMS: Final = (
    "reasoning",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
)
_SKIPPED_ITEMS: Final = ("ghost_snapshot", "compaction", "compaction_summary", "context_compaction")
"""Snapshots of files, and what stands for older items in the model's context, which the file holds themselves."""
_CALL_ITEMS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUT_ITEMS: Final = ("function_call_output", "custom_tool_call_output")
_ITEMS: Final = ("message", "agent_message", *_CALL_ITEMS, *_OUTPUT_ITEMS, *_ATTACHED_ITEMS, *_SKIPPED_ITEMS)

_REPLY_ENDS: Final = ("token_usage_record", "token_count", "task_complete", "turn_aborted")
"""The lines and events that follow a whole reply."""
_MARKS: Final[Mapping[str, Origin]] = {
    "# agents.md instructions for ": "system",
    "# agents.md instructions\n\n<instructions>": "system",
    "<codex_internal_context": "system",
    "<environment_context>": "system",
    "<external_": "external",
    "<goal_context>": "system",
    "<hook_prompt": "system",
    "<recommended_plugins>": "system",
    "<skill>": "system",
    "<subagent_notification>": "assistant",
    "<turn_aborted>": "system",
    "<user_instructions>": "system",
    "<user_shell_command>": "external",
}
"""How user messages begin that the harness wrote, and whose words they hold. Newer releases also say in the line's metadata
whether it wrote them. Source: Codex, the fragments of contextual user messages in `codex-rs/core/src/context`."""
_COMPACTED: Final = "The client has compacted its context."
"""The summary of a compaction that keeps its own hidden."""


@dataclass(slots=True, kw_only=True)
class _Talk:
    """The conversation while it is put together."""

    messages: list[TranscriptMessage] = field(default_factory=list)
    attached: list[JsonValue] = field(default_factory=list)
    attached_at: tuple[int, datetime | None] = (1, None)
    rows: list[list[Row]] = field(default_factory=list)  # of each message
    waiting: list[Row] = field(default_factory=list)  # that wait for a message
    joins_calls: bool = False  # the last message is an assistant's and nothing came after it

    def add(
        self,
        wire: dict[str, JsonValue],
        line: int,
        said_at: datetime | None,
        *,
        origin: Origin | None = None,
        is_compaction: bool = False,
    ) -> None:
        """Add a message; what waits for an assistant message goes into this one, or before it in a message of its own."""
        if self.attached and wire["role"] == "assistant":
            wire["response_items"] = self.attached
        elif self.attached:
            own, self.waiting = self.waiting[-1:], self.waiting[:-1]
            self._add_attached()
            self.waiting = own
        self.attached = []
        self.joins_calls = wire["role"] == "assistant"
        check_message(wire, line)
        self._place(
            TranscriptMessage(
                wire=wire,
                wire_format="openai",
                origin=origin,
                source="injection" if is_compaction else "said",
                said_at=said_at,
                line=line,
                is_compaction=is_compaction,
            )
        )

    def _place(self, message: TranscriptMessage) -> None:
        self.messages.append(message)
        self.rows.append(self.waiting)
        self.waiting = []

    def add_call(self, call: dict[str, JsonValue], line: int, said_at: datetime | None) -> None:
        """Add a call to the assistant message that it follows, or to a new one."""
        if not self.joins_calls:
            self.add({"role": "assistant", "content": None, "tool_calls": [call]}, line, said_at)
            return
        wire = self.messages[-1].wire
        calls = wire.setdefault("tool_calls", [])
        if isinstance(calls, list):
            calls.append(call)
        self.rows[-1] += self.waiting
        self.waiting = []

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
        return tuple(_label(message, rows) for message, rows in zip(self.messages, self.rows, strict=True))

    def _add_attached(self) -> None:
        line, said_at = self.attached_at
        wire: dict[str, JsonValue] = {"role": "assistant", "content": "", "response_items": self.attached}
        self._place(TranscriptMessage(wire=wire, wire_format="openai", said_at=said_at, line=line))


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
    title = ""
    for row in rows:
        event = expect_object(row.value, "this line", row.line)
        kind = expect_string(event.get("type"), "`type` of this line", row.line)
        payload = expect_object(event.get("payload"), f"`payload` of this {kind} line", row.line)
        if kind == "session_meta":
            own_name = own_name or name_of(payload.get("id"), "")
            system = system or _instructions(payload)
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            title = title_of(payload.get("thread_name")) or title
        elif kind in ("response_item", "compacted"):
            said_at = parse_time(event.get("timestamp"), "`timestamp` of this line", row.line)
            talk.waiting.append(row)
            if kind == "compacted":
                _add_compaction(talk, payload, row.line, said_at)
            elif not _add_item(talk, payload, row.line, said_at):
                talk.waiting.pop()
    key = f"{CLIENT}:{own_name}" if own_name else None
    return (Conversation(name=own_name or name, messages=talk.close(), system=system, key=key, title=title or None),)


def _label(message: TranscriptMessage, rows: Sequence[Row]) -> TranscriptMessage:
    """A message with the ids of its lines, and with what it is without the first ones of several."""
    rest = partial(_read_rest, [replace(row, text="") for row in rows]) if len(rows) > 1 else None
    return replace(message, labels=tuple(map(label_row, rows)), read_rest=rest)


def _read_rest(rows: Sequence[Row], left_out_count: int) -> TranscriptMessage:
    (conversation,) = read(rows[left_out_count:], "")
    return conversation.messages[0]


def label_row(row: Row) -> str:
    """The id of a line: its place in the file and the id of its item, or a hash of it."""
    event = row.value if isinstance(row.value, dict) else {}
    payload = event.get("payload")
    return label_line(row.text, event.get("ordinal"), payload.get("id") if isinstance(payload, dict) else None)


def find_unknown(row: Row) -> str | None:
    """The type of a line, or of its item, that is not known, and is passed over."""
    event = row.value if isinstance(row.value, dict) else {}
    kind, payload = event.get("type"), event.get("payload")
    if kind == "response_item" and isinstance(payload, dict):
        return str(payload.get("type")) if payload.get("type") not in _ITEMS else None
    return str(kind) if kind not in ("response_item", "compacted", *SKIPPED_TYPES) else None


def ends_reply(row: Row) -> bool:
    """Whether a line says that the reply of a model before it is whole."""
    event = row.value if isinstance(row.value, dict) else {}
    payload = event.get("payload")
    kind = payload.get("type") if event.get("type") == "event_msg" and isinstance(payload, dict) else event.get("type")
    return kind in _REPLY_ENDS


def _add_compaction(talk: _Talk, payload: dict[str, JsonValue], line: int, said_at: datetime | None) -> None:
    text = payload.get("message")
    wire: dict[str, JsonValue] = {"role": "user", "content": text if isinstance(text, str) and text else _COMPACTED}
    talk.add(wire, line, said_at, origin="assistant", is_compaction=True)


def _instructions(payload: dict[str, JsonValue]) -> str | None:
    held = payload.get("base_instructions") or payload.get("instructions")
    text = held.get("text") if isinstance(held, dict) else held
    return text if isinstance(text, str) and text else None


def _add_item(talk: _Talk, item: dict[str, JsonValue], line: int, said_at: datetime | None) -> bool:
    """Add an item to the talk; whether it is part of it."""
    kind = expect_string(item.get("type"), "`type` of this item", line)
    if kind == "message":
        role = expect_string(item.get("role"), "`role` of this item", line)
        said = cut_handed({"role": role, "content": _chat_content(item.get("content"), line)})
        if said is None:
            return False
        talk.add(said, line, said_at, origin=_origin_of(item) if role == "user" else None)
    elif kind in _CALL_ITEMS:
        talk.add_call(_chat_call(item, kind, line), line, said_at)
    elif kind in _OUTPUT_ITEMS:
        call_id = expect_string(item.get("call_id"), "`call_id`", line)
        output = _chat_content(item.get("output"), line)
        talk.add({"role": "tool", "tool_call_id": call_id, "content": output}, line, said_at)
    elif kind == "agent_message" and (texts := _texts_of_agent(item)):
        wire: dict[str, JsonValue] = {"role": "user", "content": texts, "response_items": [item]}
        talk.add(wire, line, said_at, origin="assistant")
    elif kind in (*_ATTACHED_ITEMS, "agent_message"):
        talk.attach(item, line, said_at)
    else:
        return False
    return True


def _origin_of(item: dict[str, JsonValue]) -> Origin | None:
    """Whose words a message in the user's role is, where the program around the agent wrote it.

    The metadata decides where it names the writer of each part. Without it the first text decides for those after it.
    """
    content = item.get("content")
    writers = _list_writers(item)
    is_by_harness = bool(writers) and all(writer == "harness" for writer in writers)
    marked = list_marked(content, _MARKS)
    if is_by_harness:
        return find_least(marked) or "system"
    is_decided = len(writers) == (len(content) if isinstance(content, list) else 1)
    return None if is_decided or marked[:1] == [None] else find_least(marked)


def _list_writers(item: dict[str, JsonValue]) -> list[JsonValue]:
    """Who wrote each part of a message, as its metadata says; empty where it does not."""
    metadata = item.get("internal_chat_message_metadata_passthrough")
    parts = metadata.get("content_item_metadata") if isinstance(metadata, dict) else None
    return [_find_provenance(part) for part in parts] if isinstance(parts, list) else []


def _find_provenance(part: JsonValue) -> JsonValue:
    provenance = part.get("provenance") if isinstance(part, dict) else None
    return provenance.get("type") if isinstance(provenance, dict) else None


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
