"""A server in this process, over a real store, and clients with keys of each scope."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from everfold.server.app import make_app
from everfold.server.opening import open_runtime
from everfold.server.runtime import Runtime

Settings = Mapping[str, Mapping[str, object]]
INLINE: Settings = {"compaction": {"synchronous": True}, "recall": {"enabled": False}}
"""Without recall: two handles that meet a turn at different steps recall different amounts for it."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """An app with what it runs on."""

    app: FastAPI
    runtime: Runtime

    def client(self, secret: str | None) -> httpx2.AsyncClient:
        """A client that sends a key."""
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.app), base_url="http://everfold.test", headers=headers
        )

    async def key(self, scope: str, *, read_only: bool = False, name: str | None = None) -> str:
        """The secret of a new key."""
        made = await self.runtime.engine.admin.api_keys.make(
            name or f"{scope} {read_only}", scope, is_read_only=read_only
        )
        return made.secret


@asynccontextmanager
async def serve(path: Path, settings: Settings = INLINE, *, config: Path | None = None) -> AsyncIterator[Served]:
    """A server over a database file."""
    async with open_runtime(f"sqlite:///{path}", settings=settings, config=config) as runtime:
        yield Served(app=make_app(runtime), runtime=runtime)


@pytest.fixture
async def served(made_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """A server over an empty database; its settings file, which requests may write, would be in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    async with serve(Path(shutil.copy(made_database, tmp_path / "served.db"))) as one:
        yield one


@pytest.fixture
async def admin(served: Served) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a key of the scope admin."""
    async with served.client(await served.key("admin")) as client:
        yield client
