"""`everfold connect`: put Everfold into a coding agent."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.cli.opening.engine import store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json, User
from everfold.cli.tables.output import print_json, say

NAME = "connect"


def run(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="claude-code, codex or opencode.")],
    user: User = "default",
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent; the client's name when left out.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Connect a coding agent, so that it gets back what its own compaction throws away.

    It puts hooks and a server of tools into the client's own settings, and changes nothing else there. The client's
    conversations are stored as they grow. Each prompt gets what answers it among the messages that have left the client's
    context; after a compaction the client gets the user's standing instructions and a digest. `everfold disconnect` takes
    out what was added.

    The database is one for all folders, in the user's data folder, unless --db or --config names another.

    Examples:
    - `everfold connect claude-code`
    - `everfold connect codex --user ada --db ~/work.db`
    """
    from everfold.integrations.coding_agents.connecting import connect
    from everfold.integrations.coding_agents.connection import find_default_store

    invocation = invocation_of(context)
    if db is not None:
        url = f"sqlite:///{db.expanduser().resolve()}"
    else:
        url = store_url(invocation, None) if invocation.config else find_default_store()
    connected = connect(client, user=user, agent=agent, url=url, config=invocation.config)
    if as_json:
        print_json(connected)
        return
    say(f"{connected.title} is connected. Its conversations are kept in {_show_store(connected.url)}.")
    say(f"Changed: {', '.join(connected.files)}")
    if not connected.has_tools:
        say("The server of tools was left out, since the extra `mcp` is missing: pip install 'everfold[connect]'")
    say(connected.advice)


def _show_store(url: str) -> str:
    return str(Path(url.removeprefix("sqlite:///"))) if url.startswith("sqlite:///") else "the store of the settings"
