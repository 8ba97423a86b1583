"""Servers in processes of their own, as `everfold serve` starts them, to be asked, stopped and killed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2

SECS: Final = 60.0
"""How long a server may take to start or to stop; it only ends a test that hangs."""

COMMAND: Final = ("-m", "everfold.cli.main")


@dataclass
class Process:
    """A server, its address, and the key of an admin.

    Attributes:
        lines: What it said while it was stopped.
        said: What it said until it was ready.
    """

    popen: subprocess.Popen[str]
    address: str
    secret: str
    lines: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def client(self) -> httpx2.AsyncClient:
        """A client with the admin's key, which keeps its connections."""
        return httpx2.AsyncClient(
            base_url=self.address,
            headers={"Authorization": f"Bearer {self.secret}"},
            timeout=SECS,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        )

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.popen.kill()
        assert self.popen.wait(SECS) == -signal.SIGKILL

    def stop(self) -> int:
        """Tell it to end, wait until it has, and give its exit code; what it says meanwhile goes to `lines`."""
        self.popen.send_signal(signal.SIGTERM)
        assert self.popen.stdout
        self.lines += [line.rstrip("\n") for line in self.popen.stdout]
        return self.popen.wait(SECS)


@contextmanager
def serving(
    config: Path, database: Path, *, secret: str = "", command: tuple[str, ...] = COMMAND, folder: Path | None = None
) -> Iterator[Process]:
    """A server over a database, on a free port of this machine; killed at the end, where it still runs.

    Args:
        config: Its settings.
        database: Its store.
        secret: A key of an admin; of a new store the one that it makes.
        command: What is run instead of `everfold`.
        folder: Where it runs; that of the settings when left out.
    """
    options = ["--config", str(config), "serve", "--db", str(database), "--port", "0"]
    popen = subprocess.Popen(
        [sys.executable, *command, *options],
        cwd=folder or config.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(config.parent), *sys.path]), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield _wait_until_ready(popen, secret)
    finally:
        popen.kill()
        popen.wait()
        if popen.stdout:
            popen.stdout.close()


def _wait_until_ready(popen: "subprocess.Popen[str]", secret: str) -> Process:
    assert popen.stdout
    said = ""
    for line in popen.stdout:
        said += line
        if made := re.search(r"\bef_[\w-]{43}", line):
            secret = made[0]
        if ready := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return Process(popen, ready[0], secret, said=said.splitlines())
    raise AssertionError(f"the server ended before it was ready: {said!r}")
