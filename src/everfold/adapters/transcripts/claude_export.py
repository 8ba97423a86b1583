"""Claude's export: conversations with `chat_messages`, each with a `sender` and content blocks.

An assistant's message there holds calls of tools and their results one behind the other; it becomes Anthropic messages,
split where a result answers a call. Thoughts without a signature, which providers do not take back, are kept apart. What a user attached is text from outside, before the user's own words. Blocks that are no
content of a request are kept under `other_blocks` of the message, which is not sent. Messages that name a `parent_message_uuid` form a tree;
its branches are conversations of their own.

Source: the files that Claude's "Export data" gives: `conversations.json`, a list of conversations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from everfold.adapters.transcripts.anthropic import check_message
from everfold.adapters.transcripts.building import Place, place_message, text_of
from everfold.adapters.transcripts.chat import read_time
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, expect_string, name_of, refuse, title_of
from everfold.adapters.transcripts.trees import list_paths, name_paths, read_each, title_paths
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.primitives.origins import Origin

_SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row has a list under ``chat_messages``."""
    value = rows[0].value
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read each row as one conversation and its branches, named by its name.

    Raises:
        InvalidInputError: With ``line``, where a message is not what the format says.
    """
    return read_each(rows, name, _read_row)


def _read_row(row: Row, name: str) -> Iterator[Conversation]:
    fields = expect_object(row.value, "this conversation", row.line)
    placed = [(expect_object(value, "this message", line), line) for line, value in row.elements("chat_messages")]
    by_id = {name_of(message.get("uuid"), f"#{at}"): (message, line) for at, (message, line) in enumerate(placed)}
    name = name_of(fields.get("name"), name)
    if any(isinstance(message.get("parent_message_uuid"), str) for message, _ in placed):
        current = fields.get("current_leaf_message_uuid")
        parents = {
            key: parent if isinstance(parent := message.get("parent_message_uuid"), str) else None
            for key, (message, _) in by_id.items()
        }
        paths = list_paths(parents, current if isinstance(current, str) else None, line=row.line)
    else:
        paths = [list(by_id)] if by_id else []
    titles = title_paths(title_of(fields.get("name")), paths)
    for path, path_name, title in zip(paths, name_paths(name, paths), titles, strict=True):
        reader = _Reader()
        for key in path:
            reader.read(*by_id[key])
        yield Conversation(name=path_name, messages=tuple(reader.messages), title=title)


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads the messages of one path in their order."""

    messages: list[TranscriptMessage] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _made_count: int = 0

    def read(self, message: JsonObject, line: int) -> None:
        """Take one message."""
        sender = expect_string(message.get("sender"), "`sender`", line)
        if sender not in _SENDERS:
            refuse(line, f"`sender` is {sender!r}, expected one of {', '.join(_SENDERS)}")
        role = _SENDERS[sender]
        place = Place(
            line=line, said_at=read_time(message.get("created_at")), label=name_of(message.get("uuid"), "") or None
        )
        for text in _list_attachments(message):
            self._add("user", [{"type": "text", "text": text}], place, origin="external")
        blocks = message.get("content")
        if isinstance(blocks, list) and blocks:
            self._split(role, [block for block in blocks if isinstance(block, dict)], place)
        elif text := text_of(message.get("text")):
            self._add(role, [{"type": "text", "text": text}], place)

    def _split(self, role: str, blocks: Sequence[JsonObject], place: Place) -> None:
        run: list[JsonValue] = []
        others: list[JsonValue] = []
        self._open = []
        for block in blocks:
            kind = block.get("type")
            if kind == "tool_result":
                self._add(role, run, place, others=others)
                run, others = [], []
                paired = self._pair(block)
                self._add("user", [paired], place, origin="external" if paired["type"] == "text" else None)
            elif kind == "tool_use":
                run.append(self._name(block))
            elif kind == "text" and block.get("text"):
                run.append({"type": "text", "text": block["text"]})
            elif kind == "thinking" and block.get("signature"):
                run.append(_keep(block, ("type", "thinking", "signature")))
            else:
                others.append(block)
        self._add(role, run, place, others=others)

    def _name(self, block: JsonObject) -> JsonObject:
        """A call with an id."""
        self._made_count += 1
        call_id = name_of(block.get("id"), f"call_{self._made_count}")
        self._open.append(call_id)
        arguments = block.get("input")
        return {
            "type": "tool_use",
            "id": call_id,
            "name": name_of(block.get("name"), "tool"),
            "input": arguments if isinstance(arguments, dict) else {"input": arguments},
        }

    def _pair(self, block: JsonObject) -> JsonObject:
        """A result with the id of its call; one that answers no open call is text from outside."""
        asked = block.get("tool_use_id")
        call_id = asked if asked in self._open else next(iter(self._open), None) if asked is None else None
        text = "\n".join(_list_texts(block.get("content")))
        if not isinstance(call_id, str):
            return {"type": "text", "text": f"[a result of a tool]\n{text}"}
        self._open.remove(call_id)
        return {"type": "tool_result", "tool_use_id": call_id, "content": text}

    def _add(
        self,
        role: str,
        blocks: list[JsonValue],
        place: Place,
        *,
        origin: Origin | None = None,
        others: Sequence[JsonValue] = (),
    ) -> None:
        if not blocks and not others:
            return
        wire: dict[str, JsonValue] = {"role": role, "content": blocks or [{"type": "text", "text": "(no text)"}]}
        if others:
            wire["other_blocks"] = list(others)
        self.messages.append(place_message(check_message(wire, place.line), "anthropic", place, origin=origin))


def _keep(block: JsonObject, keys: Sequence[str]) -> JsonObject:
    return {key: block[key] for key in keys if block.get(key) is not None}


def _list_attachments(message: Mapping[str, JsonValue]) -> Iterator[str]:
    """The text of what was attached; of other files the name is all that the export has."""
    for key in ("attachments", "files"):
        held = message.get(key)
        for one in held if isinstance(held, list) else []:
            if isinstance(one, dict) and (text := text_of(one.get("extracted_content")) or one.get("file_name")):
                yield (
                    f"[attached: {name_of(one.get('file_name'), 'a file')}]\n{text}"
                    if text != one.get("file_name")
                    else f"[attached: {text}]"
                )


def _list_texts(content: JsonValue) -> list[str]:
    blocks = content if isinstance(content, list) else [content]
    texts = [
        text_of(block.get("text")) if isinstance(block, dict) and "text" in block else text_of(block)
        for block in blocks
    ]
    return [text for text in texts if text]
