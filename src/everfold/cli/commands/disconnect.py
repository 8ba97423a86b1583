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
    """Disconnect a coding agent: remove from its settings exactly what `everfold connect` added.

    Its stored conversations stay; `everfold wipe USER --transcripts` erases them.

    Examples:
    - `everfold disconnect claude-code`
    """
    from everfold.integrations.coding_agents.connecting import disconnect

    changed = disconnect(client)
    if as_json:
        print_json({"client": client, "files": changed})
    else:
        say(f"{client} is disconnected. Changed: {', '.join(changed) or 'nothing'}")
