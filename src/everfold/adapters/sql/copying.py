"""Copying: all rows of one store into another one, whichever databases the two are.

The tables have the same columns in every dialect, so a row is copied as it is, by pages in the order of the source's primary
key. The indexes of words differ; they are made anew in the target, from the messages and items there. Where a copy stands is in
the target itself: the last key of each table, and one row in the table `store_copy`, which goes when the copy is whole.

Leases are not copied: who holds one works on the other store. Vectors are copied where both databases keep them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from everfold.adapters.sql.codec import told_to_text
from everfold.adapters.sql.database import Database, Row, SqlValue
from everfold.adapters.sql.log import read_messages
from everfold.adapters.sql.matching import key_words, write_item_scope, write_scope
from everfold.adapters.sql.packing import unpack_row
from everfold.adapters.sql.places import Place, Places
from everfold.core.access.users import fold_name
from everfold.core.log.appending import NOT_INDEXED, index_message, remember_said
from everfold.core.log.messages import Message
from everfold.core.memory.items import index_item
from everfold.core.memory.rows import audit_from_bytes, item_from_bytes
from everfold.core.primitives.ids import SessionId
from everfold.core.text.searching import SearchText
from everfold.errors import ConflictError, CorruptStoreError

PAGE_COUNT: Final = 500
"""Rows of one transaction. Source: own choice; some milliseconds, and little to do again after a kill."""
SAID_REACH: Final = 24
"""How far before a page the messages lie that were said before its first one; farther away none is looked for."""

COPY_TABLE: Final = "store_copy"
NOT_COPIED: Final = frozenset(
    {COPY_TABLE, "migrations", "leases", "message_words", "item_words", "session_owners", "told"}
)
TOLD_BY_REVISIONS: Final = frozenset(
    "messages digests client_messages client_tails items item_revisions item_evidence topics topic_revisions memory_audit memory_files"
    " model_calls turn_recalls extractions vectors vector_spaces known_requests".split()
)
"""Tables of which a change shows in the number of their rows or in the revisions of their session or user; the others can be
changed without either, and are read whole to see it."""
MADE: Final[Mapping[tuple[str, str], Callable[[Mapping[str, SqlValue]], SqlValue]]] = {
    ("users", "folded"): lambda row: fold_name(cast("str", row["name"])),
    ("memory_audit", "action"): lambda row: audit_from_bytes(unpack_row(cast("bytes", row["content"]))).action,
}
"""Columns that only some databases have, for what others find without them: how each is made of the rest of its row."""
TOLD: Final[Mapping[str, str]] = {"compactions": "problem", "model_calls": "answered_by"}
"""Columns of what other programs said, by their tables: a file may hold NUL there from before it was replaced at each write."""
_FIRST: Final = ("users", "agents", "sessions", "messages", "items", "dreams", "topics", "vector_spaces")
"""What other tables refer to, in an order in which nothing refers to what is not there yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table.

    Attributes:
        columns: In an order that is the same in every database.
        key: The columns of the primary key, in their order.
        made: Columns of the target alone, which are made of the others.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    made: tuple[str, ...] = ()

    def write(self, text: str) -> str:
        """A statement about this table: `{name}`, `{columns}`, `{key}`, a `?` for each of its columns, and it reversed."""
        return text.format(
            name=self.name,
            columns=", ".join(self.columns),
            key=", ".join(self.key),
            holders=", ".join("?" * len(self.key)),
            last_first=", ".join(f"{column} DESC" for column in self.key),
        )


def list_tables(database: Database) -> list[Table]:
    """The tables that are copied, so that none comes before one that it refers to."""
    columns: dict[str, list[tuple[str, int]]] = {}
    for table, column, place in database.list_columns():
        if table not in NOT_COPIED:
            columns.setdefault(table, []).append((column, place))
    places = {name: at for at, name in enumerate(_FIRST)}
    order = sorted(columns, key=lambda name: (places.get(name, len(_FIRST)), name))
    return [_make_table(name, columns[name]) for name in order]


def _make_table(name: str, columns: Sequence[tuple[str, int]]) -> Table:
    return Table(
        name=name,
        columns=tuple(sorted(column for column, _ in columns)),
        key=tuple(column for _, column in sorted((place, column) for column, place in columns if place)),
    )


def match_tables(source: Sequence[Table], target: Sequence[Table]) -> list[Table]:
    """The tables that are copied, each with the columns that both have, and those that are made for the target.

    A table that only one of them has is of another program, or of what only one database keeps.

    Raises:
        CorruptStoreError: a table lacks a column that it has in the other store.
    """
    new = {table.name: table for table in target}
    both = [(table, new[table.name]) for table in source if table.name in new]
    differing = {
        old.name
        for old, other in both
        for column in set(old.columns) ^ set(other.columns)
        if (old.name, column) not in MADE
    }
    if differing:
        raise CorruptStoreError(
            f"the table {min(differing)} is not the same in both stores; open each with this release of Everfold first"
        )
    return [
        replace(
            old,
            columns=tuple(column for column in old.columns if column in other.columns),
            made=tuple(column for column in other.columns if column not in old.columns),
        )
        for old, other in both
    ]


def take_fingerprint(database: Database, tables: Sequence[Table]) -> str:
    """The rows of each table, and the sums of all revisions."""
    counts = [(table.name, database.query(table.write("SELECT count(*) FROM {name}"))[0][0]) for table in tables]
    totals = [("revisions", total) for total in database.row("sum_revisions") or ()]
    return "; ".join(f"{name} {int(str(number))}" for name, number in (*counts, *totals))


def is_copy_begun(database: Database) -> bool:
    """Whether a store is the target of a copy that is not whole."""
    return any(name == COPY_TABLE for name, *_ in database.list_columns())


def begin_copy(database: Database, tables: Sequence[Table], fingerprint: str) -> int:
    """See that a target may be copied into; gives the key of the last session whose words it has.

    Raises:
        ConflictError: there is something in it that is not of a copy of this source.
    """
    if is_copy_begun(database):
        begun, indexed_key = cast("tuple[str, int]", database.row("read_copy"))
        if begun != fingerprint:
            raise ConflictError(
                "the source was written since this copy began; copy it into a new database, with no writer at work"
            )
        return indexed_key
    for table in tables:
        if database.query(table.write("SELECT 1 FROM {name} LIMIT 1")):
            raise ConflictError(f"the target is not empty: its table {table.name} has rows; name a new database")
    database.run("make_copy_table")
    database.run("insert_copy", fingerprint=fingerprint)
    return 0


def find_last_key(database: Database, table: Table) -> Row | None:
    """The key of a table's last row, or None."""
    return next(iter(database.query(table.write("SELECT {key} FROM {name} ORDER BY {last_first} LIMIT 1"))), None)


def read_page(database: Database, table: Table, after: Row | None) -> list[Row]:
    """The next rows of a table behind a key, all columns in their order."""
    if after is None:
        return database.query(table.write("SELECT {columns} FROM {name} ORDER BY {key} LIMIT ?"), (PAGE_COUNT,))
    text = "SELECT {columns} FROM {name} WHERE ({key}) > ({holders}) ORDER BY {key} LIMIT ?"
    return database.query(table.write(text), (*after, PAGE_COUNT))


def write_page(database: Database, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows as they were read, with what is made of them."""
    makers = [MADE[table.name, column] for column in table.made]
    fitting = [_fit_told(table, row) for row in rows] if table.name in TOLD else rows
    whole = [(*row, *(make(dict(zip(table.columns, row, strict=True))) for make in makers)) for row in fitting]
    database.insert_rows(table.name, (*table.columns, *table.made), whole)


def _fit_told(table: Table, row: Row) -> Row:
    at = table.columns.index(TOLD[table.name])
    return (*row[:at], told_to_text(cast("str", row[at])), *row[at + 1 :])


def get_key(table: Table, row: Row) -> Row:
    """The primary key of a row of `read_page`."""
    return tuple(row[table.columns.index(column)] for column in table.key)


def list_sessions(database: Database, after_key: int) -> list[tuple[int, str]]:
    """The next sessions behind a key: key and id."""
    return cast(
        "list[tuple[int, str]]", database.rows("list_session_keys", after_key=after_key, limit_count=PAGE_COUNT)
    )


def index_messages(database: Database, places: Places, session_id: SessionId, first_seq: int) -> int | None:
    """Write the words of the next messages that a session holds itself; gives where to go on, or None at its end."""
    place = places.place(session_id)
    rows = database.rows("list_message_ids", **place.keys, first_seq=first_seq, limit_count=PAGE_COUNT)
    ids = dict(cast("list[tuple[int, int]]", rows))
    if not ids:
        return None
    first, last = min(ids), max(ids)
    seqs = range(max(1, first - SAID_REACH), last + 1)
    for message, text in _list_words(read_messages(database, places, session_id, seqs, retracted=True)):
        if message.seq in ids:
            _write_words(database, place, ids[message.seq], text)
    return last + 1


def _list_words(messages: Sequence[Message]) -> Iterator[tuple[Message, SearchText]]:
    """The messages with what the index holds of each."""
    said: tuple[str, ...] = ()
    for message in messages:
        if message.is_erased:
            continue
        if message.is_retracted:
            yield message, NOT_INDEXED
            continue
        yield message, index_message(message, said_before=said)
        said = remember_said(message, said)


def _write_words(database: Database, place: Place, message_id: int, text: SearchText) -> None:
    database.run(
        "replace_search_row",
        message_id=message_id,
        own=key_words(place.user_key, text.own),
        before=key_words(place.user_key, text.before),
        scope=write_scope(place.user_key, agent_key=place.agent_key, session_key=place.session_key),
    )


def note_indexed(database: Database, session_key: int) -> None:
    """Remember that every session up to this one has its words."""
    database.run("note_indexed", session_key=session_key)


def index_items(database: Database, after: tuple[int, int]) -> tuple[int, int] | None:
    """Write the words of the next active items behind the keys of a user and an item; gives the last ones, or None at the end."""
    after_user_key, after_key = after
    rows = database.rows(
        "list_active_items", after_user_key=after_user_key, after_key=after_key, limit_count=PAGE_COUNT
    )
    for key, user_key, place, content in cast("list[tuple[int, int, int, bytes]]", rows):
        words = key_words(user_key, index_item(item_from_bytes(unpack_row(content))))
        database.run("delete_item_words", user_key=user_key, item_key=key)
        database.run("insert_item_words", item_key=key, own=words, scope=write_item_scope(user_key, place=place))
    return cast("tuple[int, int]", (rows[-1][1], rows[-1][0])) if rows else None


def end_copy(database: Database, tables: Sequence[Table], fingerprint: str) -> None:
    """See that all has arrived, and let the target be a store like any other.

    Raises:
        ConflictError: something is missing.
    """
    arrived = take_fingerprint(database, tables)
    if arrived != fingerprint:
        raise ConflictError(
            f"the copy is incomplete: it has {arrived}, expected {fingerprint}; copy into a new database"
        )
    database.run("drop_copy_table")
