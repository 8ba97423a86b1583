"""Connections: what a client's hooks and the daemon know of each other, in a file of the user's own."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from everfold.errors import InvalidInputError

FOLD_LIMIT_TOKENS: Final = 16_000
"""The context limit that connected sessions fold to: what is kept and digested then fills what a client takes of a hook.

Source: our measurement over the agents' logs: digests, standing instructions and kept messages of 8,000 to 14,000 characters.
"""
IDLE_SECS: Final = 1_800.0
"""The daemon ends after so long without an event. Source: own choice; a start takes about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How one client of this user is connected.

    Attributes:
        client: `claude-code`, `codex` or `opencode`.
        python: The interpreter that Everfold is installed for.
        url: The store.
        config: The settings file; None for none.
        socket: Where the daemon listens: one for each store.
    """

    client: str
    user: str
    agent: str
    url: str
    config: str | None
    python: str
    socket: str
    limit_tokens: int = FOLD_LIMIT_TOKENS
    idle_secs: float = IDLE_SECS


def find_state_folder() -> Path:
    """Where connections are kept. Source: XDG base directory specification, `XDG_STATE_HOME`."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "everfold"


def find_default_store() -> str:
    """The store of connected clients where none is named. Source: as above, `XDG_DATA_HOME`."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return f"sqlite:///{Path(home) / 'everfold' / 'everfold.db'}"


def find_socket(url: str) -> str:
    """The daemon's socket for a store. Its path is short: a socket's must be below 108 bytes."""
    name = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) / "everfold" if runtime else Path(tempfile.gettempdir()) / f"everfold-{os.getuid()}"
    return str(folder / f"{name}.sock")


def find_path(client: str) -> Path:
    """The file of a client's connection."""
    return find_state_folder() / "connections" / f"{client}.json"


def write_connection(connection: Connection) -> None:
    """Keep a connection, for this user alone to read.

    Raises:
        InvalidInputError: it cannot be written.
    """
    path = find_path(connection.client)
    make_private(path.parent)
    write_whole(path, f"{json.dumps(asdict(connection), indent=2)}\n".encode(), mode=0o600)


def read_connection(path: Path) -> Connection:
    """The connection of a file.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        return Connection(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInputError(f"{path} is not a connection file: {error}; run `everfold connect` again") from error


def list_connections(socket: str) -> list[Connection]:
    """The connections whose clients share the daemon of a socket; a file that is none is left out."""
    found: list[Connection] = []
    for path in sorted(find_path("any").parent.glob("*.json")):
        with suppress(InvalidInputError):
            found.append(read_connection(path))
    return [connection for connection in found if connection.socket == socket]


def make_private(folder: Path) -> None:
    """Make a folder that only this user may look into.

    Raises:
        InvalidInputError: it belongs to another user, or others may write to it, or it cannot be made.
    """
    with naming(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise InvalidInputError(
            f"{folder} belongs to another user, or others can write to it; make it writable by you only"
        )


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file in one step, where a link leads to.

    Args:
        path: Which.
        content: All of it.
        mode: The rights that it gets; None for those that it has, and a new file is for this user alone.

    Raises:
        InvalidInputError: it cannot be written.
    """
    with naming(path, "written"):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        if mode is None:
            mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
        draft = path.with_name(f".{path.name}.everfold-{os.getpid()}")
        try:
            draft.touch(mode=0o600)
            draft.write_bytes(content)
            draft.chmod(mode)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def naming(path: Path, done: str) -> Iterator[None]:
    """Have a failure of the system name the path, what could not be done to it, and what to do.

    Raises:
        InvalidInputError: the system refused.
    """
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be {done}: {error.strerror}; check the path and its permissions, and try again",
            path=str(path),
        ) from error
