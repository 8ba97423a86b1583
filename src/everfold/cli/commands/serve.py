"""`everfold serve`: the control API and the dashboard."""

from importlib.util import find_spec
from typing import Annotated

import typer

from everfold.cli.commands.worker import WITH_WORKERS
from everfold.cli.opening.engine import run_async, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, say
from everfold.errors import InvalidInputError
from everfold.services.access.api_keys import MadeApiKey

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
    """Serve the control API and the dashboard until it is stopped.

    The first start makes an admin API key and shows it once. Ctrl-C or SIGTERM stops the server: running requests finish
    first, and unfinished work continues at the next start. With --json, the address and the API key of a first start are
    printed on stdout once the server answers.

    Examples:
    - `everfold serve`
    - `everfold --config shop.toml serve --host 0.0.0.0 --port 8080`
    - `everfold serve --port 0 --json`
    - `everfold serve --no-work`
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInputError("serving needs the extra `server`: pip install 'everfold[cli,server]'")
    from everfold.server.opening import open_runtime
    from everfold.server.serving import serve

    invocation = invocation_of(context)

    async def act() -> None:
        url = store_url(invocation, db)
        overrides = WITH_WORKERS if no_work else None
        async with open_runtime(url, settings=overrides, config=invocation.config) as runtime:
            first = await runtime.engine.admin.api_keys.ensure_first()
            settings = runtime.settings.server
            await serve(
                runtime,
                host=settings.host if host is None else host,
                port=settings.port if port is None else port,
                on_ready=lambda address: _tell(settings.public_url or address, first, as_json=as_json),
            )

    run_async(act)


def _tell(address: str, first: MadeApiKey | None, *, as_json: bool) -> None:
    """Say where the dashboard is, and what opens it."""
    if as_json:
        print_json({"address": address, "key": None if first is None else first.secret})
        return
    if first is not None:
        say(f"the admin API key, shown once: {first.secret}")
    say(f"the dashboard is at {address}")
