"""Connections: opening and checking a file, migrations, transactions, and the one place that translates driver errors.

A database is opened in WAL mode with full synchronisation: a call that has returned survives a power cut. Several
processes may use one file; writers wait for each other up to `BUSY_TIMEOUT_MS`.

What is deleted is overwritten with zeros, so that an erase holds in the file too.

A database can be in memory instead: one connection has it, and it is gone when that is closed.

Source: SQLite's documentation of WAL, `PRAGMA synchronous`, `secure_delete`, `application_id` and result codes.
"""

import hashlib
import json
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from time import monotonic
from typing import cast

import apsw

from everfold.adapters.sql.codec import to_micros
from everfold.adapters.sql.database import Bound, OwnerKeys, Row, SqlValue
from everfold.adapters.sql.faults import DAMAGED, UNFIT, damaged_row, unfit_row, unfit_value
from everfold.adapters.sql.packed_messages import sql_pack_message
from everfold.adapters.sql.packing import sql_deflate, sql_pack_row, sql_unpack_row
from everfold.adapters.sql.queries import load_migrations, load_queries
from everfold.adapters.sql.quoted_lines import sql_quote_lines
from everfold.adapters.sqlite.words import SqliteWords
from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.private_files import ensure_private
from everfold.core.access.users import fold_name
from everfold.errors import (
    ConflictError,
    CorruptStoreError,
    InvalidInputError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from everfold.ports.system import Clock

IN_MEMORY = "memory://"
"""The path of a database that is in no file: a new one for each connection."""

BUSY_TIMEOUT_MS = 5000
"""Source: docs/adr/0002; as long as a person waits before they ask."""

CHECKPOINT_TIMEOUT_MS = 1000
"""How long an erase waits for readers to let go of older pages, before it is reported as pending. Source: own choice."""

READ_SECS = 30.0
"""How long a read may take, which sees the database as it was when it began: as long as it does, the log only grows.

Source: own choice; half of what HTTP clients wait for an answer."""

CHECK_SECS = 600.0
"""The same for a check of the whole file."""

MOST_LOG_BYTES = 16_000_000
"""The log is cut to this once all of it is written back. Source: own choice; four times what piles up between two turns."""

PAGE_BYTES = 2_048
"""Of a new file; one that exists keeps its own. A table or index takes a page at least, and there are 86 of them.

Source: our measurement: half of SQLite's own size costs no time, and a quarter makes appends slower.
"""

_STEPS_COUNT = 20_000
"""How many steps of its machine SQLite takes between two looks at the time: about a millisecond."""

APPLICATION_ID = 0x45564644
"""`EVFD`: marks a database file as one of ours."""

_MOST_MARK = 2**31 - 1
_HEADER = b"SQLite format 3\x00"

MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    name TEXT PRIMARY KEY,
    checksum TEXT NOT NULL
) WITHOUT ROWID
"""


def _fold_name(*names: SqlValue) -> SqlValue:
    """`fold_name` as the queries call it."""
    return fold_name(str(names[0]))


def add_functions(connection: apsw.Connection) -> None:
    """Have a connection know the functions that our queries and migrations call."""
    connection.create_scalar_function("fold_name", _fold_name, 1, deterministic=True)
    connection.create_scalar_function("pack_row", sql_pack_row, deterministic=True)
    connection.create_scalar_function("unpack_row", sql_unpack_row, 1, deterministic=True)
    connection.create_scalar_function("pack_message", sql_pack_message, 1, deterministic=True)
    connection.create_scalar_function("deflate", sql_deflate, 1, deterministic=True)
    connection.create_scalar_function("quote_lines", sql_quote_lines, 2, deterministic=True)


class Database:
    """One connection with its named queries. Not for two threads at once.

    Args:
        path: The file, or `IN_MEMORY`.
        clock: Tells until when a lease holds; the machine's when left out.
    """

    loses_answers = False

    def __init__(self, path: str, clock: Clock | None = None) -> None:
        self.path = path
        self.clock = clock or SystemClock()
        self.queries = load_queries("sqlite")
        self.words = SqliteWords(self)
        self.keys = OwnerKeys()
        self._last: tuple[Bound, ...] = ()
        self._ends_at: float | None = None
        self._has_moved = array("i", [0])
        self._has_moved_at = self._has_moved.buffer_info()[0]
        with translated(path):
            self.connection = apsw.Connection(":memory:" if path == IN_MEMORY else path)
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            add_functions(self.connection)
            self.connection.create_scalar_function("now_micros", self._read_micros, 0)
            self.connection.set_progress_handler(self._is_over, _STEPS_COUNT)

    def _read_micros(self, *_: SqlValue) -> SqlValue:
        """The time as the queries read it."""
        return to_micros(self.clock.now())

    def rows(self, name: str, **values: SqlValue) -> list[Row]:
        """All rows of a named query."""
        try:
            return list(self.connection.execute(self.queries[name], values))
        except UNFIT as error:
            raise unfit_value(name, values, error) from error

    def row(self, name: str, **values: SqlValue) -> Row | None:
        """The first row of a named query, or None."""
        return next(iter(self.rows(name, **values)), None)

    def rows_each(self, name: str, bindings: Sequence[Mapping[str, SqlValue]]) -> list[list[Row]]:
        """All rows of a named query for each of several bindings, in their order."""
        return [self.rows(name, **values) for values in bindings]

    def rows_all(self, asked: Sequence[Bound]) -> list[list[Row]]:
        """All rows of each of several named queries, in their order."""
        return [self.rows(name, **values) for name, values in asked]

    def run(self, name: str, **values: SqlValue) -> int:
        """Execute a named query and give the number of rows that it changed."""
        try:
            self.connection.execute(self.queries[name], values)
        except UNFIT as error:
            raise unfit_value(name, values, error) from error
        return self.connection.changes()

    def run_all(self, asked: Sequence[Bound]) -> list[int]:
        """Execute several named queries in order, and give of each the number of rows that it changed."""
        return [self.run(name, **values) for name, values in asked]

    def run_each(self, name: str, rows: Sequence[Row | Mapping[str, SqlValue]]) -> None:
        """Execute a named query once for each row of bindings, in order."""
        try:
            self.connection.executemany(self.queries[name], rows)
        except UNFIT as error:
            raise unfit_row(name, rows, error) from error

    def insert(self, name: str, **values: SqlValue) -> int:
        """Execute a named query that inserts one row, and give its key; 0 where the query inserts none.

        Without `RETURNING`, which has SQLite open a savepoint, at which the full-text index writes out what it holds: a
        segment for every row.
        """
        return self.connection.last_insert_rowid() if self.run(name, **values) else 0

    def claim(self, name: str, **values: SqlValue) -> bool:
        """See the protocol."""
        return self.run(name, **values) > 0

    def insert_each(self, name: str, rows: Sequence[Row]) -> list[int]:
        """Execute a named query that inserts one row once for each row of bindings; the keys in the same order.

        The keys of new rows follow each other, since there is one writer; those of erased sessions' messages may come
        again. Source: SQLite's documentation of rowids.
        """
        self.run_each(name, rows)
        last = self.connection.last_insert_rowid()
        return list(range(last - len(rows) + 1, last + 1))

    def list_columns(self) -> list[tuple[str, str, int]]:
        """Every column as table, name, and place in the primary key (from 1; 0 for none), without the full-text tables."""
        return cast("list[tuple[str, str, int]]", self.rows("list_columns"))

    def query(self, text: str, values: Row = ()) -> list[Row]:
        """All rows of a statement that has no name, with `?` for each value."""
        return list(self.connection.execute(text, values))

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows with their keys; what is inserted without one later gets a key that no row has."""
        holders = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({holders})", rows)  # noqa: S608 - of our schema

    def prove_by(self, *queries: Bound) -> None:
        """Nothing: a commit and its answer are one call."""

    def lock_user(self, user_key: int) -> None:
        """Does nothing: a writer has waited for the one writer's place already."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: takes the one writer's place at once, commits at the end, rolls back on any error."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")  # in here: a signal's handler may raise right behind it
            self._last = ()
            yield
            self.run_all(self._last)
            self.connection.execute("COMMIT")
        except BaseException:
            self.keys.forget()
            # A full disk has rolled back already; then there is nothing to undo.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def unsynced(self) -> Iterator[None]:
        """Commit without waiting for the disk. The next commit outside of this waits for all that was written before it.

        Source: SQLite's documentation of `PRAGMA synchronous` in WAL mode: NORMAL stays consistent, and is not durable.
        """
        self.connection.pragma("synchronous", "normal")
        try:
            yield
        finally:
            self.connection.pragma("synchronous", "full")

    def expect_in_place(self) -> None:
        """Refuse to go on where the file's name is gone or another file's: who opens it next would not find the rest.

        Raises:
            StoreUnavailableError: the file was moved, deleted or replaced.

        Source: SQLite's documentation of `SQLITE_FCNTL_HAS_MOVED`, and of how to corrupt a database; two microseconds.
        """
        self.connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, self._has_moved_at)
        if self._has_moved[0]:
            raise StoreUnavailableError(
                f"{self.path} was moved, deleted or replaced while it was open; nothing was written. Put it back "
                "with its -wal file, or open another",
                path=self.path,
            )

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Nothing within it waits for another process that holds the file."""
        try:
            self.connection.set_busy_timeout(0)
            yield
        finally:
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    def run_last(self, *asked: Bound) -> None:
        """See the protocol."""
        self._last = asked

    def mark_erased(self) -> None:
        """Note, within the transaction of an erase, that the files hold erased words until the log was emptied.

        The mark is SQLite's `user_version`: it is part of the transaction, and takes no table.
        """
        self.connection.execute(f"PRAGMA user_version = {self._read_mark() % _MOST_MARK + 1}")

    def is_erasing(self) -> bool:
        """Whether an erase is not through yet in the files."""
        return self._read_mark() != 0

    @contextmanager
    def bounded(self, secs: float | None = None) -> Iterator[None]:
        """A read within it that takes longer is ended; the innermost bound holds."""
        before, self._ends_at = self._ends_at, monotonic() + (READ_SECS if secs is None else secs)
        try:
            yield
        finally:
            self._ends_at = before

    def _is_over(self) -> bool:
        return self._ends_at is not None and monotonic() > self._ends_at

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Every read within it sees the database at one moment."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("COMMIT")

    def empty_log(self) -> bool:
        """Bring everything into the database file and cut its write-ahead log to nothing; no transaction may be open.

        False when a reader held on to an older page for longer than `CHECKPOINT_TIMEOUT_MS`: the log is to be emptied
        later.
        """
        mark = self._read_mark()
        self.connection.set_busy_timeout(CHECKPOINT_TIMEOUT_MS)
        try:
            busy = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if busy is None or busy[0]:
            return False
        if mark:
            with self.transaction():
                if self._read_mark() == mark:  # else another erase came in between, and sees to its own mark
                    self.connection.execute("PRAGMA user_version = 0")
        return True

    def _read_mark(self) -> int:
        row = self.connection.execute("PRAGMA user_version").fetchone()
        return 0 if row is None else int(row[0])

    def shrink_index(self) -> None:
        """Give back the memory that the full-text index took for a large transaction; no transaction may be open.

        Its table of waiting words grows with what one transaction brings, never shrinks, and is walked twice by every
        commit. Reading the schema again makes it anew; the next statements are compiled again.

        Source: SQLite's documentation of `PRAGMA writable_schema = RESET`.
        """
        self.connection.execute("PRAGMA writable_schema = RESET")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def open_database(path: str, clock: Clock | None = None) -> Database:
    """Open a database file, make it when it is missing, and bring it to the current schema; `IN_MEMORY` is always new.

    Raises:
        InvalidInputError: the path is a directory, or no file name for SQLite.
        CorruptStoreError: the file is no database, or one of another program.
        SchemaError: a newer Everfold wrote it, or a migration was changed after it ran.
        StoreUnavailableError: it cannot be opened or written.
    """
    require_name(path)
    if os.path.isdir(path):  # noqa: PTH112 - a path that cannot be one is no directory
        raise InvalidInputError(f"{path} is a directory; expected a database file, or a name for a new one", path=path)
    if path == IN_MEMORY:
        return _open_in_memory(clock)
    ensure_private(path)  # the log and the shared index beside it get the same permissions from SQLite
    _refuse_no_database(path)
    database = Database(path, clock)
    try:
        with translated(path):
            _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def require_name(path: str) -> None:
    """Refuse a path that SQLite cannot take as the name of a file.

    Raises:
        InvalidInputError: it contains a null character, or is not UTF-8.
    """
    if "\0" in path:
        raise InvalidInputError(f"the path {path!r} contains a null character; expected a file name", path=path)
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"the path {path!r} is not UTF-8; rename the file", path=ascii(path)) from error


def _open_in_memory(clock: Clock | None) -> Database:
    """A new database in memory: a copy of an empty one, which takes a thirtieth of the time that the migrations take."""
    database = Database(IN_MEMORY, clock)
    with closing(apsw.Connection("")) as empty:
        empty.deserialize("main", _make_empty())
        with database.connection.backup("main", empty, "main") as copying:
            copying.step()
    _prepare(database)
    return database


@cache
def _make_empty() -> bytes:
    """A database of the current schema, as the bytes of its file."""
    with closing(Database(IN_MEMORY)) as database:
        _prepare(database)
        return database.connection.serialize("main")


def _refuse_no_database(path: str) -> None:
    """Refuse a file that does not begin as a database does: the driver takes a very short one for an empty database.

    Read as SQLite reads: a file that this process opens and closes itself takes along the locks of every connection that
    the process has to it, and then another program's last connection deletes the log that is written here.

    Source: SQLite's documentation of its file format, the header string, and of how to corrupt a database, 2.2.
    """
    try:
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            head = file.xRead(len(_HEADER), 0)
        finally:
            file.xClose()
    except apsw.Error:
        return  # missing, or not to be read: opening it says which
    if head and head != _HEADER:
        raise CorruptStoreError(f"{path} is not a database; expected one, or a name for a new file", path=path)


def _prepare(database: Database) -> None:
    connection = database.connection
    _refuse_foreign(database)
    connection.pragma("page_size", PAGE_BYTES)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.pragma("journal_size_limit", MOST_LOG_BYTES)
    connection.pragma("foreign_keys", 1)
    connection.pragma("secure_delete", 1)
    connection.pragma("temp_store", "memory")
    connection.pragma("cache_size", -16_000)
    _migrate(database)


def _refuse_foreign(database: Database) -> None:
    connection = database.connection
    tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    application_id = connection.pragma("application_id")
    if tables and application_id != APPLICATION_ID:
        raise CorruptStoreError(
            f"{database.path} is a database of another program (application id {application_id}); "
            "expected an Everfold database, or a name for a new file",
            path=database.path,
        )


def _migrate(database: Database) -> None:
    """Bring the schema up to date: a new file in one transaction, which waits for the disk once, an old one step by step."""
    migrations = load_migrations("sqlite")
    done = _read_migrations(database)
    _check_migrations(database.path, done, migrations)
    if len(done) == len(migrations):
        return
    for together in ((one,) for one in migrations) if done else (migrations,):
        with database.transaction():
            for name, text in together:
                _apply(database, name, text)


def _apply(database: Database, name: str, text: str) -> None:
    """One migration, unless another connection has done it meanwhile."""
    connection = database.connection
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute(MIGRATIONS_TABLE)
    if name in _read_migrations(database):
        return
    for statement in split_statements(text):
        connection.execute(statement)
    connection.execute("INSERT INTO migrations (name, checksum) VALUES (?, ?)", (name, _checksum(text)))


def _read_migrations(database: Database) -> dict[str, str]:
    connection = database.connection
    if connection.table_exists(None, "migrations"):
        return {
            str(name): str(checksum) for name, checksum in connection.execute("SELECT name, checksum FROM migrations")
        }
    return {}


def _check_migrations(path: str, done: dict[str, str], migrations: tuple[tuple[str, str], ...]) -> None:
    known = {name: _checksum(text) for name, text in migrations}
    for name, checksum in sorted(done.items()):
        if name not in known:
            raise SchemaError(
                f"{path} was written by a newer Everfold: it has the migration {name}, this one knows up to "
                f"{migrations[-1][0]}; install the newer release",
                path=path,
            )
        if known[name] != checksum:
            raise SchemaError(
                f"{path}: migration {name} is not the one of this database (checksum {checksum[:12]}, expected "
                f"{known[name][:12]}); install the release that made it",
                path=path,
            )


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def split_statements(text: str) -> list[str]:
    """The statements of a script, comments kept, in order."""
    statements: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if apsw.complete(pending):
            statements.append(pending)
            pending = ""
    return [*statements, pending] if pending.strip() else statements


def translated(path: str) -> "_Translation":
    """Within it, what the driver raises becomes our errors, with the cause."""
    return _Translation(path)


class _Translation:
    """A context without a generator: every append and every read enters one."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        match error:
            case None:
                return
            case apsw.ConstraintError():
                text = f"{self._path}: another writer stored this first ({error}); read again"
                raise ConflictError(text, path=self._path) from error
            case apsw.Error():
                raise _translate(self._path, error) from error
            case UnicodeDecodeError() | json.JSONDecodeError() | zlib.error():
                raise damaged_row(self._path, error) from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Within it, whatever decoding a stored row raises becomes our error."""
    try:
        with translated(path):
            yield
    except (*DAMAGED, InvalidInputError) as error:
        if isinstance(error, InvalidInputError) and "query" in error.ids:
            raise
        raise damaged_row(path, error) from error


def _translate(path: str, error: apsw.Error) -> StoreError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            text = f"{path} is locked: another process has been writing for {BUSY_TIMEOUT_MS} ms; try again"
            return StoreUnavailableError(text, path=path)
        case apsw.InterruptError():
            text = (
                f"{path}: a read took too long and was ended, since the log grows meanwhile; ask for less, or try again"
            )
            return StoreUnavailableError(text, path=path)
        case apsw.FullError():
            text = f"the disk that holds {path} is full; nothing was written: make room and try again"
            return StoreUnavailableError(text, path=path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            text = f"{path} cannot be written: the file or its folder is read-only; give it write permission"
            return StoreUnavailableError(text, path=path)
        case apsw.CantOpenError():
            text = f"{path} cannot be opened ({error}); expected a database file in a folder that can be written"
            return StoreUnavailableError(text, path=path)
        case apsw.NotADBError():
            return CorruptStoreError(f"{path} is not a database; expected one, or a name for a new file", path=path)
        case apsw.CorruptError():
            text = f"{path} is damaged ({error}); restore it from a backup. Nothing was changed"
            return CorruptStoreError(text, path=path)
        case apsw.IOError():
            text = f"{path} could not be read or written ({error}); check the disk that holds it"
            return StoreUnavailableError(text, path=path)
        case _:
            return StoreError(f"{path}: {error}", path=path)
