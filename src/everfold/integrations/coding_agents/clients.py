"""What connecting a client puts where: its hooks, and the server of Everfold's tools."""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError
from everfold.integrations.coding_agents.connection import Connection, find_path
from everfold.integrations.coding_agents.edits import Addition

HOOK: Final = Path(__file__).with_name("hook.py")
PLUGIN: Final = Path(__file__).with_name("opencode_plugin.js")
HOOK_SECS: Final = 10
"""The client's own time limit for a hook; ours ends it long before."""
_SQLITE: Final = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One coding agent.

    Attributes:
        title: What its makers call it.
        list_additions: What connecting it puts into its files.
        advice: What is left for the user to do.
    """

    title: str
    list_additions: Callable[[Connection], list[Addition]]
    advice: str


def find_client(name: str) -> Client:
    """The client with a name.

    Raises:
        InvalidInputError: there is none.
    """
    if name not in CLIENTS:
        raise InvalidInputError(f"the client {name!r} is unknown: expected {', '.join(CLIENTS)}")
    return CLIENTS[name]


def write_hook_command(connection: Connection) -> str:
    """The shell command of a hook. It ends with 0 also where Everfold, or its Python, is not there any more."""
    words = [connection.python, "-I", "-S", str(HOOK), str(find_path(connection.client))]
    return f"{shlex.join(words)} 2>/dev/null || true"


def write_server_command(connection: Connection) -> list[str]:
    """The command that serves the tools of the user and the agent on standard input and output."""
    config = ["--config", connection.config] if connection.config else []
    file = connection.url.removeprefix(_SQLITE) if connection.url.startswith(_SQLITE) else None
    db = ["--db", file] if file is not None else []
    words = ["-m", "everfold.cli.main", *config, "mcp", "--user", connection.user, "--agent", connection.agent, *db]
    return [connection.python, *words]


def has_server() -> bool:
    """Whether the server of tools can be started."""
    return find_spec("mcp") is not None


def _write_hooks(connection: Connection, events: tuple[str, ...], file: Path) -> list[Addition]:
    hook: JsonValue = {"type": "command", "command": write_hook_command(connection), "timeout": HOOK_SECS}
    group: JsonValue = {"hooks": [hook]}
    return [Addition(file=str(file), form="json", path=("hooks", event), value=[group]) for event in events]


def _list_claude_code(connection: Connection) -> list[Addition]:
    """Source: Claude Code, documentation of settings, hooks and MCP; `CLAUDE_CONFIG_DIR` moves both files."""
    own = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(own) if own else Path.home() / ".claude"
    additions = _write_hooks(
        connection,
        ("UserPromptSubmit", "PreCompact", "SessionStart", "Stop", "SessionEnd"),
        folder / "settings.json",
    )
    if has_server():
        command, *arguments = write_server_command(connection)
        server: JsonValue = {"type": "stdio", "command": command, "args": [*arguments], "env": {}}
        servers = (Path(own) if own else Path.home()) / ".claude.json"
        additions.append(Addition(file=str(servers), form="json", path=("mcpServers", "everfold"), value=server))
    return additions


def _list_codex(connection: Connection) -> list[Addition]:
    """Source: Codex, documentation of hooks and MCP; `CODEX_HOME` moves both files."""
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    events = ("UserPromptSubmit", "PreCompact", "SessionStart", "Stop")
    additions = _write_hooks(connection, events, folder / "hooks.json")
    if has_server():
        command, *arguments = write_server_command(connection)
        server: JsonValue = {"command": command, "args": [*arguments]}
        file = str(folder / "config.toml")
        additions.append(Addition(file=file, form="toml", path=("mcp_servers", "everfold"), value=server))
    return additions


def _list_opencode(connection: Connection) -> list[Addition]:
    """Source: opencode, documentation of plugins; a plugin may add servers of tools to the settings that it is given."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode" / "plugins"
    server = write_server_command(connection) if has_server() else None
    text = PLUGIN.read_text(encoding="utf-8")
    text = text.replace("__CONNECTION__", json.dumps(str(find_path(connection.client))))
    text = text.replace("__SERVER__", json.dumps(server))
    return [Addition(file=str(folder / "everfold.js"), form="text", path=(), value=text)]


CLIENTS: Final = {
    "claude-code": Client(
        title="Claude Code",
        list_additions=_list_claude_code,
        advice="It holds for the sessions that you start from now on.",
    ),
    "codex": Client(
        title="Codex",
        list_additions=_list_codex,
        advice="Codex runs no hook before you trust it: start `codex`, and trust the new hooks when it asks, or with /hooks.",
    ),
    "opencode": Client(
        title="opencode",
        list_additions=_list_opencode,
        advice="It holds from the next start of opencode on.",
    ),
}
