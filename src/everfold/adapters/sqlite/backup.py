"""Back a database file up while it is in use, and put a backup in the place of one that is not.

A backup is one state: it is read within one transaction, so writers go on and what they commit meanwhile is not in it. It is
written beside its target, checked, and moved there in one step. No log may stand beside its new name: SQLite would play the
log of an earlier database into it.

Source: SQLite's documentation, "How To Corrupt An SQLite Database File", of logs and their files; "URI Filenames", of
`immutable`, which takes no locks.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import apsw

from everfold.adapters.sqlite.connection import BUSY_TIMEOUT_MS, require_name
from everfold.adapters.system.private_files import write_private
from everfold.errors import ConflictError, CorruptStoreError, InvalidInputError, NotFoundError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

Advance = Callable[[int, int], None]
"""Told how many pages are copied, and how many there are."""

_PAGES: Final = 2_000
_TRIES_COUNT: Final = 3
"""How often a file that cannot be locked is copied before it is reported as in use. Source: own choice."""
_BESIDE: Final = ("-wal", "-shm", "-journal")
_TABLE: Final = "migrations"
"""What every database of ours has."""


def back_up(source: Path, target: Path, advance: Advance) -> int:
    """Write a copy of a database, in use or not, into a new file; gives its size in bytes.

    Raises:
        InvalidInputError: the target is a folder, or a path is no file name for SQLite.
        NotFoundError: there is no such database.
        ConflictError: the target exists, or a log of an earlier database at its place.
        CorruptStoreError: the source is no database of ours, or the copy is damaged.
        StoreUnavailableError: it cannot be read, or the copy cannot be written.
    """
    source, target = _find_file(source), _find_file(target)
    _refuse_folder(target)
    _require_ours(source)
    if standing := _list_standing(target):
        raise ConflictError(f"{standing[0]} exists; name a new file for the backup.", path=str(standing[0]))
    draft = target.with_name(f".{target.name}.new")
    with _discarding(draft):
        write_private(draft, "")
        _copy(source, draft, advance)
        draft.replace(target)
    return target.stat().st_size


def restore(backup: Path, target: Path, advance: Advance) -> Path | None:
    """Put a copy of a backup in the place of a database that is not in use; gives where that one is now, None for none.

    A damaged database is replaced too, and logs that stand at its place without it are moved out of the way.

    Raises:
        InvalidInputError: the target is a folder, or a path is no file name for SQLite.
        NotFoundError: there is no such backup.
        ConflictError: a process has the database open.
        CorruptStoreError: the backup is no database of ours, or is damaged.
        StoreUnavailableError: a file cannot be read or written.
    """
    backup, target = _find_file(backup), _find_file(target)
    _refuse_folder(target)
    _require_ours(backup)
    draft = target.with_name(f".{target.name}.new")
    with _discarding(draft):
        write_private(draft, "")
        _copy(backup, draft, advance)
        replaced = _set_aside(target)
        draft.replace(target)
    return replaced


def _find_file(path: Path) -> Path:
    """The file at the end of symbolic links: SQLite puts its logs beside that one.

    Raises:
        InvalidInputError: SQLite cannot take its name.
    """
    found = Path(os.path.realpath(path)) if path.is_symlink() else path
    require_name(str(found))
    return found


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; name a file.", path=str(path))


def _copy(source: Path, draft: Path, advance: Advance) -> None:
    """Copy one state of a database, and check the copy."""
    for _ in range(_TRIES_COUNT):
        before = _read_version(source)
        with _translated(source):
            is_locked = _copy_pages(source, draft, advance)
        if is_locked or _read_version(source) == before:
            return _require_whole(draft, source)
    raise StoreUnavailableError(
        f"{source} was written during every copy, and cannot be locked here; stop its writers, and try again.",
        path=str(source),
    )


def _copy_pages(source: Path, target: Path, advance: Advance) -> bool:
    """Copy every page; whether no other process could write meanwhile into what was read."""
    is_locked = _can_be_locked(source)
    with closing(_open(source, is_locked=is_locked)) as old, closing(apsw.Connection(str(target))) as new:
        old.execute("BEGIN")
        old.execute(f"SELECT 1 FROM {_TABLE} LIMIT 1").get  # noqa: B018, S608 - the state that is copied begins here
        with new.backup("main", old, "main") as copying:
            while not copying.done:
                copying.step(_PAGES)
                advance(copying.page_count - copying.remaining, copying.page_count)
        old.execute("COMMIT")
    return is_locked


def _can_be_locked(path: Path) -> bool:
    """SQLite locks a file through a log and an index beside it: they are there, or can be made."""
    return _find_log(path).exists() or (os.access(path, os.W_OK) and _can_hold_logs(path.parent))


def _can_hold_logs(folder: Path) -> bool:
    """Whether a new database in a folder gets a log; shares between machines may offer no memory that processes share."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".everfold-", dir=folder) as scratch,
            closing(apsw.Connection(str(Path(scratch) / "trial.db"))) as trial,
        ):
            mode = trial.execute("PRAGMA journal_mode = WAL").get
            trial.execute("SELECT * FROM sqlite_schema").get  # noqa: B018 - the first read makes the index of the log
            return bool(mode == "wal")
    except (OSError, apsw.CantOpenError, apsw.IOError):
        return False


def _open(path: Path, *, is_locked: bool) -> apsw.Connection:
    """A connection to read from, with locks or without. None leaves a file beside the database that was not there before.

    Where there is no log, the one that SQLite makes is only removed by a connection that may write.
    """
    way = "ro&immutable=1" if not is_locked else "ro" if _find_log(path).exists() else "rw"
    place = f"file:{quote(str(path.absolute()))}?mode={way}"
    connection = apsw.Connection(place, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return connection


def _read_version(path: Path) -> tuple[int | bool, ...]:
    """What differs after another process has written a database.

    The file is not opened for it: closing it would drop the locks of this process. Its change counter would tell no more,
    since a database with a log need not count its changes. Source: SQLite's documentation of the file format.
    """
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size, _find_log(path).exists()


def _find_log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _require_ours(path: Path) -> None:
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}; name a database.", path=str(path))
    with _translated(path), closing(_open(path, is_locked=_can_be_locked(path))) as connection:
        found = connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (_TABLE,)).get
    if not found:
        raise CorruptStoreError(f"{path} is not an Everfold database; name another file.", path=str(path))


def _require_whole(draft: Path, source: Path) -> None:
    """Refuse a copy whose pages, rows or indexes do not agree. No other process has a draft open, so it needs no locks."""
    with _translated(draft), closing(_open(draft, is_locked=False)) as connection:
        try:
            found = connection.execute("PRAGMA integrity_check(1)").get
        except (apsw.NotADBError, apsw.CorruptError) as error:
            found = error
    if found != "ok":
        raise CorruptStoreError(f"{source} is damaged: {found}. It was not used.", path=str(source))


def _set_aside(path: Path) -> Path | None:
    """Move a database that no process has open, and its logs, to a free name; None where there are only logs, or nothing."""
    has_database = path.exists()
    if has_database:
        _require_unused(path)
    number = 1
    while _list_standing(aside := path.with_name(f"{path.name}.before-restore-{number}")):
        number += 1
    for standing in _list_standing(path):
        shutil.move(standing, aside.with_name(aside.name + standing.name.removeprefix(path.name)))
    return aside if has_database else None


def _require_unused(path: Path) -> None:
    """Refuse a database that a process has open, and write back the log of one that is whole."""
    with _translated(path), suppress(apsw.NotADBError, apsw.CorruptError):
        try:
            with closing(apsw.Connection(str(path))) as connection:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("COMMIT")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.BusyError as error:
            raise ConflictError(
                f"{path} is open in another process; stop it, or restore into a new file.", path=str(path)
            ) from error


def _list_standing(path: Path) -> list[Path]:
    """The database at a place and its logs, as far as they are there."""
    places = [path.with_name(path.name + suffix) for suffix in ("", *_BESIDE)]
    return [place for place in places if place.exists()]


@contextmanager
def _discarding(draft: Path) -> "Iterator[None]":
    """Whatever goes wrong, nothing half-written stays."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{draft.parent} cannot be written: {error}.", path=str(draft.parent)) from error
    finally:
        for suffix in ("", *_BESIDE):
            with suppress(OSError):
                draft.with_name(draft.name + suffix).unlink(missing_ok=True)


@contextmanager
def _translated(path: Path) -> "Iterator[None]":
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise CorruptStoreError(
            f"{path} is not an Everfold database, or is damaged: {error}.", path=str(path)
        ) from error
    except apsw.Error as error:
        raise StoreUnavailableError(f"{path} cannot be read or written: {error}; try again.", path=str(path)) from error
