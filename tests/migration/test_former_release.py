"""A database of the version before opens, and every session in it renders the same bytes.

`tests/data/databases/0014.db.gz` was written by the code before the rooms, from generated conversations: digests made of
quotes and of a model, rollups, a degraded compaction, branches, a rewind, an erase, a pin, a refresh, memory and lone
surrogates. `0014.json.gz` holds what that code then rendered of each session, for both providers.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import everfold

pytestmark = pytest.mark.anyio
SETTINGS: dict[str, dict[str, object]] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": False},
}


@pytest.fixture
def former(project: Path, tmp_path: Path) -> str:
    """The url of a copy of the database."""
    packed = project / "tests" / "data" / "databases" / "0014.db.gz"
    (tmp_path / "former.db").write_bytes(gzip.decompress(packed.read_bytes()))
    return f"sqlite:///{tmp_path / 'former.db'}"


@pytest.fixture
def rendered(project: Path) -> dict[str, dict[str, Any]]:
    """What each session rendered to, by its id and the provider."""
    packed = project / "tests" / "data" / "databases" / "0014.json.gz"
    requests: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return requests


async def test_every_session_renders_as_before(former: str, rendered: dict[str, dict[str, Any]]) -> None:
    """Each session's window is, for each provider, what it was, byte for byte."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        shown = {
            record.id: await (await engine.session(id=record.id)).window(preview=True)
            for record in await engine.list_sessions()
        }
        now = {
            name: {provider: window.render(provider) for provider in ("openai", "anthropic")}
            for name, window in shown.items()
        }
    assert {name: _spell(requests) for name, requests in now.items()} == {
        name: _spell(requests) for name, requests in rendered.items()
    }


async def test_every_session_verifies(former: str) -> None:
    """All certificates, digests and search rows of the former database are sound."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        for record in await engine.list_sessions():
            verification = await (await engine.session(id=record.id)).verify()
            assert verification.is_sound, verification
        assert await engine.admin.check_store() == []


async def test_every_session_goes_on(former: str) -> None:
    """What was begun before the upgrade takes a message and shows a window that ends with it."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        for record in await engine.list_sessions():
            session = await engine.session(id=record.id)
            await session.append({"role": "user", "content": "And what is next?"})
            messages = (await session.window()).render("openai")["messages"]
            assert "And what is next?" in str(messages[-1])


def _spell(requests: dict[str, Any]) -> dict[str, str]:
    """Requests as JSON text, every key in its order."""
    return {provider: json.dumps(request) for provider, request in requests.items()}
