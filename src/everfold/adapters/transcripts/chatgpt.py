"""ChatGPT's export: `conversations.json`, a list of conversations whose messages form a tree under `mapping`.

The path to `current_node` is the conversation; the path to each other leaf, left by an edited prompt or a new answer, is a
conversation of its own, named as a branch. What a message holds becomes OpenAI chat messages:

* `text` and `multimodal_text`: their parts; an image or a file is named by its pointer, since the export keeps it apart.
* What the assistant sends to a tool (`recipient` is not `all`) is a call; the tool's message after it is the result.
* `thoughts` and `reasoning_recap`, what the model thought, are left out, as providers take no such text back.
* `user_editable_context` holds the user's custom instructions: the system prompt of the session.
* A message that the app hides and that is empty is left out.

Source: the files that ChatGPT's "Export data" gives; OpenAI has no document on their form, so it was taken from descriptions
of it, and every kind of content that is not known is kept as its JSON text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from everfold.adapters.transcripts.building import Call, ChatBuilder, Place, text_of
from everfold.adapters.transcripts.chat import read_time
from everfold.adapters.transcripts.rows import ANY, Row
from everfold.adapters.transcripts.shape import expect_object, name_of, title_of
from everfold.adapters.transcripts.trees import list_paths, name_paths, read_each, title_paths
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonObject, JsonValue

_ROLES = ("user", "assistant", "system", "tool")
_THOUGHTS = ("thoughts", "reasoning_recap")
_CONTEXTS = ("user_editable_context", "model_editable_context")


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row has nodes under ``mapping``."""
    value = rows[0].value
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read each row as one conversation and its branches, named by its title.

    Raises:
        InvalidInputError: With ``line``, where a conversation or a node is not what the format says.
    """
    return read_each(rows, name, _read_row)


def _read_row(row: Row, name: str) -> Iterator[Conversation]:
    fields = expect_object(row.value, "this conversation", row.line)
    mapping = expect_object(fields.get("mapping"), "`mapping`", row.line_of("mapping"))
    lines = row.lines("mapping", ANY)
    nodes = {
        key: expect_object(node, f"the node {key[:40]!r}", lines.get(("mapping", key), row.line))
        for key, node in mapping.items()
    }
    parents = {key: parent if isinstance(parent := node.get("parent"), str) else None for key, node in nodes.items()}
    current = fields.get("current_node")
    paths = list_paths(parents, current if isinstance(current, str) else None, line=row.line)
    names = name_paths(name_of(fields.get("title"), name), paths)
    titles = title_paths(title_of(fields.get("title")), paths)
    for path, path_name, title in zip(paths, names, titles, strict=True):
        placed = [(nodes[key], lines.get(("mapping", key), row.line)) for key in path]
        yield replace(_read_path(placed, path_name, fields), title=title)


def _read_path(nodes: Sequence[tuple[JsonObject, int]], name: str, fields: JsonObject) -> Conversation:
    reader = _Reader(begun_at=fields.get("create_time"))
    for node, line in nodes:
        message = node.get("message")
        if isinstance(message, dict):
            reader.read(message, line)
    return Conversation(name=name, messages=tuple(reader.chat.messages), system="\n".join(reader.system) or None)


class _Reader:
    """Reads the messages of one path in their order."""

    def __init__(self, *, begun_at: JsonValue) -> None:
        self.system: list[str] = []
        self.chat = ChatBuilder()
        self._begun_at: JsonValue = begun_at

    def read(self, message: JsonObject, line: int) -> None:
        """Take one message."""
        author, content = message.get("author"), message.get("content")
        role = author.get("role") if isinstance(author, dict) else None
        if role not in _ROLES or not isinstance(content, dict):
            return
        place = Place(line=line, said_at=self._time_of(message), label=name_of(message.get("id"), "") or None)
        kind = content.get("content_type")
        if kind in _CONTEXTS:
            self.system += [
                text for key in ("user_profile", "user_instructions") if (text := text_of(content.get(key)))
            ]
        elif kind in _THOUGHTS:
            return
        elif role == "assistant":
            self._read_reply(message, content, place)
        elif role == "tool":
            name = author.get("name") if isinstance(author, dict) else None
            self.chat.answer(_read_text(content), place, name=name if isinstance(name, str) else None)
        else:
            self.chat.say(str(role), _read_text(content), place)

    def _read_reply(self, message: JsonObject, content: JsonObject, place: Place) -> None:
        recipient = message.get("recipient")
        if isinstance(recipient, str) and recipient not in ("all", ""):
            self.chat.call(None, [Call(name=recipient, arguments=_read_text(content))], place)
        else:
            self.chat.say("assistant", _read_text(content), place)

    def _time_of(self, message: JsonObject) -> datetime | None:
        said_at = read_time(message.get("create_time")) or read_time(self._begun_at)
        self._begun_at = None
        return said_at


def _read_text(content: JsonObject) -> str:
    """The text of a content of any kind."""
    match content:
        case {"parts": list(parts)}:
            return "\n".join(text for part in parts if (text := _read_part(part)))
        case {"text": str(text)}:
            return text
        case {"result": str(text)}:
            return text
        case {"content_type": "text" | "multimodal_text" | "code"}:
            return ""
        case _:
            return text_of(content)


def _read_part(part: JsonValue) -> str:
    match part:
        case {"text": str(text)}:
            return text
        case {"content_type": str(kind), "asset_pointer": str(pointer)}:
            return f"[{kind.removesuffix('_asset_pointer').replace('_', ' ')}: {pointer}]"
        case _:
            return text_of(part)
