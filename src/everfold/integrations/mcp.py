"""A server of the Model Context Protocol: one user's memory and past conversations with one agent, as tools.

A client in which the user works (an editor, a desktop app, another agent) gets the tools that an agent of ours has. It
sends us no messages of its own conversation: what it is to keep it notes with `memory_add`. Over stdio the program that
starts the server is trusted with the store. Over HTTP every request brings an API key, which must see what is between
the user and the agent; one that only reads gets the tools that only read.

Versions 1 and 2 of the protocol's SDK make a server in two ways and name the fields of its types differently; so types are
made from the names of the protocol, which both read.

Source: Model Context Protocol, 2025-11-25: transports, tools and their annotations.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final

from everfold.core.access.api_keys import ApiKey, may_see_session, may_write
from everfold.core.memory.schemas import list_memory_schemas
from everfold.engine import Everfold
from everfold.errors import AccessError, ForbiddenError, InvalidInputError, UnauthenticatedError

if find_spec("mcp") is None:
    raise InvalidInputError("an MCP server needs the extra `mcp`: pip install 'everfold[mcp]'")

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, ListToolsResult, Tool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

PATH: Final = "/mcp"
"""Where a client finds the server over HTTP. Source: the path that the SDK's own servers and clients use."""
INSTRUCTIONS: Final = (
    "What is known of the user, and their past conversations. Call memory_list when a conversation begins. Note with "
    "memory_add what will matter in later ones. Find what was said before with history_search."
)
_READERS: Final = frozenset({"memory_list", "memory_search", "history_search", "history_read"})
_REMOVERS: Final = frozenset({"memory_replace", "memory_remove", "memory_batch"})
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_Call = Callable[[str, Any], Awaitable[CallToolResult]]


def make_server(engine: Everfold, *, user: str, agent: str, reads_only: bool = False) -> "Server[Any]":
    """A server of the tools of one user and one agent, for any transport.

    The session is looked up for each call, so that `history_read` without a session reads the one that is current then.
    A client has no turns, so failed writes are not counted.

    Args:
        engine: Open, for as long as the server runs.
        user: Whose memory: a name, `default`, or an id.
        agent: Whose notes and conversations.
        reads_only: Only the tools that change nothing.
    """
    tools = [tool for tool in map(_read_schema, list_memory_schemas()) if tool.name in _READERS or not reads_only]
    names = [tool.name for tool in tools]

    async def call(name: str, arguments: Any) -> CallToolResult:
        if name not in names:
            return _answer(f"There is no such tool. There are {', '.join(names)}.", is_error=True)
        session = await engine.session(user=user, agent=agent, create=False)
        given = await session.tools().call(name, arguments or {})
        return _answer(given.text, is_error=given.is_error)

    return _make_first(tools, call) if hasattr(Server, "call_tool") else _make_second(tools, call)


def _make_first(tools: list[Tool], call: _Call) -> "Server[Any]":
    """A server of version 1 of the SDK, which takes its functions by decorators."""
    made: Any = Server("everfold", version=version("everfold"), instructions=INSTRUCTIONS)

    async def list_tools() -> list[Tool]:
        return tools

    made.list_tools()(list_tools)
    made.call_tool(validate_input=False)(call)
    server: Server[Any] = made
    return server


def _make_second(tools: list[Tool], call: _Call) -> "Server[Any]":
    """A server of version 2 of the SDK, which takes its functions when it is made."""

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_context: object, params: Any) -> CallToolResult:
        return await call(params.name, params.arguments)

    return Server(
        "everfold",
        version=version("everfold"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(engine: Everfold, *, user: str, agent: str) -> None:
    """Answer on standard input and output until the input ends. Nothing else may be printed on the output."""
    server = make_server(engine, user=user, agent=agent)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def open_app(engine: Everfold, *, user: str, agent: str, hosts: tuple[str, ...] = ()) -> AsyncIterator["App"]:
    """An ASGI app that answers at `/mcp` (streamable HTTP), for as long as the context lasts.

    Args:
        engine: Open.
        user: Whose memory; made where there is no such user.
        agent: Whose notes and conversations.
        hosts: What may stand in `Host` beside loopback, without the port.
    """
    allowed = [form for host in (*_LOOPBACK, *hosts) for form in (host, f"{host}:*")]
    guard = TransportSecuritySettings(
        allowed_hosts=allowed,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in allowed],
    )
    writing, reading = (
        StreamableHTTPSessionManager(
            make_server(engine, user=user, agent=agent, reads_only=reads_only),
            json_response=True,
            stateless=True,
            security_settings=guard,
        )
        for reads_only in (False, True)
    )
    async with writing.run(), reading.run():
        yield App(engine=engine, user=user, agent=agent, writing=writing, reading=reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The ASGI app: `open_app` makes it."""

    engine: Everfold
    user: str
    agent: str
    writing: StreamableHTTPSessionManager = field(repr=False)
    reading: StreamableHTTPSessionManager = field(repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request at `/mcp` whose key may see the user and the agent; refuse any other one."""
        if scope["type"] != "http":
            return
        if scope["path"].rstrip("/") != PATH:
            await _refuse(404, f"there is only {PATH} here")(scope, receive, send)
            return
        try:
            key = await self._identify(Request(scope))
        except AccessError as error:
            await _refuse(error.http_status, str(error))(scope, receive, send)
            return
        manager = self.writing if may_write(key.scope) else self.reading
        await manager.handle_request(scope, receive, send)

    async def _identify(self, request: Request) -> ApiKey:
        """The key that a request brings.

        Raises:
            UnauthenticatedError: it brings none, or one that does not work.
            ForbiddenError: the key does not see this user with this agent.
        """
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise UnauthenticatedError(
                "This needs an API key. Send `Authorization: Bearer ef_...`; `everfold api-keys add` creates one."
            )
        key = await self.engine.admin.api_keys.check(secret.strip())
        session = await self.engine.session(user=self.user, agent=self.agent, create=False)
        if not may_see_session(key.scope, session.record.user_id, session.record.agent_id):
            raise ForbiddenError(
                f"API key {key.name!r} has no access to the user {self.user!r} with the agent {self.agent!r}.",
                api_key=key.id,
            )
        return key


def _read_schema(schema: Any) -> Tool:
    """A tool of ours as the protocol describes it."""
    function = schema["function"]
    name = function["name"]
    return Tool.model_validate(
        {
            "name": name,
            "description": function["description"],
            "inputSchema": function["parameters"],
            "annotations": {
                "readOnlyHint": name in _READERS,
                "destructiveHint": name in _REMOVERS,
                "openWorldHint": False,
            },
        }
    )


def _answer(text: str, *, is_error: bool) -> CallToolResult:
    return CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": is_error})


def _refuse(status: int, detail: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == UnauthenticatedError.http_status else {}
    return JSONResponse({"status": status, "detail": detail}, status, headers)
