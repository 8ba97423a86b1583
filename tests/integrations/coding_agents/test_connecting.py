"""Connecting puts Everfold into a client's files, and disconnecting leaves them as they were, byte for byte."""

import json
import re
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


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("is_new", [True, False])
def test_a_kill_between_two_writes_leaves_what_disconnect_takes_out(
    home: Path, client: str, monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    """After a kill before any file is put in place, disconnecting gives back every byte, and connecting works again."""
    before = {} if is_new else write_files(home, client)
    whole, replace = connect_one(client, home), Path.replace
    disconnect(client)

    def connect_until(count: int) -> None:
        left = iter(range(count))

        def place(path: Path, target: Path) -> Path:
            if next(left, None) is None:
                raise Killed
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", place)
        try:
            connect_one(client, home)
        finally:
            monkeypatch.setattr(Path, "replace", replace)

    for count in range(len(whole.files) + 2):
        with pytest.raises(Killed):
            connect_until(count)
        if count:
            disconnect(client)
            assert read_files(home) == before
    with pytest.raises(Killed):
        connect_until(len(whole.files) + 1)
    assert connect_one(client, home) == whole
    disconnect(client)
    assert read_files(home) == before


def test_a_cut_record_of_changes_is_named(home: Path) -> None:
    """Where the record of what was changed is cut, connecting and disconnecting say which file it is, and what to do."""
    connect_one("codex", home)
    record = find_path("codex").with_suffix(".changes.json")
    for content in (record.read_bytes()[:-40], b"\xff", b'[{"file": "x"}]', b"3"):
        record.write_bytes(content)
        for act in (lambda: connect_one("codex", home), lambda: disconnect("codex")):
            with pytest.raises(InvalidInputError, match=r"codex\.changes\.json is no record of changes; delete it"):
                act()


@pytest.mark.parametrize("place", [".claude/settings.json/x", ".claude", ".local/state", "store"])
def test_a_path_that_cannot_be_used_is_named(home: Path, place: str) -> None:
    """A folder in the place of a file, or a file in that of a folder, is named, and nothing of the client is changed."""
    wrong = home / place
    wrong.parent.mkdir(parents=True, exist_ok=True)
    wrong.write_text("{}")
    before = read_files(home)
    named = wrong.parent if wrong.name == "x" else wrong
    with pytest.raises(InvalidInputError, match=f"{re.escape(str(named))}.* cannot be .*try again"):
        connect_one("claude-code", home)
    assert read_files(home) == before
    with pytest.raises(NotFoundError, match="not connected"):
        disconnect("claude-code")


def test_a_file_that_cannot_be_written_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one of the files, or the connection, cannot be written, the others are as they were before."""
    before, replace = write_files(home, "claude-code"), Path.replace
    for name in (".claude.json", "claude-code.json"):

        def refuse(path: Path, target: Path, name: str = name) -> Path:
            if target.name == name:
                raise PermissionError(13, "Permission denied")
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", refuse)
        with pytest.raises(InvalidInputError, match=rf"{re.escape(name)} cannot be written: Permission denied"):
            connect_one("claude-code", home)
        assert read_files(home) == before
        assert not find_path("claude-code").exists()


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
    """The connection, and what was changed, are for the user alone to read, also where others could read them before."""
    for _ in range(2):
        connect_one("codex", home)
        own = [path for path in find_state_folder().rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in own} == {0o600}
        for path in own:
            path.chmod(0o644)
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
