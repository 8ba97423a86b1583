"""Programs that start at once: each is a fork of one process that has loaded the engine already.

A fork is a process like any other: it has its own connections, locks and buffers, ends with a code of its own and is
killed alone. What is spared is a second and more of loading the same modules for each of some two hundred programs.

Run as a program, this is the process that is forked. Each connection to its socket is one program: it brings what is to
be the program's input, output and errors, and the order in a line. The fork that takes the connection forks the program,
and tells there its process id and, when it has ended, its exit code. `fork_client.py` speaks the same for a shell.
"""

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, TextIO

ENGINE: Final = (
    "anyio._backends._asyncio",
    "everfold.adapters.models.scripted",
    "everfold.adapters.sqlite.store",
    "everfold.bootstrap",
    "everfold.sync",
    "everfold.testing",
    "everfold.testing.kit.builders",
    "everfold.testing.kit.fakes",
    "rich.console",
)
COMMANDS: Final = (
    *ENGINE,
    "everfold.agents.chat",
    "everfold.cli.chat.command",
    "everfold.cli.chat.terminal",
    "everfold.cli.commands.gateway",
    "everfold.cli.commands.serve",
    "everfold.cli.main",
    "everfold.server.app",
    "everfold.server.gateway.app",
    "everfold.server.opening",
    "everfold.server.serving",
    "uvicorn",
)
SECS: Final = 200
"""How long a program may take that is waited for; it only ends a test that hangs."""


@dataclass
class Program:
    """A program that was started: its process id, its end of what it reads and writes, and how it ended."""

    pid: int
    connection: socket.socket
    stdin: TextIO | None = None
    stdout: TextIO | None = None
    returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal, where it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Tell it to end."""
        self.send_signal(signal.SIGTERM)

    def poll(self) -> int | None:
        """Its exit code, where it has ended."""
        if self.returncode is None and select.select([self.connection], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float = SECS) -> int:
        """Its exit code, when it has ended; that of a signal is negative."""
        if self.returncode is None:
            assert select.select([self.connection], [], [], timeout)[0], f"{self.pid} has not ended within {timeout} s"
            self.returncode = _read_number(self.connection)
            self.connection.close()
        return self.returncode

    def end(self) -> None:
        """End it, where it still runs, and close what is open between it and the test."""
        self.kill()
        self.wait()
        for stream in (self.stdin, self.stdout):
            if stream is not None and not stream.closed:
                stream.close()


@dataclass(frozen=True)
class Forks:
    """What starts programs: where it takes orders, and a folder for what they write."""

    place: str
    folder: Path

    def run(
        self, code: str, *arguments: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, as `python -c` does: in a folder, with an environment that may be another."""
        out, err = self.folder / "out", self.folder / "err"
        with Path(os.devnull).open() as nothing, out.open("w") as told, err.open("w") as failed:
            files = (nothing.fileno(), told.fileno(), failed.fileno())
            program = self.start(code, *arguments, files=files, folder=folder, environment=environment, secs=SECS)
        code_of_end = program.wait(SECS + 30)
        return subprocess.CompletedProcess(code, code_of_end, out.read_text("utf-8"), err.read_text("utf-8"))

    @contextmanager
    def talking(
        self,
        code: str,
        *arguments: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        with_errors: bool = False,
    ) -> Iterator[Program]:
        """A program that a test talks with by its input and output; it is killed at the end, where it still runs.

        Its errors go to its output, or to that of the tests.
        """
        (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
        files = (their_in, their_out, their_out if with_errors else 2)
        program = self.start(code, *arguments, files=files, folder=folder, environment=environment)
        os.close(their_in)
        os.close(their_out)
        program.stdin, program.stdout = os.fdopen(our_out, "w"), os.fdopen(our_in)
        try:
            yield program
        finally:
            program.end()

    def start(
        self,
        code: str,
        *arguments: str,
        files: tuple[int, int, int],
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        secs: int = 0,
    ) -> Program:
        """Start a program on three open files. After so many seconds it ends by itself; 0: never."""
        order = {
            "code": code,
            "arguments": arguments,
            "folder": str(folder or Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
            "secs": secs,
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.place)
        socket.send_fds(connection, [b"!"], files)
        connection.sendall(json.dumps(order).encode() + b"\n")
        return Program(_read_number(connection), connection)


def _read_number(connection: socket.socket) -> int:
    """The number in the next line; no byte behind it is taken, so that `select` sees whether another comes."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        assert byte, "what is forked has ended"
        line += byte
    return int(line)


@contextmanager
def forking(folder: Path, modules: tuple[str, ...] = ENGINE) -> Iterator[Forks]:
    """Load modules in a process of its own, with warnings as errors, to be forked until the end."""
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place := f"{short}/orders")
        listener.listen()
        command = [sys.executable, "-W", "error", __file__, str(listener.fileno()), *modules]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()])
        listener.close()  # nothing waits for an answer when the process could not load what it should
        try:
            yield Forks(place, folder)
        finally:
            process.terminate()
            process.wait()


def take_orders(listener: socket.socket) -> tuple[dict[str, object], list[int]]:
    """Fork for each connection, without an end; what this gives is given in the programs only."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the forks that mind a program
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            return mind_program(connection)
        connection.close()


def mind_program(connection: socket.socket) -> tuple[dict[str, object], list[int]]:
    """Fork the program and tell of it; what this gives is given in the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    channel = connection.makefile("rw", encoding="utf-8")
    order: dict[str, object] = json.loads(channel.readline())
    child = os.fork()
    if not child:
        channel.close()
        connection.close()
        return order, list(files)
    for file in files:
        os.close(file)
    with suppress(BrokenPipeError):
        channel.write(f"{child}\n")
        channel.flush()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        channel.write(f"{code}\n")
        channel.flush()
    os._exit(0)


def become(order: Mapping[str, object], files: list[int]) -> None:
    """Be the program, in this process, which ends as its own would."""
    secs, environment, arguments = order["secs"], order["environment"], order["arguments"]
    assert isinstance(secs, int)
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    signal.alarm(secs)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as Python itself opens it at its start
    sys.stdout = open(1, "w", closefd=False, buffering=1 if os.isatty(1) else -1)  # noqa: SIM115 - as above
    sys.stderr = open(2, "w", closefd=False, buffering=1, errors="backslashreplace")  # noqa: SIM115 - as above
    if str(environment.get("PYTHONWARNINGS")) == "ignore":
        warnings.simplefilter("ignore")
    os.chdir(str(order["folder"]))
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    sys.path[0] = ""
    sys.path[1:1] = [it for it in str(environment.get("PYTHONPATH", "")).split(os.pathsep) if it not in sys.path]
    program = sys.modules["__main__"] = ModuleType("__main__")
    try:
        exec(compile(str(order["code"]), "<string>", "exec"), program.__dict__)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        end(ended.code or 0)
    end(0)


def end(code: int) -> None:
    """End as Python does, but without freeing what was loaded: that would copy all that is shared with the other forks."""
    threading._shutdown()  # type: ignore[attr-defined]  # nothing public waits for all threads
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # Python says itself what it could not write
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for module in sys.argv[2:]:
        import_module(module)
    gc.freeze()  # what is shared with the forks stays untouched
    become(*take_orders(socket.socket(fileno=int(sys.argv[1]))))
