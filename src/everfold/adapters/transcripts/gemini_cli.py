"""Gemini CLI's session files: one JSON object with `messages`, or JSONL whose first line has `sessionId` and `projectHash`.

A record of the type `gemini` is an assistant message; its `toolCalls` hold the results too, which follow it. Thoughts
are left out. Records of the types `info`, `warning` and `error` are what the program told its user, and are left out. In
JSONL a later record with the same id replaces the earlier one, and `$rewindTo` removes a record and all after it. What the
program added to a prompt, such as the files that it names, is text from outside before the user's own words.

Source: Gemini CLI, `packages/core/src/services/chatRecordingTypes.ts`, the marks in `packages/core/src/utils/constants.ts`, and
its documentation on session management.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from everfold.adapters.transcripts.building import Call, ChatBuilder, Place, text_of
from everfold.adapters.transcripts.chat import read_time
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, name_of, refuse, title_of
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonObject, JsonValue

_TOLD = ("info", "warning", "error")
_REFERENCED: Final = re.compile(r"\n?--- Content from referenced files ---(?:.*--- End of content ---|.*)", re.DOTALL)
"""The content of the files that a prompt names; the last mark ends it, as a file may hold one too."""

_WORD: Final = re.compile(r"\S+")


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row says of which session and project it is."""
    value = rows[0].value
    return isinstance(value, dict) and "sessionId" in value and "projectHash" in value


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the conversation, named by its summary or its session.

    Raises:
        InvalidInputError: With ``line``, where a record is of an unknown type.
    """
    records: dict[str, tuple[JsonObject, int]] = {}
    for row in rows:
        _take(records, row)
    first = expect_object(rows[0].value, "this session", rows[0].line)
    chat = ChatBuilder()
    for record, line in records.values():
        _add(chat, record, line)
    own_name = name_of(first.get("summary"), "") or name_of(first.get("sessionId"), name)
    title = title_of(first.get("summary")) or None
    return (Conversation(name=own_name, messages=tuple(chat.messages), title=title),)


def _take(records: dict[str, tuple[JsonObject, int]], row: Row) -> None:
    """Take the records of one row up, or what it changes in them."""
    fields = expect_object(row.value, "this record", row.line)
    updates = fields.get("$set")
    if isinstance(rewound := fields.get("$rewindTo"), str):
        kept = list(records)[: list(records).index(rewound)] if rewound in records else []
        for key in [key for key in records if key not in kept]:
            del records[key]
    elif isinstance(updates, dict):
        _replace(records, updates.get("messages"), row.line)
    elif "type" in fields:
        records[name_of(fields.get("id"), f"#{row.line}")] = (fields, row.line)
    elif isinstance(fields.get("messages"), list):
        for line, value in row.elements("messages"):
            record = expect_object(value, "this record", line)
            records[name_of(record.get("id"), f"#{len(records)}")] = (record, line)


def _replace(records: dict[str, tuple[JsonObject, int]], messages: JsonValue, line: int) -> None:
    if not isinstance(messages, list):
        return
    records.clear()
    for value in messages:
        record = expect_object(value, "this record", line)
        records[name_of(record.get("id"), f"#{len(records)}")] = (record, line)


def _add(chat: ChatBuilder, record: JsonObject, line: int) -> None:
    kind = record.get("type")
    place = Place(line=line, said_at=read_time(record.get("timestamp")), label=name_of(record.get("id"), "") or None)
    text = _text_of_parts(record.get("content"))
    if kind == "user":
        _add_prompt(chat, text, _text_of_parts(record.get("displayContent")).strip(), place)
    elif kind == "gemini":
        made = record.get("toolCalls")
        calls = [expect_object(call, "a call of `toolCalls`", line) for call in made] if isinstance(made, list) else []
        if not calls:
            chat.say("assistant", text, place)
            return
        named = [
            Call(
                name=name_of(call.get("name"), "tool"),
                arguments=call.get("args") or {},
                id=name_of(call.get("id"), "") or None,
            )
            for call in calls
        ]
        chat.call(text, named, place)
        for call, one in zip(calls, named, strict=True):
            if call.get("result") is not None:
                chat.answer(_text_of_parts(call.get("result")), place, call_id=one.id, name=one.name)
    elif kind not in _TOLD:
        refuse(line, f"a record of the unknown type {kind!r}: expected user, gemini, {', '.join(_TOLD)}")


def _add_prompt(chat: ChatBuilder, text: str, typed: str, place: Place) -> None:
    """Add what the program made of a prompt: first what it added, then what was typed, by what the record says of that."""
    if typed:
        added = _cut_typed(text, typed.split())
    else:
        typed, added = _REFERENCED.sub("", text), "".join(_REFERENCED.findall(text))
    chat.say("user", added.strip(), place, origin="external")
    chat.say("user", typed.strip(), place)


def _cut_typed(text: str, words: Sequence[str]) -> str:
    """What follows in a text the words that were typed; all of it where they do not end a line, or are not its beginning."""
    begin = list(islice(_WORD.finditer(text), len(words)))
    rest = text[begin[-1].end() :] if [word.group() for word in begin] == words else text
    following = rest.lstrip()
    ends_line = "\n" in rest[: len(rest) - len(following)] or _REFERENCED.match(following) or not following
    return rest if ends_line else text


def _text_of_parts(value: JsonValue) -> str:
    """The text of a part or a list of parts; of the result of a call what the tool gave."""
    parts = value if isinstance(value, list) else [value]
    return "\n".join(text for part in parts if (text := _text_of_part(part)))


def _text_of_part(part: JsonValue) -> str:
    match part:
        case {"text": str(text)}:
            return text
        case {"functionResponse": {"response": {"output": output}}}:
            return text_of(output)
        case {"functionResponse": {"response": response}}:
            return text_of(response)
        case _:
            return text_of(part)
