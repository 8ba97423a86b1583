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
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent. Default: the client's name.")] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Connect a coding agent, to restore what its own compaction leaves out.

    This adds hooks and an MCP server to the client's own settings, and changes nothing else there. The client's
    conversations are stored as they grow. Each prompt gets matching messages that have left the client's context; after a
    compaction, the client gets the user's standing instructions and a digest. `everfold disconnect` removes what was
    added.

    All folders share one database in the user's data folder, unless --db or --config names another.

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
    say(f"{connected.title} is connected. Its conversations are stored in {_show_store(connected.url)}.")
    say(f"Changed: {', '.join(connected.files)}")
    if not connected.has_tools:
        say("The MCP server was not added, because the extra `mcp` is missing: pip install 'everfold[connect]'")
    say(connected.advice)


def _show_store(url: str) -> str:
    return str(Path(url.removeprefix("sqlite:///"))) if url.startswith("sqlite:///") else "the store of the settings"
