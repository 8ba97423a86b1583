"""Connect and disconnect a client: change its files, and keep what was done."""

import sys
from dataclasses import dataclass
from pathlib import Path

from everfold.errors import InvalidInputError, NotFoundError
from everfold.integrations.coding_agents.clients import find_client, has_server
from everfold.integrations.coding_agents.connection import (
    Connection,
    find_path,
    find_socket,
    find_state_folder,
    make_private,
    naming,
    write_connection,
    write_whole,
)
from everfold.integrations.coding_agents.edits import Change, plan_changes, read_changes, revert_changes, write_changes

_SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What connecting a client did.

    Attributes:
        files: The files of the client that were changed.
        has_tools: The server of tools is among what was added.
        advice: What is left for the user to do.
    """

    client: str
    title: str
    url: str
    files: tuple[str, ...]
    has_tools: bool
    advice: str


def connect(client: str, *, user: str, agent: str | None, url: str, config: Path | None) -> Connected:
    """Put Everfold into a client's files. A client that is connected already is connected anew.

    Args:
        client: One of `everfold.integrations.coding_agents.clients.CLIENTS`.
        user: Whose conversations and memory.
        agent: The assistant that the client is; its name when left out.
        url: The store.
        config: The settings file.

    Raises:
        InvalidInputError: there is no such client, or a file of it cannot be changed; nothing was.
    """
    found = find_client(client)
    connection = Connection(
        client=client,
        user=user,
        agent=agent or client,
        url=url,
        config=None if config is None else str(config.resolve()),
        python=sys.executable,
        socket=find_socket(url),
    )
    revert_changes(read_changes(_find_changes(client)))
    make_private(find_state_folder())
    if url.startswith(_SQLITE):
        folder = Path(url.removeprefix(_SQLITE)).parent
        with naming(folder, "made"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    changes = _change(connection, plan_changes(found.list_additions(connection)))
    return Connected(
        client=client,
        title=found.title,
        url=url,
        files=tuple(change.file for change in changes),
        has_tools=has_server(),
        advice=found.advice,
    )


def _change(connection: Connection, planned: list[tuple[Change, bytes]]) -> list[Change]:
    """Change files, all of them or none. What is changed is noted first, so that it can be taken back after a crash."""
    changes = [change for change, _ in planned]
    write_changes(_find_changes(connection.client), changes)
    try:
        for change, after in planned:
            write_whole(Path(change.file), after)
        write_connection(connection)
    except InvalidInputError:
        revert_changes(changes)
        raise
    return changes


def disconnect(client: str) -> list[str]:
    """Take out of a client's files exactly what was put in, and give the files that were changed. What is stored stays.

    Raises:
        InvalidInputError: there is no such client, or a file of it can no longer be read.
        NotFoundError: it is not connected.
    """
    find_client(client)
    if not find_path(client).exists() and not _find_changes(client).exists():
        raise NotFoundError(f"{client} is not connected; `everfold connect {client}` connects it")
    changed = revert_changes(read_changes(_find_changes(client)))
    _find_changes(client).unlink(missing_ok=True)
    find_path(client).unlink(missing_ok=True)
    return changed


def _find_changes(client: str) -> Path:
    return find_path(client).with_suffix(".changes.json")
