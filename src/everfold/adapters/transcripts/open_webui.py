"""Open WebUI's export: a list of chats whose messages form a tree under `chat.history.messages`, in OpenAI's chat form.

The path to `currentId` is the conversation, that to each other leaf a branch of it. Fields that are no part of a
request (`model`, `usage`) are left out. The older form, with `history` or a list of `messages` and no `chat` around it, is read too.

Source: Open WebUI's documentation, "Import & Export", chat import JSON schema.
"""

from collections.abc import Iterator, Sequence

from everfold.adapters.transcripts.chat import read_time
from everfold.adapters.transcripts.openai import check_message
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, name_of, title_of
from everfold.adapters.transcripts.trees import list_paths, name_paths, read_each, title_paths
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject, JsonValue

_KEPT = ("role", "content", "name", "tool_calls", "tool_call_id")


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row has a tree of messages, or a chat that holds messages."""
    value = rows[0].value
    if not isinstance(value, dict):
        return False
    chat = value.get("chat")
    if isinstance(chat, dict):
        return _find_tree(chat) is not None or isinstance(chat.get("messages"), list)
    return _find_tree(value) is not None


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read each row as one chat and its branches, named by its title.

    Raises:
        InvalidInputError: With ``line``, where a message is not what the format says.
    """
    return read_each(rows, name, _read_row)


def _read_row(row: Row, name: str) -> Iterator[Conversation]:
    fields = expect_object(row.value, "this chat", row.line)
    held = fields.get("chat", fields)
    chat = expect_object(held, "`chat`", row.line_of("chat"))
    name = name_of(chat.get("title") or fields.get("title"), name)
    title = title_of(chat.get("title"), fields.get("title"))
    history = chat.get("history")
    tree = _find_tree(chat)
    if tree is None or not isinstance(history, dict):
        listed = chat.get("messages")
        messages = [expect_object(one, "this message", row.line) for one in listed] if isinstance(listed, list) else []
        read_messages = tuple(_read_message(one, row.line) for one in messages)
        yield Conversation(name=name, messages=read_messages, title=title or None)
        return
    nodes = {key: expect_object(one, f"the message {key[:40]!r}", row.line) for key, one in tree.items()}
    parents = {key: parent if isinstance(parent := one.get("parentId"), str) else None for key, one in nodes.items()}
    current = history.get("currentId")
    paths = list_paths(parents, current if isinstance(current, str) else None, line=row.line)
    for path, path_name, own in zip(paths, name_paths(name, paths), title_paths(title, paths), strict=True):
        messages_of_path = tuple(_read_message(nodes[key], row.line) for key in path)
        yield Conversation(name=path_name, messages=messages_of_path, title=own)


def _find_tree(chat: JsonObject) -> JsonObject | None:
    history = chat.get("history")
    tree = history.get("messages") if isinstance(history, dict) else None
    return tree if isinstance(tree, dict) else None


def _read_message(message: JsonObject, line: int) -> TranscriptMessage:
    wire: dict[str, JsonValue] = {key: value for key, value in message.items() if key in _KEPT}
    wire["content"] = message.get("content") or ""
    return TranscriptMessage(
        wire=check_message(wire, line),
        wire_format="openai",
        said_at=read_time(message.get("timestamp")),
        line=line,
        labels=(id_,) if (id_ := name_of(message.get("id"), "")) else (),
    )
