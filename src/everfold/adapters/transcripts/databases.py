"""Conversations in SQLite databases: sessions of the OpenAI Agents SDK, and chats of Open WebUI.

Source: OpenAI Agents SDK, `SQLiteSession`: a table with `session_id` and `message_data`, one item a row; Open WebUI, the table
`chat`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from everfold.adapters.transcripts import open_webui
from everfold.adapters.transcripts.chat import read_time
from everfold.adapters.transcripts.responses_items import Item, make_item, read_items
from everfold.adapters.transcripts.rows import Row
from everfold.core.log.transcripts import Conversation, Transcript
from everfold.core.primitives.json_values import JsonValue, parse_json
from everfold.errors import InvalidInputError

MAGIC: Final = b"SQLite format 3\x00"
_JOURNAL: Final = slice(18, 20)
"""Where a database says that it has a write-ahead log, which one in memory cannot have. Source: SQLite, "Database File Format"."""


def read_database(source: Path | bytes, name: str) -> Transcript:
    """Read a database whole. It is only read; a path is read with its write-ahead log.

    Raises:
        InvalidInputError: It is no database, or has none of the tables.
    """
    try:
        connection = _open(source)
        try:
            return _read(connection, name)
        finally:
            connection.close()
    except apsw.Error as error:
        raise InvalidInputError(f"this SQLite database cannot be read: {error}") from error


def _open(source: Path | bytes) -> apsw.Connection:
    if isinstance(source, Path):
        return apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
    data = bytearray(source)
    data[_JOURNAL] = b"\x01\x01"
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", bytes(data))
    return connection


def _read(connection: apsw.Connection, name: str) -> Transcript:
    tables = {table: _list_columns(connection, table) for table in _list_tables(connection)}
    for table, columns in tables.items():
        if {"session_id", "message_data"} <= columns:
            has_time, order = "created_at" in columns, "id" if "id" in columns else "rowid"
            found = tuple(_read_sessions(connection, table, order=order, has_time=has_time))
            return _require_messages("openai-agents", found)
    if {"id", "title", "chat"} <= tables.get("chat", set()):
        rows = [
            _make_row({"title": title, "chat": _parse(text, number)}, number)
            for number, (title, text) in enumerate(connection.execute("SELECT title, chat FROM chat ORDER BY rowid"), 1)
        ]
        return _require_messages("open-webui", open_webui.read(rows, name))
    raise InvalidInputError(
        f"this SQLite database has the tables {', '.join(sorted(tables)) or 'none'}; supported are those of the "
        "OpenAI Agents SDK (`agent_messages`) and of Open WebUI (`chat`)"
    )


def _list_tables(connection: apsw.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [str(name) for (name,) in found]


def _list_columns(connection: apsw.Connection, table: str) -> set[str]:
    return {str(name) for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _read_sessions(connection: apsw.Connection, table: str, *, order: str, has_time: bool) -> Iterator[Conversation]:
    """One conversation for each session, in the order of their first items."""
    quoted = '"' + table.replace('"', '""') + '"'
    time = "created_at" if has_time else "NULL"
    query = f"SELECT session_id, message_data, {time} FROM {quoted} ORDER BY {order}"  # noqa: S608 - a name of its own
    items_by_session: dict[str, list[Item]] = {}
    for number, (session, text, said_at) in enumerate(connection.execute(query), 1):
        item = make_item(_parse(text, number), number, None if said_at is None else read_time(str(said_at)))
        items_by_session.setdefault(str(session), []).append(item)
    for session, items in items_by_session.items():
        yield Conversation(name=session, messages=read_items(items))


def _parse(text: object, number: int) -> JsonValue:
    return parse_json(text if isinstance(text, str) else str(text), first_line=number)


def _make_row(value: JsonValue, number: int) -> Row:
    return Row(value=value, line=number, text="", start_chars=0, end_chars=0)


def _require_messages(format_name: str, conversations: tuple[Conversation, ...]) -> Transcript:
    if not any(conversation.messages for conversation in conversations):
        raise InvalidInputError("it contains no message")
    return Transcript(format=format_name, conversations=conversations)
