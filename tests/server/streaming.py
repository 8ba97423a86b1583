"""A server on a port of this machine, and what it streams: what the transport of a process cannot show."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import uvicorn
from fastapi import FastAPI

PATIENCE_SECS = 120.0
"""How long anything may take before a test gives up."""

Data = dict[str, Any]


async def wait_until(is_so: Callable[[], object]) -> None:
    """Wait until something is so that no event tells of."""
    with anyio.fail_after(PATIENCE_SECS):
        while not is_so():  # noqa: ASYNC110 - what is waited for is in another library's hands, or the server's own
            await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    """The address of an app that serves on a loopback port."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    await wait_until(lambda: server.started)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        with anyio.fail_after(PATIENCE_SECS):
            await task


@dataclass
class Stream:
    """The events of one answer."""

    answer: httpx2.Response
    lines: AsyncIterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.answer.aiter_lines()

    async def opened(self) -> None:
        """Wait until it has begun."""
        with anyio.fail_after(PATIENCE_SECS):
            assert await anext(self.lines) == ": open"

    async def take(self) -> tuple[str, Data] | None:
        """The next event; None at the end."""
        name, data = "", ""
        with anyio.fail_after(PATIENCE_SECS):
            async for line in self.lines:
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data += line.removeprefix("data: ")
                elif not line and name:
                    return name, json.loads(data)
        return None

    async def until(self, wanted: str) -> Data:
        """The first event of a name, what comes before it left out."""
        while (event := await self.take()) is not None:
            if event[0] == wanted:
                return event[1]
        raise AssertionError(f"the stream ended without {wanted!r}")

    async def all(self) -> list[tuple[str, Data]]:
        """Everything to the end."""
        events: list[tuple[str, Data]] = []
        while (event := await self.take()) is not None:
            events.append(event)
        return events


@asynccontextmanager
async def streaming(
    client: httpx2.AsyncClient,
    method: str,
    url: str,
    body: Data | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Stream]:
    """A stream that has begun."""
    async with client.stream(method, url, json=body, headers=headers, timeout=PATIENCE_SECS) as answer:
        if answer.status_code != httpx2.codes.OK:
            await answer.aread()
            raise AssertionError(f"{answer.status_code}: {answer.text}")
        yield Stream(answer)
