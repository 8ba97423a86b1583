"""Connecting puts Everfold into a client's files, and disconnecting leaves them as they were, byte for byte."""

import json
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest

from everfold.errors import InvalidInputError, NotFoundError
from everfold.integrations.coding_agents.clients import CLIENTS
from everfold.integrations.coding_agents.connecting import Connected, connect, disconnect
from everfold.integrations.coding_agents.connection import find_path, find_socket, find_state_folder, read_connection

SETTINGS = '{"theme":"dark",\n    "hooks": {"Stop": [ {"hooks": []} ]\n}}'
STATE = '{\n  "numStartups": 3,\n  "mcpServers": {},\n  "name": "\u00e9\\ud83d"\n}\n'
CONFIG = '# mine\nmodel = "x"   # best\n\n[mcp_servers.other]\ncommand = "o"\n\n[tui]\ntheme = "dark"'
FILES = {
    "claude-code": {".claude/settings.json": SETTINGS, ".claude.json": STATE},
    "codex": {".codex/hooks.json": '{"hooks": {}}', ".codex/config.toml": CONFIG},
    "opencode": {},
}


def write_files(home: Path, client: str) -> dict[Path, bytes]:
    """What the client's own files hold."""
    for name, text in FILES[client].items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass") if "\ud83d" in text else text.encode())
    return read_files(home)


def read_files(home: Path) -> dict[Path, bytes]:
    """Every file of a home but Everfold's own."""
    own = find_state_folder()
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and own not in path.parents}


def connect_one(client: str, home: Path) -> Connected:
    """Connect a client to a store in the home."""
    return connect(client, user="ada", agent=None, url=f"sqlite:///{home / 'store' / 'e.db'}", config=None)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("is_new", [True, False])
def test_disconnect_gives_back_every_byte(home: Path, client: str, *, is_new: bool) -> None:
    """Files in whatever form are as they were, files that were not there are gone, and connecting twice changes nothing."""
    before = {} if is_new else write_files(home, client)
    first = connect_one(client, home)
    between = read_files(home)
    assert connect_one(client, home) == first
    assert read_files(home) == between != before
    assert sorted(disconnect(client)) == sorted(first.files)
    assert read_files(home) == before
    with pytest.raises(NotFoundError, match="not connected"):
        disconnect(client)


def test_claude_code_gets_hooks_and_tools(home: Path) -> None:
    """The five events have a hook, each of the user's own stays, and the tools are those of the user and the agent."""
    write_files(home, "claude-code")
    connect_one("claude-code", home)
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    assert settings["theme"] == "dark"
    assert set(settings["hooks"]) == {"UserPromptSubmit", "PreCompact", "SessionStart", "Stop", "SessionEnd"}
    assert settings["hooks"]["Stop"][0] == {"hooks": []}
    assert len(settings["hooks"]["Stop"]) == 2
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["everfold"]
    assert server["args"][2:] == ["mcp", "--user", "ada", "--agent", "claude-code", "--db", f"{home}/store/e.db"]


def test_codex_gets_hooks_and_tools(home: Path) -> None:
    """The hooks are in the hooks file, the tools in the settings, and no trust of the hooks is written."""
    write_files(home, "codex")
    connect_one("codex", home)
    assert set(json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]) == {
        "UserPromptSubmit",
        "PreCompact",
        "SessionStart",
        "Stop",
    }
    text = (home / ".codex" / "config.toml").read_text()
    assert text.startswith('# mine\nmodel = "x"   # best\n')
    assert "trust" not in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other", "everfold"}


@pytest.mark.parametrize(
    ("client", "name"), [("claude-code", ".claude/settings.json"), ("codex", ".codex/config.toml")]
)
def test_what_the_user_changes_meanwhile_stays(home: Path, client: str, name: str) -> None:
    """After a change of the user's own only what was put in goes."""
    write_files(home, client)
    connect_one(client, home)
    path = home / name
    path.write_text(path.read_text().replace("dark", "light"))
    disconnect(client)
    text = path.read_text()
    assert "light" in text
    assert "everfold" not in text


def test_a_file_that_cannot_be_read_stops_everything(home: Path) -> None:
    """Where one of the files is broken, none is changed, and the error names it."""
    before = write_files(home, "claude-code")
    broken = home / ".claude.json"
    broken.write_text("{ broken")
    with pytest.raises(InvalidInputError, match=r"\.claude\.json: the file is not valid JSON"):
        connect_one("claude-code", home)
    assert (home / ".claude" / "settings.json").read_bytes() == before[home / ".claude" / "settings.json"]


def test_a_link_and_the_rights_of_a_file_stay(home: Path) -> None:
    """A file behind a link is changed where it is, with the rights that it has."""
    real = home / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o640)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    connect_one("claude-code", home)
    assert (home / ".claude" / "settings.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "hooks" in json.loads(real.read_text())


def test_everfolds_own_files_are_private(home: Path) -> None:
    """The connection, and what was changed, are for the user alone to read."""
    connect_one("codex", home)
    own = [path for path in find_state_folder().rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in own} == {0o600}
    assert read_connection(find_path("codex")).agent == "codex"
    assert len(find_socket("sqlite:///" + "x" * 300)) < 108


def test_an_unknown_client_is_refused_with_the_known_ones(home: Path) -> None:
    """The error names what can be connected."""
    with pytest.raises(InvalidInputError, match="claude-code, codex, opencode"):
        connect_one("aider", home)


@pytest.mark.parametrize("part", ["hook.py", "python"])
def test_a_hook_ends_well_without_everfold(home: Path, tmp_path: Path, part: str) -> None:
    """The command of a hook says nothing and ends with 0 also where its program, or its Python, was removed."""
    connect_one("claude-code", home)
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["Stop"][-1]["hooks"][0]["command"]
    first, *rest = command.split(" ")
    gone = f"{first}-gone {' '.join(rest)}" if part == "python" else command.replace("hook.py", "gone.py")
    done = subprocess.run(["sh", "-c", gone], input=b"{}", capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
