"""A gateway over a real store and real HTTP, between a client and a provider that is played."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.types import ASGIApp
from tests.server.gateway.played import Body, PlayedProvider
from tests.support.waiting import until

from everfold.config import Overrides
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord
from everfold.engine import Everfold
from everfold.server.app import make_app
from everfold.server.gateway.app import Gateway as App
from everfold.server.gateway.app import open_gateway
from everfold.server.opening import open_runtime
from everfold.server.runtime import Runtime
from everfold.session import iterate_log

KEY = "sk-provider-secret"
PATHS = {"openai": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}


def say(text: str) -> Body:
    """What a user says; the same in every form."""
    return {"role": "user", "content": text}


def answered(text: str) -> Body:
    """What the assistant said, in OpenAI's chat form."""
    return {"role": "assistant", "content": text}


@dataclass
class Gateway:
    """A gateway that runs, and its client.

    Attributes:
        base: What the client sends with every request.
    """

    app: App
    runtime: Runtime
    client: httpx2.AsyncClient
    base: Body = field(default_factory=lambda: {"model": "m"})

    @property
    def engine(self) -> Everfold:
        """The engine behind it."""
        return self.runtime.engine

    async def ask(
        self, messages: list[Body], *, form: str = "openai", headers: Mapping[str, str] | None = None, **more: Any
    ) -> httpx2.Response:
        """Send a list of messages."""
        name = "input" if form == "responses" else "messages"
        content = json.dumps({**self.base, name: messages, **more}, indent=1).encode()
        return await self.client.post(
            PATHS[form], content=content, headers={"content-type": "application/json", **(headers or {})}
        )

    async def settle(self) -> None:
        """Wait until every reply is stored: a client has its end a moment before."""
        await until(lambda: not self.app._turns.are_under_way)

    async def sessions(self) -> list[SessionRecord]:
        """Every session, in the order of creation."""
        await self.settle()
        return await self.engine.list_sessions()

    async def log(self, session: str) -> list[Message]:
        """What a session holds."""
        await self.settle()
        opened = await self.engine.session(id=session)
        return [message async for message in iterate_log(opened)]

    async def texts(self, session: str) -> list[str]:
        """What is said in a session."""
        return [message.view.text for message in await self.log(session)]


@asynccontextmanager
async def run_gateway(
    store: Path, upstream: str, settings: Overrides | None = None, *, key: str = KEY
) -> AsyncIterator[Gateway]:
    """A gateway over a database file, for as long as it is entered."""
    own = (settings or {}).get("gateway", {})
    whole = {
        "compaction": {"synchronous": True},
        **(settings or {}),
        "gateway": {"enabled": True, "upstream": upstream, **dict(own)},  # type: ignore[arg-type]  # a section
    }
    async with (
        open_runtime(f"sqlite:///{store}", settings=whole) as runtime,
        open_gateway(make_app(runtime, routers=()), runtime, hosts=None) as app,
        _listen(app) as address,
        httpx2.AsyncClient(
            base_url=address,
            timeout=60,
            headers={"authorization": f"Bearer {key}"},
            limits=httpx2.Limits(max_connections=None),
        ) as client,
    ):
        assert isinstance(app, App)
        yield Gateway(app=app, runtime=runtime, client=client)


@asynccontextmanager
async def _listen(app: ASGIApp) -> AsyncIterator[str]:
    """The address of an app that is served."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started or serving.done())
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


@pytest.fixture
def provider() -> Iterator[PlayedProvider]:
    """The provider."""
    with PlayedProvider() as played:
        yield played


@pytest.fixture
async def gateway(made_database: Path, tmp_path: Path, provider: PlayedProvider) -> AsyncIterator[Gateway]:
    """A gateway that has stored nothing."""
    async with run_gateway(Path(shutil.copy(made_database, tmp_path / "gateway.db")), provider.url) as one:
        yield one
