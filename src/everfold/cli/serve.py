"""`everfold serve`: the control API and the dashboard."""

from importlib.util import find_spec
from typing import Annotated

import typer

from everfold.cli.engine import invocation_of, run_async, store_url
from everfold.cli.options import Db
from everfold.cli.output import say
from everfold.errors import InvalidInputError

NAME = "serve"


def run(
    context: typer.Context,
    db: Db = None,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Instead of `server.host`.")] = None,
    port: Annotated[int | None, typer.Option(metavar="N", min=0, max=65_535, help="Instead of `server.port`.")] = None,
) -> None:
    """Serve the control API and the dashboard until it is stopped.

    The first start makes a key that may do everything, and shows it once. Stop it with Ctrl-C or SIGTERM: what is on its
    way is finished first, and nothing is lost where it is not.

    Examples:
    - `everfold serve`
    - `everfold --config shop.toml serve --host 0.0.0.0 --port 8080`
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInputError("serving needs the extra `server`: pip install 'everfold[cli,server]'")
    from everfold.server.opening import open_runtime
    from everfold.server.serving import serve

    invocation = invocation_of(context)

    async def act() -> None:
        async with open_runtime(store_url(invocation, db), config=invocation.config) as runtime:
            first = await runtime.engine.keys.ensure_first()
            if first is not None:
                say(f"the admin key, shown this once: {first.secret}")
            settings = runtime.settings.server
            await serve(
                runtime,
                host=settings.host if host is None else host,
                port=settings.port if port is None else port,
                on_ready=lambda address: say(f"the dashboard is at {settings.public_url or address}"),
            )

    run_async(act)
