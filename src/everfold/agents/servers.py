"""Servers of tools that speak the Model Context Protocol: a program of this machine, or an address.

A program gets the few variables that every program needs and those that its settings name, and nothing else of our
environment; it ends with its user. Values by reference are read when a server is opened, are in no settings
and never repeated in an error. Where an address redirects to another origin nothing is followed.

Source: Model Context Protocol, 2025-11-25, transports and tool annotations.
"""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TextIO

from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport
from httpx2 import AsyncClient, Auth, Timeout
from pydantic_ai import RunContext, ToolsetTool
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

from everfold.adapters.sources.reaching import GuardedTransport
from everfold.agents.tool_errors import MEANT, SHOWN_CHARS, say_briefly
from everfold.core.sources.source_texts import clean_line
from everfold.core.threats.redaction import redact_secrets
from everfold.errors import EverfoldError, InvalidInputError, ToolServerError
from everfold.sections import McpSettings

START_SECS: Final = 20.0
"""How long a server may take until it says what it has; a program that a package runner fetches first takes some."""
_TIMEOUT: Final = Timeout(30.0, read=300.0)
"""A server may hold a stream open. Source: the defaults of the MCP SDK's own client."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
"""What may stand in a tool's name. Source: the providers' rule for it, [A-Za-z0-9_-]{1,64}."""


def open_server(
    name: str, settings: McpSettings, *, reads_only: bool, environ: Mapping[str, str]
) -> AbstractToolset[object]:
    """The tools of a server, each under `NAME_tool`; it is started or reached when they are entered.

    Raises:
        InvalidInputError: the name cannot stand in the name of a tool, or a variable is not set.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"the tool server {name!r} needs a name of letters, digits, - and _, of at most 32: it is a part of the "
            "names of its tools"
        )
    env = _read_values(name, settings.env, environ)
    headers = _read_values(name, settings.headers, environ)
    transport: ClientTransport
    if settings.url is None:
        program, *arguments = settings.command
        transport = StdioTransport(program, arguments, env=env, keep_alive=False)
    else:
        transport = StreamableHttpTransport(
            settings.url,
            headers=headers,
            httpx_client_factory=_guard(name, settings.url, allow_private=settings.allow_private),
        )
    opened: MCPToolset[object] = MCPToolset(
        transport, id=name, tool_error_behavior="failed", init_timeout=START_SECS, include_instructions=False
    )
    return _ServerTools(
        wrapped=opened,
        name=name,
        transport=transport,
        allow=settings.allow,
        reads_only=reads_only,
        values=(*env.values(), *headers.values()),
    ).prefixed(name)


def _guard(name: str, url: str, *, allow_private: bool) -> Callable[..., AsyncClient]:
    """Makes clients that reach what the settings name, and no private network that a name leads to."""

    def refuse(host: str) -> ToolServerError:
        return ToolServerError(
            f"the tool server {name!r} leads to {clean_line(host, most_chars=100)}, which is in a private network; "
            "set allow_private = true for this server if that is intended"
        )

    def make(
        headers: dict[str, str] | None = None,
        timeout: Timeout | None = None,
        auth: Auth | None = None,
        **_options: object,  # redirects would be followed to other origins, with our headers
    ) -> AsyncClient:
        transport = GuardedTransport(url, refuse=refuse, allow_private=allow_private)
        return AsyncClient(transport=transport, headers=headers, timeout=timeout or _TIMEOUT, auth=auth)

    return make


def _read_values(name: str, references: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Each key with the value of the variable that holds it."""
    for key, variable in references.items():
        if not environ.get(variable):
            raise InvalidInputError(
                f"the tool server {name!r} needs the variable {variable} for {key}, which is not set; set it for the "
                "process that runs Everfold",
                variable=variable,
            )
    return {key: environ[variable] for key, variable in references.items()}


@dataclass(kw_only=True)
class _ServerTools(WrapperToolset[object]):
    """The tools of one server that may be used; what goes wrong with it is told with its name.

    Attributes:
        values: What is never repeated.
    """

    name: str
    transport: ClientTransport
    allow: tuple[str, ...] | None
    reads_only: bool
    values: Sequence[str] = field(repr=False)
    _said: TextIO | None = field(default=None, init=False, repr=False)
    _users_count: int = field(default=0, init=False, repr=False)

    async def __aenter__(self) -> Self:
        self._listen()
        is_in = False
        try:
            await super().__aenter__()
            is_in = True
        except Exception as error:
            raise ToolServerError(
                f"the tool server {self.name!r} cannot be used: {say_briefly(error, hide=self._hide)}{self._read_last()}; "
                "check its command or address, and start it by hand to see more"
            ) from error
        finally:
            if not is_in:
                self._stop_listening()
        return self

    async def __aexit__(self, *args: object) -> bool | None:
        try:
            return await super().__aexit__(*args)
        finally:
            self._stop_listening()

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:
        """Those that are allowed."""
        try:
            known = await super().get_tools(ctx)
        except EverfoldError:
            raise
        except Exception as error:
            raise ToolServerError(
                f"the tool server {self.name!r} did not list its tools: {say_briefly(error, hide=self._hide)}; start it by hand to see more"
            ) from error
        missing = [name for name in self.allow or () if name not in known]
        if missing:
            raise InvalidInputError(
                f"the tool server {self.name!r} has no {', '.join(missing)}; it has {', '.join(sorted(known))}: "
                "correct its `allow`"
            )
        allowed = {name: tool for name, tool in known.items() if self.allow is None or name in self.allow}
        self._require_readers(allowed)
        return allowed

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[object], tool: ToolsetTool[object]
    ) -> Any:
        """What the tool answers; a server that failed is told to the model."""
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        except (ModelRetry, ToolFailed) as error:
            raise type(error)(self._hide(error.message)) from error
        except MEANT:
            raise
        except Exception as error:
            raise ToolFailed(
                f"the tool server {self.name} failed with {say_briefly(error, hide=self._hide)}"
            ) from error

    def _require_readers(self, tools: Mapping[str, ToolsetTool[object]]) -> None:
        """Refuse a tool that writes by its server's own word; a server that says nothing is believed to be read."""
        if not self.reads_only:
            return
        for name, tool in tools.items():
            said = (tool.tool_def.metadata or {}).get("annotations") or {}
            if said.get("readOnlyHint") is False or said.get("destructiveHint") is True:
                raise InvalidInputError(
                    f"the tool {name!r} of the server {self.name!r} is declared as writing, but a hand may only "
                    "read; remove it from `allow`"
                )

    def _read_last(self) -> str:
        """The last line that a program wrote to stderr, where it wrote any."""
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = [line for line in self._said.read().splitlines() if line.strip()]
        return f" ({clean_line(redact_secrets(self._hide(lines[-1])), most_chars=SHOWN_CHARS)})" if lines else ""

    def _listen(self) -> None:
        """Keep what a program says on stderr in a file without a name, for as long as the program is in use."""
        self._users_count += 1
        if isinstance(self.transport, StdioTransport) and self._said is None:
            self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below
            self.transport.log_file = self._said

    def _stop_listening(self) -> None:
        self._users_count -= 1
        if self._users_count <= 0 and self._said is not None:
            self._said.close()
            self._said = None

    def _hide(self, text: str) -> str:
        for value in sorted(self.values, key=len, reverse=True):  # one may begin with another
            text = text.replace(value, "[a value that is not shown]")
        return text
