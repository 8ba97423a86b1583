"""A server in a process of its own over a file, as `everfold serve` starts it."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

SETTINGS = """\
[compaction]
synchronous = true

[server]
requests_per_minute = 0
"""
"""As `bench.opening.INLINE_SETTINGS`; no key is held to a rate."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where it is, and the key of an admin."""

    url: str
    secret: str
    process_id: int = 0

    def processor_secs(self) -> float:
        """What the processors have worked for the server so far, over all of its threads; 0 where it is not told.

        Source: the first figure of Linux's /proc/PID/task/TID/schedstat, nanoseconds on a processor.
        """
        told = Path(f"/proc/{self.process_id}/task").glob("*/schedstat")
        return sum(int(path.read_text().split()[0]) for path in told) / 1e9

    def client(self) -> httpx2.Client:
        """A client that keeps its connection."""
        return httpx2.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.secret}"}, timeout=60)

    def post(self, connection: HTTPConnection, path: str, body: object) -> int:
        """Write over a connection that is kept, read the whole answer, and give its status.

        With as little of a client as there is, so that what is timed is the server: a full one takes as long as that.
        """
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def time_health(self, connection: HTTPConnection) -> float:
        """Seconds until the server says that it lives, over a connection that is kept."""
        started = time.perf_counter()
        connection.request("GET", "/health/live")
        connection.getresponse().read()
        return time.perf_counter() - started

    def connect(self) -> HTTPConnection:
        """A connection for `post`."""
        return HTTPConnection(urlsplit(self.url).netloc, timeout=60)


@contextmanager
def serving(database: Path, *, more_settings: str = "") -> Iterator[Address]:
    """A server over a file that has no key yet; stopped at the end."""
    config = database.with_suffix(".toml")
    config.write_text(SETTINGS + more_settings, "utf-8")
    with starting(config, "--db", str(database)) as address:
        yield address


@contextmanager
def starting(config: Path, *options: str) -> Iterator[Address]:
    """A server with the settings of a file; the key is empty where the store had one. Stopped at the end."""
    command = ["-m", "everfold.cli.main", "--config", str(config), "serve", *options, "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield replace(_read_address(process), process_id=process.pid)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout:
            process.stdout.close()


def _read_address(process: "subprocess.Popen[str]") -> Address:
    secret = ""
    for line in process.stdout or ():
        if made := re.search(r"\bef_[\w-]{43}", line):
            secret = made[0]
        if ready := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return Address(url=ready[0], secret=secret)
    raise RuntimeError("the server ended before it was ready")
