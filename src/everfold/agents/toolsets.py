"""Tools of agents and hands: Python functions by import path, and servers that speak MCP.

A tool that fails tells the model so, in one line without secrets, and ends nothing: the model decides what to do next.
"""

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from pydantic_ai import FunctionToolset, Tool
from pydantic_ai.exceptions import ToolFailed, UserError
from pydantic_ai.toolsets import AbstractToolset

from everfold.adapters.sources.own_threads import OwnThreads
from everfold.agents.tool_errors import MEANT, say_briefly
from everfold.errors import InvalidInputError
from everfold.sections import McpSettings

MOST_THREADS: Final = 8
"""How many calls of one plain function run at once; models call a handful of tools in one step."""


def open_toolsets(
    tools: Sequence[str],
    mcp: Mapping[str, McpSettings],
    *,
    reads_only: bool = False,
    environ: Mapping[str, str] | None = None,
) -> list[AbstractToolset[object]]:
    """The tool sets of an agent; functions are imported, and no server is started or reached before they are entered.

    The functions keep their names. The tools of a server have its name before theirs: `SERVER_tool`.

    Args:
        tools: Python functions, each `package.module:function`, plain or async; their types and docstrings are what a
            model reads. A plain one runs on a thread of its own: it may block, and one that hangs is left behind when
            its caller gives up.
        mcp: Servers by name.
        reads_only: Refuse tools of which their server says that they write.
        environ: Where keys are looked up; the environment of this process when left out.

    Raises:
        InvalidInputError: a function cannot be imported or offered, two have one name, a server's name cannot stand in
            the name of a tool, or a variable that holds a value for it is not set.
    """
    environ = os.environ if environ is None else environ
    opened: list[AbstractToolset[object]] = []
    if tools:
        opened.append(FunctionToolset(_make_tools(tools)))
    if mcp:
        if find_spec("fastmcp") is None:
            raise InvalidInputError("tool servers need the extra `agents`: pip install 'everfold[agents]'")
        from everfold.agents.servers import open_server

        opened += [open_server(name, mcp[name], reads_only=reads_only, environ=environ) for name in mcp]
    return opened


def _make_tools(paths: Sequence[str]) -> list[Tool[object]]:
    made: dict[str, Tool[object]] = {}
    for path in paths:
        tool = _make_tool(path)
        if tool.name in made:
            raise InvalidInputError(f"two tools are called {tool.name!r}, one of them {path}; rename a function")
        made[tool.name] = tool
    return list(made.values())


def _make_tool(path: str) -> Tool[object]:
    function = _load(path)
    try:
        return Tool(_soften(function, path))
    except (UserError, TypeError, ValueError, NameError) as error:
        raise InvalidInputError(
            f"the tool {path} cannot be offered to a model: {say_briefly(error)}; check its types"
        ) from error


def _load(path: str) -> Callable[..., object]:
    module, _, name = path.partition(":")
    try:
        found: object = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        raise InvalidInputError(
            f"the tool {path} cannot be imported: {say_briefly(error)}; check the import path and PYTHONPATH"
        ) from error
    if not inspect.isroutine(found):
        raise InvalidInputError(f"the tool {path} is a {type(found).__name__}; name a function")
    return found


@cache
def _threads_of(path: str) -> OwnThreads:
    """The threads of one function, however often it is opened: one that hangs takes these, and then no more."""
    return OwnThreads(f"tool {path}", most_threads=MOST_THREADS)


def _soften(function: Callable[..., object], path: str) -> Callable[..., Awaitable[object]]:
    """The function as a model may call it: never blocking, and telling its failure."""
    threads = _threads_of(path)
    is_async = inspect.iscoroutinefunction(function)

    @wraps(function)
    async def call(*args: object, **named: object) -> object:
        ask = partial(function, *args, **named)
        try:
            answer = ask() if is_async else await threads.run(ask)
            return await answer if isinstance(answer, Awaitable) else answer
        except MEANT:
            raise
        except (Exception, SystemExit) as error:
            raise ToolFailed(f"{function.__name__} failed with {say_briefly(error)}") from error

    return call
