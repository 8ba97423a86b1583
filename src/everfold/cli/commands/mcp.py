"""`everfold mcp`: a user's memory and past conversations as tools for an MCP client."""

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, User
from everfold.cli.tables.output import print_json, say
from everfold.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from everfold.engine import Everfold
    from everfold.integrations.mcp import App
    from everfold.services.access.api_keys import MadeApiKey

NAME = "mcp"


def run(
    context: typer.Context,
    user: User = "default",
    agent: Agent = "default",
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65_535,
            help="Serve HTTP on this port, or 0 for a free one, instead of standard input.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A host name that a proxy sends in `Host`; may be repeated."),
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Serve a user's memory and past conversations as tools to an MCP client.

    Without --port, the command uses standard input and output, and the client starts it. With --port, it serves /mcp
    (streamable HTTP), and each request needs an API key with access to the user and the agent. A new database, user and
    agent start empty. With --port and --json, the address, and at a first start the API key, are printed to stdout when
    the server is ready.

    Examples:
    - `everfold mcp --user ada --agent helper --db talk.db`
    - `everfold mcp --user ada --agent helper --port 8765`
    """
    if find_spec("mcp") is None:
        raise InvalidInputError("an MCP server needs the extra `mcp`: pip install 'everfold[cli,mcp]'")
    from everfold.integrations.mcp import open_app, serve_stdio

    hosts = (host, *(allow_host or ()))

    async def act() -> None:
        async with open_engine(context, db, must_exist=False) as engine:
            if port is None:
                await serve_stdio(engine, user=user, agent=agent)
            else:
                app = partial(open_app, engine, user=user, agent=agent, hosts=hosts)
                await _serve_http(engine, app, host=host, port=port, as_json=as_json)

    run_async(act)


async def _serve_http(
    engine: "Everfold", app: "Callable[[], AbstractAsyncContextManager[App]]", *, host: str, port: int, as_json: bool
) -> None:
    """Answer over HTTP until the process is told to stop. A store without a working admin API key gets one first."""
    import uvicorn

    from everfold.integrations.mcp import PATH
    from everfold.server.hosts import is_loopback
    from everfold.server.stopping import StoppableServer, require_free

    require_free(host, port)
    first = await engine.admin.api_keys.ensure_first()
    if not is_loopback(host):
        say(f"listening on {host} without TLS: API keys can be read on the way; put a proxy with TLS in front")
    async with app() as opened:
        config = uvicorn.Config(
            opened,
            host=host,
            port=port,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
        )
        server = StoppableServer(config, lambda address: _tell(f"{address}{PATH}", first, as_json=as_json))
        await server.serve()
    server.require_started()


def _tell(address: str, first: "MadeApiKey | None", *, as_json: bool) -> None:
    """Say where a client connects, and with which key where one was made."""
    if as_json:
        print_json({"address": address, "api_key": None if first is None else first.secret})
        return
    if first is not None:
        say(f"the admin API key, shown once: {first.secret}")
    say(f"answering at {address} until it is stopped")
