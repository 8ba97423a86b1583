"""A process of little power: not root, or with a bound on the size of files. Prints what an append raises.

Arguments: the database, then `uid=N` or `file_bytes=N`.
"""

import os
import resource
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

import everfold
from everfold.errors import EverfoldError


async def write(path: str, messages_count: int) -> str:
    """Append until it fails; what failed, or nothing."""
    try:
        async with everfold.open(f"sqlite:///{path}") as engine:
            session = await engine.session(limit=4_000)
            for number in range(messages_count):
                await session.append({"role": "user", "content": f"Message {number}. " + "So be it. " * 400})
                sys.stdout.write(f"{number + 1}\n")
    except EverfoldError as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    with TemporaryDirectory() as folder:  # everything that is loaded late is loaded while it may be read
        anyio.run(write, str(Path(folder) / "first.db"), 1)
    sys.stdout.write("begin\n")
    kind, _, value = sys.argv[2].partition("=")
    if kind == "uid":
        os.setuid(int(value))
    else:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), int(value)))
    failure = anyio.run(write, sys.argv[1], 400)
    sys.stdout.write(f"{failure}\n")
