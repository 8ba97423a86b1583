"""`everfold serve`: the control API and the dashboard."""

from typing import Annotated

import typer

from everfold.cli.commands.worker import WITH_WORKERS
from everfold.cli.opening.engine import store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json
from everfold.cli.opening.serving import Serving, Start, link_with_key, reach, run_server
from everfold.cli.tables.output import print_json, say

NAME = "serve"


def run(
    context: typer.Context,
    db: Db = None,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Instead of `server.host`.")] = None,
    port: Annotated[int | None, typer.Option(metavar="N", min=0, max=65_535, help="Instead of `server.port`.")] = None,
    *,
    no_work: Annotated[
        bool, typer.Option("--no-work", help="Leave background work to `everfold worker`; needs PostgreSQL.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve the HTTP API and the dashboard.

    The first start creates an admin API key, and prints it once with a link that opens the dashboard signed in. Ctrl-C or
    SIGTERM stops the server: running requests finish first, and unfinished work continues at the next start. With --json,
    the address, and at a first start the API key, are printed to stdout when the server is ready.

    Examples:
    - `everfold serve`
    - `everfold --config shop.toml serve --host 0.0.0.0 --port 8080`
    - `everfold serve --port 0 --json`
    - `everfold serve --no-work`
    """
    invocation = invocation_of(context)
    serving = Serving(
        url=store_url(invocation, db),
        config=invocation.config,
        settings=WITH_WORKERS if no_work else None,
        host=host,
        port=port,
    )
    run_server(serving, lambda address, start: _tell(address, start, as_json=as_json))


def _tell(address: str, start: Start, *, as_json: bool) -> None:
    """Say where the dashboard is, and what opens it."""
    if as_json:
        print_json({"address": address, "api_key": start.secret})
        return
    if start.secret is not None:
        say(f"the admin API key, shown once: {start.secret}")
        say(f"open the dashboard, signed in: {link_with_key(address, start.secret, to=start.page)}", is_whole=True)
    say(f"the dashboard is at {reach(address)}")
