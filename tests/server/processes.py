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
from tests.forks import Forks, Program

SECS: Final = 120.0
"""How long a server may take to start or to stop; it only ends a test that hangs."""

COMMAND: Final = "from everfold.cli.entry import run; run()"


@dataclass
class Process:
    """A server, its address, and the key of an admin.

    Attributes:
        lines: What it said while it was stopped.
        said: What it said until it was ready.
    """

    popen: subprocess.Popen[str] | Program
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
    config: Path, database: Path, forks: Forks, *, secret: str = "", command: str = COMMAND
) -> Iterator[Process]:
    """A server over a database, on a free port of this machine; killed at the end, where it still runs.

    Args:
        config: Its settings.
        database: Its store.
        forks: What has loaded the server already.
        secret: A key of an admin; of a new store the one that it makes.
        command: The code that is run instead of `everfold`.
    """
    with starting(config, forks, *_list_options(database), secret=secret, command=command) as process:
        yield process


@contextmanager
def starting(
    config: Path, forks: Forks, *arguments: str, secret: str = "", command: str = COMMAND
) -> Iterator[Process]:
    """A command that serves, over the settings of a file; killed at the end, where it still runs.

    Args:
        config: Its settings.
        forks: What has loaded the server already.
        arguments: The command's name and its options.
        secret: A key of an admin; of a new store the one that it makes.
        command: The code that is run instead of `everfold`.
    """
    folder, environment = config.parent, {**os.environ, "PYTHONPATH": str(config.parent), "PYTHONWARNINGS": "ignore"}
    options = ("--config", str(config), *arguments)
    with forks.talking(command, *options, folder=folder, environment=environment, with_errors=True) as program:
        yield _wait_until_ready(program, secret)


@contextmanager
def serving_alone(config: Path, database: Path, script: str) -> Iterator[Process]:
    """A server as `serving` gives it, in a process that loads everything itself and runs a script instead of `everfold`."""
    popen = subprocess.Popen(
        [sys.executable, script, "--config", str(config), *_list_options(database)],
        cwd=config.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(config.parent), *sys.path]), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield _wait_until_ready(popen, "")
    finally:
        popen.kill()
        popen.wait()
        if popen.stdout:
            popen.stdout.close()


def _list_options(database: Path) -> tuple[str, ...]:
    return ("serve", "--db", str(database), "--port", "0")


def _wait_until_ready(popen: "subprocess.Popen[str] | Program", secret: str) -> Process:
    assert popen.stdout
    said = ""
    for line in popen.stdout:
        said += line
        if made := re.search(r"\bef_[\w-]{43}", line):
            secret = made[0]
        if ready := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return Process(popen, ready[0], secret, said=said.splitlines())
    raise AssertionError(f"the server ended before it was ready: {said!r}")
