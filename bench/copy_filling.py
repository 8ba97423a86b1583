"""A PostgreSQL store filled by COPY: the rows that the engine wrote of a few users, again for many others.

The engine appends a few conversations message by message. Their rows are read back as COPY writes them, what is of the user,
the session or the message becomes a place holder, and each further user gets the same rows with keys and ids of their own.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from bench.opening import batched
from bench.recall import Babble
from everfold.engine import Everfold

EACH_COUNT = 100
"""Messages in the session of each user."""

FIRST_USER_KEY = 1_000_000
FIRST_SESSION_KEY = 10_000_000
FIRST_MESSAGE_ID = 100_000_000
"""Where the keys of what is filled begin: far above those of what the engine wrote before."""

FILLED = ("users", "sessions", "session_states", "messages", "message_words")
"""The tables that an append writes, in the order of their references; a trigger writes `session_owners`."""

OWN: Mapping[str, Mapping[str, bytes]] = {
    "users": {"key": b"%(user)d", "id": b"%(user_id)b"},
    "sessions": {"key": b"%(session)d", "id": b"%(session_id)b"},
    "messages": {"id": b"%(message)d"},
}
SHARED: Mapping[str, bytes] = {
    "user_key": b"%(user)d",
    "session_key": b"%(session)d",
    "message_id": b"%(message)d",
}
"""What stands in a column that a key or an id of the filled user belongs into: by table, and in every table."""

TOOK_AWAY = "message_words_words"
"""The index that is made again after the rows: to grow it row by row takes several times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """The rows of one user in every table, with place holders."""

    rows: Mapping[str, Sequence[bytes]]


async def write_patterns(engine: Everfold, url: str, babble: Babble, count: int) -> list[Pattern]:
    """Append so many conversations message by message, a user each, and read their rows back."""
    session_ids: list[str] = []
    for _ in range(count):
        session = await engine.session(user=str(uuid.uuid4()))
        for turn in babble.talk(EACH_COUNT):
            await session.append({"role": turn.role, "content": turn.text}, said_at=turn.said_at)
        session_ids.append(session.id)
    with psycopg.connect(url) as connection:
        return [_read_pattern(connection, session_id) for session_id in session_ids]


def _read_pattern(connection: psycopg.Connection, session_id: str) -> Pattern:
    [(user_key, session_key)] = connection.execute(
        "SELECT user_key, key FROM sessions WHERE id = %s", (session_id,)
    ).fetchall()
    put = _Holders(user_key=user_key, session_key=session_key, session_id=session_id.encode())
    return Pattern(rows={table: list(_read_rows(connection, table, put)) for table in FILLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holders:
    """Puts place holders where keys and ids of one user are."""

    user_key: int
    session_key: int
    session_id: bytes

    def put(self, table: str, column: str, value: bytes) -> bytes:
        """A column's value with its place holders."""
        holder = OWN.get(table, {}).get(column) or SHARED.get(column)
        if holder is not None:
            return holder
        whole = value.replace(b"%", b"%%").replace(self.session_id, b"%(session_id)b")
        if table != "message_words":
            return whole
        # Each word has the key of its user in front, and those of the scope the key of the session at the end.
        whole = re.sub(rb"(?<![^ '])%d_" % self.user_key, b"%(user)d_", whole)
        return whole.replace(b"_s%d'" % self.session_key, b"_s%(session)d'")


def _list_columns(connection: psycopg.Connection, table: str) -> list[str]:
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = CAST(%s AS REGCLASS) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (table,),
    )
    return [name for (name,) in found]


def _read_rows(connection: psycopg.Connection, table: str, holders: _Holders) -> Iterator[bytes]:
    """The lines of COPY, oldest first, with place holders."""
    columns = _list_columns(connection, table)
    order = {"messages": "seq", "message_words": "message_id"}.get(table, "1")
    text = sql.SQL("COPY (SELECT {} FROM {} WHERE {} = {} ORDER BY {}) TO STDOUT").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.Identifier(table),
        sql.Identifier("key" if table == "users" else "user_key"),
        holders.user_key,
        sql.SQL(order),
    )
    with connection.cursor().copy(text) as lines:
        whole = b"".join(bytes(part) for part in lines)
    for line in whole.splitlines():
        values = zip(columns, line.split(b"\t"), strict=True)
        yield b"\t".join(holders.put(table, column, value) for column, value in values) + b"\n"


def fill(url: str, patterns: Sequence[Pattern], users_count: int) -> None:
    """So many users, each with the rows of one of the patterns in turn; in one transaction a table."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        made = connection.execute("SELECT pg_get_indexdef(CAST(%s AS REGCLASS))", (TOOK_AWAY,)).fetchall()[0][0]
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(TOOK_AWAY)))
        for table in FILLED:
            _copy_table(connection, table, patterns, users_count)
        connection.execute(made)
        _go_on_behind(connection)
        connection.execute(
            "UPDATE activity_days SET messages_count = messages_count + %s WHERE day = (SELECT max(day) FROM activity_days)",
            (users_count * EACH_COUNT,),
        )
        connection.execute("VACUUM ANALYZE")


def _copy_table(connection: psycopg.Connection, table: str, patterns: Sequence[Pattern], users_count: int) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, _list_columns(connection, table)))
    text = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    with connection.cursor().copy(text) as into:
        for numbers in batched(range(users_count), 50):
            into.write(
                b"".join(_write_lines(patterns[number % len(patterns)].rows[table], number) for number in numbers)
            )


def _write_lines(rows: Sequence[bytes], number: int) -> bytes:
    """The rows of one user, with keys and ids that are of no other."""
    values: dict[bytes, object] = {
        b"user": FIRST_USER_KEY + number,
        b"user_id": str(name_user(number)).encode(),
        b"session": FIRST_SESSION_KEY + number,
        b"session_id": name_session(number).encode(),
    }
    first_id = FIRST_MESSAGE_ID + number * EACH_COUNT
    return b"".join(row % {**values, b"message": first_id + at} for at, row in enumerate(rows))


def name_user(number: int) -> str:
    """The id of a filled user."""
    return str(uuid.UUID(int=1_000_000 + number))


def name_session(number: int) -> str:
    """The id of a filled user's session."""
    return f"ses_filled{number:08d}"


def _go_on_behind(connection: psycopg.Connection) -> None:
    """What the engine writes from now on gets keys behind those that were filled."""
    for table, column in (("users", "key"), ("sessions", "key"), ("messages", "id")):
        connection.execute(
            sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), max({})) FROM {}").format(
                table, column, sql.Identifier(column), sql.Identifier(table)
            )
        )
