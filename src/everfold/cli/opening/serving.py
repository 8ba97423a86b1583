"""Serving for a command: the server over a store, until it is stopped."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from everfold.cli.opening.engine import run_async
from everfold.config import Overrides
from everfold.errors import InvalidInputError

if TYPE_CHECKING:
    from everfold.server.runtime import Runtime

Tell = Callable[[str, str | None], None]
"""Told the address once requests are answered, and the secret of an API key that was just made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and where; what is None is as the settings say."""

    url: str
    config: Path | None = None
    settings: Overrides | None = None
    host: str | None = None
    port: int | None = None


async def make_first_key(runtime: "Runtime") -> str | None:
    """The secret of the first admin API key, made where the store has none; else None."""
    made = await runtime.engine.admin.api_keys.ensure_first()
    return None if made is None else made.secret


def run_server(
    serving: Serving, tell: Tell, *, prepare: Callable[["Runtime"], Awaitable[str | None]] = make_first_key
) -> None:
    """Serve until the process is told to stop.

    Args:
        serving: What and where.
        tell: Told once requests are answered.
        prepare: Done with the open engine before that; gives the secret to tell.

    Raises:
        InvalidInputError: the extra `server` is missing.
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInputError("serving needs the extra `server`: pip install 'everfold[cli,server]'")
    from everfold.server.opening import open_runtime
    from everfold.server.serving import serve

    async def act() -> None:
        async with open_runtime(serving.url, settings=serving.settings, config=serving.config) as runtime:
            secret = await prepare(runtime)
            server = runtime.settings.server
            await serve(
                runtime,
                host=server.host if serving.host is None else serving.host,
                port=server.port if serving.port is None else serving.port,
                on_ready=lambda address: tell(server.public_url or address, secret),
            )

    run_async(act)


def link_with_key(address: str, secret: str, *, to: str = "") -> str:
    """A link that opens a page of the dashboard, signed in. Browsers send its fragment to no server."""
    here = address.rstrip("/").replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")
    return f"{here}/#sign-in?key={secret}{f'&to={to}' if to else ''}"
