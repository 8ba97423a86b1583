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


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a start has to tell: the secret of an API key that was just made, and the page to open with it."""

    secret: str | None = None
    page: str = ""


_LOOKED_AT_COUNT = 50
Tell = Callable[[str, Start], None]
"""Told the address once requests are answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and where; what is None is as the settings say."""

    url: str
    config: Path | None = None
    settings: Overrides | None = None
    host: str | None = None
    port: int | None = None


async def make_first_key(runtime: "Runtime") -> Start:
    """The first admin API key, made where the store has none, and the longest of the newest sessions as the page to open."""
    made = await runtime.engine.admin.api_keys.ensure_first()
    if made is None:
        return Start()
    newest = await runtime.engine.admin.browse_sessions(newest_first=True, limit=_LOOKED_AT_COUNT)
    longest = max(newest, key=lambda session: session.figures.last_seq, default=None)
    return Start(secret=made.secret, page=f"sessions/{longest.record.id}" if longest else "sessions")


def run_server(
    serving: Serving, tell: Tell, *, prepare: Callable[["Runtime"], Awaitable[Start]] = make_first_key
) -> None:
    """Serve until the process is told to stop.

    Args:
        serving: What and where.
        tell: Told once requests are answered.
        prepare: Done with the open engine before that; gives what to tell.

    Raises:
        InvalidInputError: the extra `server` is missing, or it cannot listen there.
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInputError("serving needs the extra `server`: pip install 'everfold[cli,server]'")
    from everfold.server.opening import open_runtime
    from everfold.server.serving import serve
    from everfold.server.stopping import require_free

    async def act() -> None:
        async with open_runtime(serving.url, settings=serving.settings, config=serving.config) as runtime:
            server = runtime.settings.server
            host = server.host if serving.host is None else serving.host
            port = server.port if serving.port is None else serving.port
            require_free(host, port)
            start = await prepare(runtime)
            await serve(
                runtime,
                host=host,
                port=port,
                on_ready=lambda address: tell(server.public_url or address, start),
            )

    run_async(act)


def reach(address: str) -> str:
    """Where a browser on this machine finds a server that listens at an address: no browser opens "every address"."""
    return address.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")


def link_with_key(address: str, secret: str, *, to: str = "") -> str:
    """A link that opens a page of the dashboard, signed in. Browsers send its fragment to no server."""
    return f"{reach(address).rstrip('/')}/#sign-in?key={secret}{f'&to={to}' if to else ''}"
