"""`everfold worker`: the work that servers leave to workers."""

from importlib.util import find_spec
from typing import Annotated, Final

import typer

from everfold.cli.opening.engine import run_async, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json, say
from everfold.config import Overrides
from everfold.errors import InvalidInputError

NAME = "worker"

WITH_WORKERS: Final[Overrides] = {"workers": {"enabled": True}}
"""Work is left to workers."""


def run(
    context: typer.Context,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many jobs run at once. Default: `workers.concurrency`.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address for health and metrics.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="The port; 0 for a free one.")] = 0,
    *,
    as_json: Json = False,
) -> None:
    """Run the background work of a PostgreSQL store: compactions, refreshes, extractions and dreams.

    Start any number of workers, on any machine, and the servers with `everfold serve --no-work`. Ctrl-C or SIGTERM stops a
    worker: running jobs finish first, and another worker does the jobs that do not finish in time. The printed address
    serves `/health/live`, `/health/ready` and, with an admin API key, `/metrics`.

    Examples:
    - `everfold worker`
    - `everfold --config shop.toml worker --concurrency 16 --port 8421`
    - `everfold worker --json`
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInputError("a worker needs the extras `cli` and `workers`: pip install 'everfold[cli,workers]'")
    from everfold.server.opening import open_runtime
    from everfold.server.working import work

    invocation = invocation_of(context)

    async def act() -> None:
        url = store_url(invocation, None)
        async with open_runtime(url, settings=WITH_WORKERS, config=invocation.config) as runtime:
            await work(
                runtime,
                host=host,
                port=port,
                concurrency=concurrency,
                on_ready=lambda address: print_json({"address": address}) if as_json else _tell(address),
            )

    run_async(act)


def _tell(address: str) -> None:
    say(f"the worker's health is at {address}health/ready")
