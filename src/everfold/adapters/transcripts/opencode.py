"""Conversations of opencode: what `opencode export` prints, or a message of it a line.

A message has its `info` and its `parts`; the parts of an assistant's message hold its calls and their results too. They
become OpenAI chat messages: the reply, then a message for each result. Reasoning is kept under `reasoning_content`. Parts
that describe the work (steps, snapshots, patches) are passed over. An export ends before its last reply where opencode may
still be writing it: what becomes of it is for a later import. Lines hold whole messages.

Whose words: a text that the program wrote is marked `synthetic`; a user message of such texts alone is of the origin
`system`. The message with the mark `summary` stands for what opencode's compaction took out of its window: an injection.

Source: opencode, its SDK's types `Message` and `Part`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from everfold.adapters.transcripts.chat import find_time
from everfold.adapters.transcripts.handed import cut_handed
from everfold.adapters.transcripts.openai import check_message
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_list, expect_object, expect_string, name_of, title_of
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json, list_objects, read_object
from everfold.core.primitives.origins import Origin

CLIENT: Final = "opencode"
"""How conversations of this format are named among those of other clients."""
UNFINISHED: Final = "(unfinished)"
"""Under what messages are counted that opencode may still be writing."""
_SEEN: Final = ("data:", "http://", "https://")
"""How the addresses of pictures begin that can be looked at from anywhere."""


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row is a message with its parts, or an export of such messages."""
    value = rows[0].value
    messages = value.get("messages") if isinstance(value, dict) else None
    first = messages[0] if isinstance(messages, list) and messages else value
    return isinstance(first, dict) and isinstance(first.get("info"), dict) and isinstance(first.get("parts"), list)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the one conversation of the file.

    Raises:
        InvalidInputError: With ``line``, where a message or a part of it is not valid.
    """
    own, messages = "", list[TranscriptMessage]()
    for line, value in _list_messages(rows):
        message = expect_object(value, "this message", line)
        info = expect_object(message.get("info"), "`info` of this message", line)
        own = own or name_of(info.get("sessionID"), "")
        messages += _read_message(info, expect_list(message.get("parts"), "`parts` of this message", line), line)
    key = f"{CLIENT}:{own}" if own else None
    return (Conversation(name=own or name, messages=tuple(messages), key=key, title=_find_title(rows)),)


def _find_title(rows: Sequence[Row]) -> str | None:
    """What an export says of the session before its messages."""
    infos = [row.value.get("info") for row in rows if isinstance(row.value, dict) and "messages" in row.value]
    return title_of(*(info.get("title") for info in infos if isinstance(info, dict))) or None


def label_row(row: Row) -> str:
    """The id of a message."""
    info = row.value.get("info") if isinstance(row.value, dict) else None
    return name_of(info.get("id") if isinstance(info, dict) else None, "")


def find_unknown(row: Row) -> str | None:
    """The type of a line that holds no message."""
    return None if isinstance(row.value, dict) and "info" in row.value else "(no message)"


def count_unfinished(rows: Sequence[Row]) -> Mapping[str, int]:
    """How many messages are left out, since opencode may still be writing them."""
    listed = [list_objects(row.value.get("messages")) for row in rows if isinstance(row.value, dict)]
    return Counter({UNFINISHED: count} if (count := sum(map(_count_unfinished, listed))) else {})


def _count_unfinished(messages: Sequence[JsonObject]) -> int:
    """How many messages there are from the last reply on, where opencode may still be writing that one."""
    roles = [read_object(message.get("info")).get("role") for message in messages]
    after = list(reversed(roles)).index("assistant") if "assistant" in roles else len(roles)
    is_whole = after == len(roles) or _is_finished(messages[-1 - after], is_followed=after > 0)
    return 0 if is_whole else after + 1


def _is_finished(reply: JsonObject, *, is_followed: bool) -> bool:
    """Whether a reply is completed or failed, or broke off before what the user said after it."""
    info = read_object(reply.get("info"))
    is_over = bool(read_object(info.get("time")).get("completed") or info.get("error"))
    return is_over or (is_followed and not any(map(_is_running, list_objects(reply.get("parts")))))


def _is_running(part: JsonObject) -> bool:
    """Whether a call has no result yet, or a text no end."""
    time = read_object(part.get("time"))
    is_open = "start" in time and "end" not in time
    return is_open or read_object(part.get("state")).get("status") in {"pending", "running"}


def _list_messages(rows: Sequence[Row]) -> Iterator[tuple[int, JsonValue]]:
    for row in rows:
        if isinstance(row.value, dict) and "messages" in row.value:
            listed = list(row.elements("messages"))
            yield from listed[: len(listed) - _count_unfinished([read_object(value) for _, value in listed])]
        else:
            yield row.line, row.value


def _read_message(info: JsonObject, parts: Sequence[JsonValue], line: int) -> Iterator[TranscriptMessage]:
    """The messages of the log that a message stands for."""
    id_ = expect_string(info.get("id"), "`id` of this message", line)
    objects = [expect_object(part, "a part of this message", line) for part in parts]
    said_at = find_time({"timestamp": time.get("created")} if isinstance(time := info.get("time"), dict) else None)
    role = expect_string(info.get("role"), "`role` of this message", line)
    is_compaction = role == "assistant" and info.get("summary") is True
    origin: Origin | None = "assistant" if is_compaction else None
    if role == "user":
        content, origin = _read_user(objects)
        wires: list[JsonObject] = [{"role": "user", "content": content}] if content else []
    elif is_compaction:
        wires = [{"role": "user", "content": text}] if (text := _join(objects, "text")) else []
    else:
        wires = list(_read_reply(objects, line))
    for wire in wires:
        call_id = wire.get("tool_call_id")
        yield TranscriptMessage(
            wire=check_message(wire, line),
            wire_format="openai",
            origin=origin,
            source="injection" if is_compaction else "said",
            said_at=said_at,
            line=line,
            labels=(f"{id_}/{call_id}" if call_id else id_,),
            is_compaction=is_compaction,
        )


def _read_user(parts: Sequence[JsonObject]) -> tuple[list[JsonValue], Origin | None]:
    """What the user said, and whose words it is; what the program added is left out beside words of the user's own."""
    own = [part for part in parts if part.get("synthetic") is not True]
    said: list[JsonValue] = [one for part in own if (one := _read_part(part)) is not None]
    if said:
        return said, None
    added: list[JsonValue] = [one for part in parts if (one := _read_part(part)) is not None]
    return added, "system"


def _read_part(part: JsonObject) -> JsonValue:
    text, url = part.get("text"), part.get("url")
    if part.get("type") == "text" and isinstance(text, str) and text:
        said = cut_handed({"role": "user", "content": text})
        return None if said is None else {"type": "text", "text": said["content"]}
    if part.get("type") != "file" or not isinstance(url, str):
        return None
    if str(part.get("mime")).startswith("image/") and url.startswith(_SEEN):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": f"[file: {part.get('filename') or url}]"}


def _read_reply(parts: Sequence[JsonObject], line: int) -> Iterator[JsonObject]:
    """A reply and the results of its calls; nothing where it broke off before it said anything."""
    tools = [part for part in parts if part.get("type") == "tool"]
    text, reasoning = _join(parts, "text"), _join(parts, "reasoning")
    reply: JsonObject = {"role": "assistant", "content": text or None}
    if tools:
        reply["tool_calls"] = [_read_call(part, line) for part in tools]
    if reasoning:
        reply["reasoning_content"] = reasoning
    if text or tools:
        yield reply
    for part in tools:
        state = expect_object(part.get("state"), "`state` of this tool", line)
        result = state.get("output", state.get("error"))
        if isinstance(result, str):
            yield {"role": "tool", "tool_call_id": part.get("callID"), "content": result}


def _read_call(part: JsonObject, line: int) -> JsonValue:
    state = expect_object(part.get("state"), "`state` of this tool", line)
    arguments = encode_json(state.get("input") or {}).decode("utf-8", "surrogatepass")
    name = expect_string(part.get("tool"), "`tool`", line)
    call_id = expect_string(part.get("callID"), "`callID`", line)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _join(parts: Sequence[JsonObject], kind: str) -> str:
    texts = [text for part in parts if part.get("type") == kind and isinstance(text := part.get("text"), str)]
    return "\n".join(filter(None, texts))
