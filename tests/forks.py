"""Programs that start at once: each is a fork of one process that has loaded the engine already.

A fork is a process like any other: it has its own connections, locks and buffers, ends with a code of its own and is
killed alone. What is spared is a second and more of loading the same modules for each of some two hundred programs.

Run as a program, this is the process that is forked: it takes an order a line and tells how the program ended.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

LOADED: Final = (
    "anyio._backends._asyncio",
    "everfold.adapters.inmemory.store",
    "everfold.adapters.models.scripted",
    "everfold.adapters.sqlite.store",
    "everfold.bootstrap",
    "everfold.sync",
    "everfold.testing",
    "everfold.testing.kit.builders",
    "everfold.testing.kit.fakes",
    "rich.console",
)
SECS: Final = 200
"""How long a program may take; it only ends a test that hangs."""


@dataclass(frozen=True)
class Forks:
    """What starts programs, with a folder for what they write."""

    process: subprocess.Popen[str]
    folder: Path

    def run(
        self, code: str, *arguments: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, as `python -c` does: in a folder, with an environment that may be another."""
        out, err = self.folder / "out", self.folder / "err"
        order = {
            "code": code,
            "arguments": arguments,
            "folder": str(folder or Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
            "out": str(out),
            "err": str(err),
        }
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"what is forked has ended with {self.process.wait()}"
        return subprocess.CompletedProcess(code, int(answer), out.read_text("utf-8"), err.read_text("utf-8"))


@contextmanager
def forking(folder: Path) -> Iterator[Forks]:
    """Load the engine in a process of its own, with warnings as errors, to be forked until the end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", __file__]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Forks(process, folder)


def wait_for_order() -> dict[str, object]:
    """Fork for each order, and give it: this returns in the forks only."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            found: dict[str, object] = json.loads(line)
            return found
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    sys.exit()


def become(order: Mapping[str, object]) -> None:
    """Be the program, in this process, which ends as its own would."""
    signal.alarm(SECS)
    for number, name, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, str(order["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, str(order["err"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(name, flags), number)
    os.chdir(str(order["folder"]))
    environment = order["environment"]
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    arguments = order["arguments"]
    assert isinstance(arguments, list)
    sys.argv = ["-c", *arguments]
    sys.path[0] = ""
    program = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(str(order["code"]), "<string>", "exec"), program.__dict__)


if __name__ == "__main__":
    for module in LOADED:
        import_module(module)
    gc.freeze()  # what is shared with the forks stays untouched
    become(wait_for_order())
