"""A server of tools for tests: `tool_server.py stdio|http [PORT]`. Its process id goes to the file in TOOL_SERVER_PIDS."""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("desk")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def read_note(name: str) -> str:
    """Read a note."""
    return f"The note {name} says: the ferry leaves at 16:40."


@server.tool()
def read_key() -> str:
    """Say what the environment holds."""
    return f"key={os.environ.get('DESK_KEY', 'none')} other={os.environ.get('OTHER_KEY', 'none')}"


@server.tool(annotations=ToolAnnotations(read_only_hint=False))
def write_note(name: str) -> str:
    """Write a note."""
    Path(os.environ["DESK_NOTES"]).write_text(name, "utf-8")
    return "written"


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.sleep(3600)
    return "at last"


@server.tool()
def fail() -> str:
    """Fail, with a secret in the words of it."""
    raise ToolError(f"no desk here, {os.environ.get('DESK_KEY', '')}")


if __name__ == "__main__":
    if "TOOL_SERVER_PIDS" in os.environ:
        with Path(os.environ["TOOL_SERVER_PIDS"]).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    if sys.argv[1] == "http":
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
