"""`everfold disconnect`: take Everfold out of a coding agent."""

from typing import Annotated

import typer

from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json, say

NAME = "disconnect"


def run(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="claude-code, codex or opencode.")],
    *,
    as_json: Json = False,
) -> None:
    """Disconnect a coding agent: take out of its settings exactly what `everfold connect` put in.

    What was stored of its conversations stays; `everfold wipe` removes it.

    Examples:
    - `everfold disconnect claude-code`
    """
    from everfold.integrations.coding_agents.connecting import disconnect

    changed = disconnect(client)
    if as_json:
        print_json({"client": client, "files": changed})
    else:
        say(f"{client} is disconnected. Changed: {', '.join(changed) or 'nothing'}")
