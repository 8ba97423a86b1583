"""Connections to PostgreSQL: opening and checking a database, migrations, transactions, and the translation of errors.

A transaction is READ COMMITTED; whatever must not interleave with another write of the same user begins with
`Database.lock_user`.

Source: PostgreSQL's documentation of transaction isolation, advisory locks and error codes; psycopg's of adaptation.
"""

import json
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias, cast

import psycopg
from psycopg import errors
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8Dumper

from everfold.adapters.postgres.words import PostgresWords
from everfold.adapters.sql.database import Bound, OwnerKeys, Row, SqlValue
from everfold.adapters.sql.faults import DAMAGED, UNFIT, damaged_row, unfit_among, unfit_row, unfit_value
from everfold.adapters.sql.places import Places
from everfold.adapters.sql.queries import load_queries
from everfold.errors import (
    ConflictError,
    CorruptStoreError,
    EverfoldError,
    InvalidInputError,
    StoreError,
    StoreUnavailableError,
)

STATEMENT_TIMEOUT_MS = 30_000
"""How long one statement may take. Source: own choice; what a read may take in SQLite."""

LOCK_TIMEOUT_MS = 5_000
"""How long a write waits for another one. Source: docs/adr/0002; as long as a person waits before they ask."""

OPTIONS = f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS} -c timezone=UTC"

_UNFIT = (*UNFIT, errors.DataError, errors.ProgramLimitExceeded)
"""What the driver and the server raise for a value that does not fit; the last of them for one that is too long for an index."""

_COMMENT = re.compile(r"^\s*--.*$\n?", re.MULTILINE)
_NAMED = re.compile(r"(?<![:\w]):(\w+)")

Connection: TypeAlias = psycopg.Connection[TupleRow]


@cache
def prepare_queries() -> dict[str, str]:
    """The named queries in the form that the driver takes."""
    return {name: _write_placeholders(text) for name, text in load_queries("postgres").items()}


def _write_placeholders(text: str) -> str:
    plain = _COMMENT.sub("", text).replace("%", "%%").replace("?", "%s")
    return _NAMED.sub(r"%(\1)s", plain)


class Database:
    """One connection with its named queries. Not for two threads at once."""

    loses_answers = True

    def __init__(self, connection: Connection, path: str) -> None:
        self.path = path
        self.connection = connection
        self.opened_at = time.monotonic()
        self.queries = prepare_queries()
        self.words = PostgresWords(self)
        self.places = Places(self)
        self.keys = OwnerKeys()
        self.commit: int | None = None
        self.server_life: int | None = None
        self.proof: tuple[Bound, ...] | None = None
        self._transaction_id: int | None = None
        self._locked: set[int] = set()
        self._last: tuple[Bound, ...] = ()
        connection.adapters.register_dumper(int, Int8Dumper)

    @property
    def is_lost(self) -> bool:
        """Whether the way to the server is gone."""
        return self.connection.closed

    def rows(self, name: str, **values: SqlValue) -> list[Row]:
        """All rows of a named query."""
        return self._execute(name, values, is_binary=True).fetchall()

    def row(self, name: str, **values: SqlValue) -> Row | None:
        """The first row of a named query, or None."""
        return next(iter(self.rows(name, **values)), None)

    def rows_each(self, name: str, bindings: Sequence[Mapping[str, SqlValue]]) -> list[list[Row]]:
        """All rows of a named query for each of several bindings, in their order: one way to the server and back."""
        return self.rows_all([(name, values) for values in bindings])

    def rows_all(self, asked: Sequence[Bound]) -> list[list[Row]]:
        """All rows of each of several named queries, in their order: one way to the server and back."""
        return [cursor.fetchall() for cursor in self._send(asked, is_binary=True)]

    def _send(self, asked: Sequence[Bound], *, is_binary: bool) -> list[psycopg.Cursor[TupleRow]]:
        """Execute several named queries before the answer of the first is read."""
        if not asked:
            return []
        try:
            with self.connection.pipeline():
                return [self.connection.execute(self.queries[name], values, binary=is_binary) for name, values in asked]
        except _UNFIT as error:  # may come with a later query than the one whose answer it is
            raise unfit_among(asked, error) from error

    def _execute(self, name: str, values: Mapping[str, SqlValue], *, is_binary: bool) -> psycopg.Cursor[TupleRow]:
        try:
            return self.connection.execute(self.queries[name], values, binary=is_binary)
        except _UNFIT as error:
            raise unfit_value(name, values, error) from error

    def run(self, name: str, **values: SqlValue) -> int:
        """Execute a named query and give the number of rows that it changed."""
        return self._execute(name, values, is_binary=False).rowcount

    def run_all(self, asked: Sequence[Bound]) -> list[int]:
        """Execute several named queries in order, and give of each the number of rows that it changed: one way there and back."""
        return [cursor.rowcount for cursor in self._send(asked, is_binary=False)]

    def run_each(self, name: str, rows: Sequence[Row | Mapping[str, SqlValue]]) -> None:
        """Execute a named query once for each row of bindings, in order."""
        if rows:
            with self._filling(name, rows) as cursor:
                cursor.executemany(self.queries[name], rows)

    def insert(self, name: str, **values: SqlValue) -> int:
        """Execute a named query that inserts one row, and give its key; 0 where the query inserts none."""
        row = self.row(name, **values)
        return 0 if row is None else cast("int", row[0])

    def claim(self, name: str, **values: SqlValue) -> bool:
        """See the protocol. The query gives the transaction's id, so that it is not asked for before the commit."""
        row = self.row(name, **values)
        if row is not None:
            self._transaction_id = cast("int", row[0])
        return row is not None

    @contextmanager
    def _filling(self, name: str, rows: Sequence[Row | Mapping[str, SqlValue]]) -> Iterator[psycopg.Cursor[TupleRow]]:
        try:
            with self.connection.cursor() as cursor:
                yield cursor
        except _UNFIT as error:
            raise unfit_row(name, rows, error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: commits at the end, rolls back on any error.

        From before the commit is sent until it is answered `commit` holds the transaction's id, by which another
        connection learns how it ended. None where the transaction wrote nothing.
        """
        self._locked.clear()
        self._transaction_id, self.commit, self.proof, self._last = None, None, None, ()
        try:
            with self.connection.transaction():
                yield
                self.run_all(self._last)
                self.commit = self._transaction_id or self._find_transaction()
        except BaseException:
            self.keys.forget()
            raise
        self.commit = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Every read within it sees the database at one moment."""
        self.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    def list_columns(self) -> list[tuple[str, str, int]]:
        """Every column as table, name, and place in the primary key (from 1; 0 for none)."""
        return cast("list[tuple[str, str, int]]", self.rows("list_columns"))

    def query(self, text: str, values: Row = ()) -> list[Row]:
        """All rows of a statement that has no name, with `?` for each value."""
        cursor = self.connection.execute(_write_placeholders(text), values)
        return cursor.fetchall() if cursor.description else []

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows with their keys; what is inserted without one later gets a key that no row has.

        SQLite keeps bytes and text in any column, so that rows of it may have the other one of the two.
        """
        types = dict(cast("list[tuple[str, str]]", self.rows("list_types", table=table)))
        holders = ", ".join(["%s"] * len(columns))
        try:
            fitting = [
                tuple(_fit(value, types[column]) for value, column in zip(row, columns, strict=True)) for row in rows
            ]
            with self.connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({holders})", fitting)  # noqa: S608 - of our schema
        except _UNFIT as error:
            raise unfit_row(table, [dict(zip(columns, row, strict=True)) for row in rows], error) from error
        if table == "erased_sessions":
            self.rows("skip_erased_keys")
        for (column,) in cast("list[tuple[str]]", self.rows("list_made_keys", table=table)):
            last = f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column})) FROM {table}"  # noqa: S608 - as above
            self.query(last)

    def lock_user(self, user_key: int) -> None:
        """Wait until no other transaction that has locked this user is open; held until this one ends."""
        if user_key not in self._locked:
            [(transaction_id, _)] = cast("list[tuple[int, None]]", self.rows("lock_user", user_key=user_key))
            self._transaction_id = transaction_id
            self._locked.add(user_key)

    def _find_transaction(self) -> int | None:
        """The id of the open transaction; None where it has written nothing."""
        [(transaction_id,)] = cast("list[tuple[int | None]]", self.rows("find_transaction"))
        return transaction_id

    def read_server_life(self) -> int | None:
        """When the server's statistics began, in microseconds since 1970; None where it does not say.

        A server that recovers from a crash begins them anew, and one that takes its place has its own.
        """
        [(began,)] = cast("list[tuple[int | None]]", self.rows("read_server_life"))
        return began

    def read_transaction_status(self, transaction_id: int, server_life: int | None) -> str | None:
        """How a transaction ended: "committed", "aborted" or "in progress"; None where the server does not know.

        After a crash the server gives ids again whose transactions it had not written to its log: that the later one was
        committed says nothing of the earlier one.

        Args:
            transaction_id: The transaction's.
            server_life: What `read_server_life` gave on the connection that it ran on.
        """
        query = self.queries["read_transaction_status"]
        try:
            [(status,)] = self.connection.execute(query, {"transaction_id": transaction_id}).fetchall()
        except errors.InvalidParameterValue:  # no transaction has had this id since the crash
            return "aborted"
        is_another_life = server_life is None or server_life != self.server_life
        return None if status == "committed" and is_another_life else cast("str | None", status)

    def prove_by(self, *queries: Bound) -> None:
        """See the protocol."""
        self.proof = self.proof or queries

    def run_last(self, *asked: Bound) -> None:
        """See the protocol."""
        self._last = asked

    def mark_erased(self) -> None:
        """Nothing: which of the server's files hold what was erased is the server's to say."""


def _fit(value: SqlValue, column_type: str) -> SqlValue:
    if column_type == "bytea" and isinstance(value, str):
        return value.encode()
    if column_type == "text" and isinstance(value, bytes):
        return value.decode()
    return value


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Within it, what the driver raises becomes our errors, with the cause."""
    try:
        yield
    except psycopg.Error as error:
        raise _translate(path, error) from error
    except (UnicodeDecodeError, json.JSONDecodeError, zlib.error) as error:
        raise damaged_row(path, error) from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Within it, whatever decoding a stored row raises becomes our error."""
    try:
        with translated(path):
            yield
    except (*DAMAGED, InvalidInputError) as error:
        if isinstance(error, EverfoldError) and "query" in error.ids:
            raise
        raise damaged_row(path, error) from error


def _translate(path: str, error: psycopg.Error) -> EverfoldError:
    match error:
        case errors.IntegrityError():
            return ConflictError(f"{path}: another writer was first ({_told(error)}); read the state again", path=path)
        case errors.QueryCanceled():
            return StoreUnavailableError(f"{path}: a statement took too long and was ended; ask for less", path=path)
        case errors.LockNotAvailable():
            text = f"{path}: a lock that another transaction holds was not free within {LOCK_TIMEOUT_MS} ms; try again"
            return StoreUnavailableError(text, path=path)
        case errors.DeadlockDetected() | errors.SerializationFailure():
            text = f"{path}: the server ended a transaction for the sake of another one; try again"
            return StoreUnavailableError(text, path=path)
        case errors.DiskFull():
            return StoreUnavailableError(f"the disk of {path} is full; nothing was written: free some space", path=path)
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            text = (
                f"{path} cannot be written ({_told(error)}); grant the role the privileges that the documentation lists"
            )
            return StoreUnavailableError(text, path=path)
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return CorruptStoreError(f"{path} is damaged ({_told(error)}); restore it from a backup", path=path)
        case errors.DataError() | errors.ProgramLimitExceeded():
            return InvalidInputError(f"{path}: a value does not fit ({_told(error)})", path=path)
        case psycopg.OperationalError():
            return StoreUnavailableError(
                f"{path} cannot be reached ({_told(error)}); is the server running?", path=path
            )
        case _:
            return StoreError(f"{path}: {_told(error)}", path=path)


def _told(error: psycopg.Error) -> str:
    return str(error).partition("\n")[0]
