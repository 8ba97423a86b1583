"""`everfold gateway`: the routes of providers, behind which conversations are stored and folded."""

from importlib.util import find_spec
from typing import Annotated

import typer

from everfold.cli.opening.engine import run_async, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, say
from everfold.errors import InvalidInputError

NAME = "gateway"


def run(
    context: typer.Context,
    upstream: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The provider's URL. Default: `gateway.upstream`, or OpenAI and Anthropic."),
    ] = None,
    db: Db = None,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Instead of `server.host`.")] = None,
    port: Annotated[int | None, typer.Option(metavar="N", min=0, max=65_535, help="Instead of `server.port`.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Serve a proxy for the APIs of OpenAI and Anthropic that stores and folds conversations.

    Set the printed address as the base URL of a client. The client's own API key is forwarded and never stored. With
    --json, the address is printed to stdout when the server is ready.

    Examples:
    - `everfold gateway`
    - `everfold gateway --upstream http://127.0.0.1:11434`
    - `everfold --config shop.toml gateway --port 0 --json`
    """
    if find_spec("fastapi") is None or find_spec("httpx2") is None:
        raise InvalidInputError("the gateway needs the extra `gateway`: pip install 'everfold[gateway]'")
    from everfold.server.opening import open_runtime
    from everfold.server.serving import serve

    invocation = invocation_of(context)
    settings = {"gateway": {"enabled": True, **({} if upstream is None else {"upstream": upstream})}}

    async def act() -> None:
        url = store_url(invocation, db)
        async with open_runtime(url, settings=settings, config=invocation.config) as runtime:
            server = runtime.settings.server
            await serve(
                runtime,
                host=server.host if host is None else host,
                port=server.port if port is None else port,
                on_ready=lambda address: _tell(address, as_json=as_json),
                routers=(),
            )

    run_async(act)


def _tell(address: str, *, as_json: bool) -> None:
    """Say what a client is to be given."""
    base = address.rstrip("/")
    if as_json:
        print_json({"address": base, "openai_base_url": f"{base}/v1", "anthropic_base_url": base})
        return
    say(f"for clients of OpenAI: OPENAI_BASE_URL={base}/v1")
    say(f"for clients of Anthropic: ANTHROPIC_BASE_URL={base}")
