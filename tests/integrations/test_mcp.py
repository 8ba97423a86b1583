"""The server of tools for MCP clients, with the protocol's own client, over standard input and over HTTP."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.forks import Forks
from tests.server.processes import COMMAND

import everfold
from everfold.engine import Everfold
from everfold.integrations.mcp import App, open_app

URL = "http://localhost/mcp"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
READERS = ["memory_list", "memory_search", "history_search", "history_read"]
WRITERS = ["memory_add", "memory_replace", "memory_remove", "memory_batch"]


@pytest.fixture
async def engine() -> AsyncIterator[Everfold]:
    """An engine of the test's own."""
    async with everfold.open("memory://") as opened:
        yield opened


@asynccontextmanager
async def started(database: Path) -> AsyncIterator[ClientSession]:
    """A client of `everfold mcp`, which it starts as an editor does."""
    command = ["-W", "ignore", "-c", COMMAND, "mcp", "--user", "ada", "--agent", "helper", "--db", str(database)]
    server = StdioServerParameters(command=sys.executable, args=command)
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as client:
        await client.initialize()
        yield client


@asynccontextmanager
async def asking(app: App, secret: str = "", **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that brings a key."""
    given = {"Authorization": f"Bearer {secret}"} if secret else {}
    given |= {"Accept": "application/json, text/event-stream", **headers}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=given) as client:
        yield client


@asynccontextmanager
async def connected(app: App, secret: str) -> AsyncIterator[ClientSession]:
    """A client over HTTP."""
    async with (
        asking(app, secret) as http,
        streamable_http_client(URL, http_client=http) as (incoming, outgoing, *_),
        ClientSession(incoming, outgoing) as client,
    ):
        await client.initialize()
        yield client


async def call(client: ClientSession, name: str, **arguments: object) -> str:
    """What a tool answers, with what it refuses marked."""
    answer = await client.call_tool(name, arguments)
    (part,) = answer.content
    return f"{'refused: ' if answer.is_error else ''}{part.text}"


async def test_what_a_client_notes_is_there_for_the_next_one_and_for_the_agent(tmp_path: Path) -> None:
    """An entry that one client notes of a user who was not there is found by the next, and is the user's in the library."""
    database = tmp_path / "talk.db"
    async with started(database) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [*WRITERS, *READERS]
        assert await call(client, "memory_add", statement="Ada's locker 7 has the code 4711.", tier="user") == "Done."
    async with started(database) as client:
        assert "4711" in await call(client, "memory_search", query="locker code")
    async with everfold.open(f"sqlite:///{database}") as engine:
        memory = await engine.memory(user="ada")
        assert [item.statement for item in await memory.items()] == ["Ada's locker 7 has the code 4711."]


async def test_past_conversations_are_searched_and_read(engine: Everfold) -> None:
    """A client finds what was said to the agent, reads it by number, and is told where nothing was said yet."""
    made = await engine.admin.api_keys.make("all")
    async with open_app(engine, user="ada", agent="helper") as app, connected(app, made.secret) as client:
        early = await call(client, "history_read", first=1)
        session = await engine.session(user="ada", agent="helper")
        await session.append({"role": "user", "content": "We deploy on Tuesdays at nine."})
        assert early.startswith("refused: Not done: there is no message 1; nothing was said")
        assert "Tuesdays at nine" in await call(client, "history_search", query="when do we deploy?")
        assert "Tuesdays at nine" in await call(client, "history_read", first=1)


async def test_a_key_that_only_reads_gets_the_tools_that_only_read(engine: Everfold) -> None:
    """With a read-only key the writing tools are neither listed nor called, and the others answer."""
    await engine.add_user("ada")
    made = await engine.admin.api_keys.make("reader", "user:ada", is_read_only=True)
    async with open_app(engine, user="ada", agent="helper") as app, connected(app, made.secret) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == READERS
        assert (await call(client, "memory_add", statement="Ada has two cats.")).startswith("refused: There is no such")
        assert "(nothing)" in await call(client, "memory_list")
    assert await (await engine.memory(user="ada")).items() == []


@pytest.mark.parametrize("scope", ["user:ada", "agent:helper", "admin"])
async def test_keys_that_see_the_user_with_the_agent_are_let_in(engine: Everfold, scope: str) -> None:
    """The user's key, the agent's key and an admin's key each note something."""
    await engine.add_user("ada")
    made = await engine.admin.api_keys.make("one", scope)
    async with open_app(engine, user="ada", agent="helper") as app, connected(app, made.secret) as client:
        assert await call(client, "memory_add", statement="Ada has two cats.") == "Done."


@pytest.mark.parametrize("scope", ["user:bob", "agent:other"])
async def test_the_keys_of_others_are_refused(engine: Everfold, scope: str) -> None:
    """A key of another user or agent gets 403, one that does not work and a request without one get 401."""
    await engine.add_user("bob")
    made = await engine.admin.api_keys.make("other", scope)
    async with open_app(engine, user="ada", agent="helper") as app:
        for secret, status in ((made.secret, 403), ("ef_nothing", 401), ("", 401)):
            async with asking(app, secret) as client:
                assert (await client.post(URL, json=LIST)).status_code == status


async def test_pages_of_other_sites_are_refused(engine: Everfold) -> None:
    """A request with another name as `Host`, or from a page of another site, is refused though its key is good."""
    made = await engine.admin.api_keys.make("all")
    async with open_app(engine, user="ada", agent="helper", hosts=("tools.example",)) as app:
        async with asking(app, made.secret) as client:
            assert (await client.post("http://evil.example/mcp", json=LIST)).status_code == 421
            assert (await client.post("http://tools.example/mcp", json=LIST)).status_code == 200
            assert (await client.get("http://localhost/else")).status_code == 404
        async with asking(app, made.secret, Origin="http://evil.example") as client:
            assert (await client.post(URL, json=LIST)).status_code == 403


def test_the_command_ends_in_order_when_it_is_told_to_stop(tmp_path: Path, command_forks: Forks) -> None:
    """Over HTTP the command shows a first key, says where it answers, and ends with 0 on SIGTERM."""
    options = ("mcp", "--user", "ada", "--port", "0", "--db", str(tmp_path / "talk.db"))
    with command_forks.talking(COMMAND, *options, folder=tmp_path, with_errors=True) as program:
        assert program.stdout
        first, address = next(program.stdout), next(program.stdout)
        assert "ef_" in first
        assert "answering at http://127.0.0.1:" in address
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0
