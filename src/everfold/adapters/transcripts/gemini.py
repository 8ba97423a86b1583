"""Gemini: `contents` of the Gemini API, and the activity that Google Takeout gives of Gemini Apps.

Contents become OpenAI chat messages: text parts, calls (`functionCall`) and their results (`functionResponse`); other parts as
text. Takeout keeps no conversations: each of its entries is one prompt with its answer, all in one list, the newest first. They
become one conversation, the oldest first.

Source: Gemini API reference, `Content` and `Part`; the file `MyActivity.json` of Google Takeout.
"""

import re
from collections.abc import Sequence
from html import unescape

from everfold.adapters.transcripts.building import Call, ChatBuilder, Place, text_of
from everfold.adapters.transcripts.chat import find_time, find_tools, read_time
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, name_of, number_names, refuse
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonObject, JsonValue

_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user", "system": "system"}
_OUTSIDE = ("function", "tool")
"""The roles whose text comes from outside."""
_PROMPTED = "Prompted "
_TAG = re.compile(r"<[^>]*>")
_BLOCK_END = re.compile(r"</(?:p|li|h[1-6]|pre|div|tr)>|<br\s*/?>", re.IGNORECASE)


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row is a content, or holds some, or is an entry of Takeout's activity of Gemini."""
    value = rows[0].value
    if isinstance(value, list):
        return bool(value) and _is_content(value[0])
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("contents"), list) or _is_content(value) or _is_activity(value)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read contents, or the activity of Takeout.

    Raises:
        InvalidInputError: With ``line``, where a content is not what the format says.
    """
    if _is_activity(rows[0].value):
        return (_read_activity(rows, name),)
    if _is_content(rows[0].value):
        return (_read_contents([(row.value, row.line) for row in rows], name),)
    names = number_names(name, len(rows))
    return tuple(_read_held(row, own) for row, own in zip(rows, names, strict=True))


def _is_content(value: JsonValue) -> bool:
    return isinstance(value, dict) and isinstance(value.get("parts"), list) and value.get("role", "user") in [*_ROLES]


def _is_activity(value: JsonValue) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("title"), str) or "time" not in value:
        return False
    products = value.get("products")
    return "Gemini" in f"{value.get('header')} {products if isinstance(products, list) else ''}"


def _read_held(row: Row, name: str) -> Conversation:
    if isinstance(row.value, list):
        return _read_contents([(value, line) for line, value in row.elements()], name)
    holder = expect_object(row.value, "this row", row.line)
    held = holder.get("systemInstruction", holder.get("system_instruction"))
    parts = held.get("parts") if isinstance(held, dict) else None
    system = "\n".join(_text_of_part(part) for part in parts) if isinstance(parts, list) else text_of(held)
    contents = [(value, line) for line, value in row.elements("contents")]
    return _read_contents(contents, name, system=system or None, tools=find_tools(holder, row))


def _read_contents(
    contents: Sequence[tuple[JsonValue, int]],
    name: str,
    *,
    system: str | None = None,
    tools: tuple[JsonValue, ...] | None = None,
) -> Conversation:
    chat = ChatBuilder()
    for value, line in contents:
        content = expect_object(value, "this content", line)
        role = content.get("role", "user")
        if not isinstance(role, str) or role not in _ROLES:
            refuse(line, f"the role {role!r} is not one of a Gemini content: expected {', '.join(_ROLES)}")
        parts = content.get("parts")
        place = Place(line=line, said_at=find_time(content))
        _add_parts(chat, role, parts if isinstance(parts, list) else [], place)
    return Conversation(name=name, messages=tuple(chat.messages), tools=tools, system=system)


def _add_parts(chat: ChatBuilder, role: str, parts: Sequence[JsonValue], place: Place) -> None:
    """Add the message that parts are: results first, then text with calls."""
    texts: list[str] = []
    calls: list[Call] = []
    for part in parts:
        match part:
            case {"functionCall": dict(call)} | {"function_call": dict(call)}:
                calls.append(
                    Call(name=name_of(call.get("name"), "tool"), arguments=call.get("args") or {}, id=_id_of(call))
                )
            case {"functionResponse": dict(result)} | {"function_response": dict(result)}:
                found = name_of(result.get("name"), "") or None
                chat.answer(text_of(result.get("response")), place, call_id=_id_of(result), name=found)
            case _:
                texts.append(_text_of_part(part))
    text = "\n".join(text for text in texts if text)
    if calls:
        chat.call(text, calls, place)
    else:
        chat.say(_ROLES[role], text, place, origin="external" if role in _OUTSIDE else None)


def _id_of(fields: JsonObject) -> str | None:
    return name_of(fields.get("id"), "") or None


def _text_of_part(part: JsonValue) -> str:
    match part:
        case str(text) | {"text": str(text)}:
            return text
        case {"inlineData": {"mimeType": str(kind)}} | {"inline_data": {"mime_type": str(kind)}}:
            return f"[{kind}]"
        case _:
            return text_of(part)


def _read_activity(rows: Sequence[Row], name: str) -> Conversation:
    chat = ChatBuilder()
    for row in reversed(rows):
        entry = expect_object(row.value, "this entry", row.line)
        title = entry.get("title")
        if not isinstance(title, str) or not title.startswith(_PROMPTED):
            continue  # what was done with an app, and no prompt
        place = Place(line=row.line, said_at=read_time(entry.get("time")))
        chat.say("user", title.removeprefix(_PROMPTED), place)
        items = entry.get("safeHtmlItem")
        texts = (
            [_strip_html(text_of(item.get("html"))) for item in items or [] if isinstance(item, dict)]
            if isinstance(items, list)
            else []
        )
        chat.say("assistant", "\n".join(texts), place)
    return Conversation(name=name, messages=tuple(chat.messages))


def _strip_html(html: str) -> str:
    """The text of an answer; its markup is the app's."""
    return unescape(_TAG.sub("", _BLOCK_END.sub("\n", html))).strip()
