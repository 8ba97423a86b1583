"""A PostgreSQL of a benchmark's own, in a folder on the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from everfold.testing import running_postgres

SHARED_BUFFERS = "1GB"
"""What PostgreSQL keeps in memory. Source: its documentation, a quarter of a machine's memory; here less."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A server that runs.

    Attributes:
        url: Its one database.
        pid_path: The file whose first line is the server's process id.
    """

    url: str
    pid_path: Path

    def wait_for_disk(self, *, is_on: bool) -> None:
        """Whether a commit waits until it is on the disk."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = {'on' if is_on else 'off'}")
            connection.execute("SELECT pg_reload_conf()")

    def processor_secs(self) -> float:
        """What the processors have worked for the server so far, over all of its processes, those that ended too.

        Source: Linux's /proc/PID/stat: utime, stime, and those of children that were waited for.
        """
        postmaster = self.pid_path.read_text().split()[0]
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if path.parent.name == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif fields[1] == postmaster:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def running() -> Iterator[Cluster]:
    """A new server; stopped and removed at the end."""
    with running_postgres(settings={"shared_buffers": SHARED_BUFFERS, "max_wal_size": "4GB"}) as server:
        yield Cluster(url=server.url, pid_path=server.data_path / "postmaster.pid")
