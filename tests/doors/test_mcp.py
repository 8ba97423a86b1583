"""The server of tools with version 1 of the protocol's SDK, on both ends; tests/integrations/test_mcp.py takes version 2."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

if not version("mcp").startswith("1."):
    pytest.skip("needs version 1 of the SDK; `make doors` installs it", allow_module_level=True)

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

import everfold

COMMAND = "from everfold.cli.entry import run; run()"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say which version this is, as an installation does; the environments of the doors have the sources alone."""
    about = tmp_path / "everfold-1.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: everfold\nVersion: 1\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(everfold.__file__).parents[1])]))


def list_words(database: Path, *more: str) -> list[str]:
    """The options of `everfold mcp`."""
    return ["-c", COMMAND, "mcp", "--user", "ada", "--agent", "helper", "--db", str(database), *more]


@asynccontextmanager
async def started(database: Path) -> AsyncIterator[ClientSession]:
    """A client that starts the server, as an editor does."""
    server = StdioServerParameters(command=sys.executable, args=list_words(database), env=dict(os.environ))
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as client:
        await client.initialize()
        yield client


@contextmanager
def serving(database: Path) -> Any:
    """A server on loopback, with the address and the first key that it tells."""
    command = [sys.executable, *list_words(database, "--port", "0", "--json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout
            yield json.loads("".join(iter(program.stdout.readline, "}\n")) + "}")
        finally:
            program.terminate()


async def call(client: ClientSession, name: str, **arguments: object) -> str:
    """What a tool answers, with what it refuses marked."""
    answer = await client.call_tool(name, arguments)
    (part,) = answer.content
    return f"{'refused: ' if answer.isError else ''}{part.text}"


async def note_over_stdio(database: Path) -> None:
    """Note an entry, and be refused a tool that is none."""
    async with started(database) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["history_read"].annotations.readOnlyHint
        assert not tools["memory_add"].annotations.readOnlyHint
        assert await call(client, "memory_add", statement="Ada's locker 7 has the code 4711.", tier="user") == "Done."
        assert (await call(client, "memory_bend")).startswith("refused: ")


async def find_over_http(database: Path) -> str:
    """What the next client finds, with a key."""
    with serving(database) as told:
        headers = {"Authorization": f"Bearer {told['api_key']}"}
        async with (
            streamablehttp_client(told["address"], headers=headers) as (incoming, outgoing, _),
            ClientSession(incoming, outgoing) as client,
        ):
            await client.initialize()
            return await call(client, "memory_search", query="locker code")


async def run(database: Path) -> tuple[str, list[str]]:
    """What is found over HTTP, and what is stored."""
    await note_over_stdio(database)
    found = await find_over_http(database)
    async with everfold.open(f"sqlite:///{database}") as engine:
        return found, [item.statement for item in await (await engine.memory(user="ada")).items()]


def test_what_one_client_notes_the_next_one_finds(tmp_path: Path) -> None:
    """An entry that is noted over stdio is found over HTTP with a key, and is the user's in the library."""
    found, stored = asyncio.run(run(tmp_path / "talk.db"))
    assert "4711" in found
    assert stored == ["Ada's locker 7 has the code 4711."]
