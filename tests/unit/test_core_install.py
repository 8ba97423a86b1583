"""What works with the core install, and what says which extra it needs."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tests.support.sizes import every

HIDE = """
import sys
from importlib.machinery import PathFinder

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

HIDDEN = {hidden!r}
sys.meta_path = [Installed if finder is PathFinder else finder for finder in sys.meta_path]
"""

CLI = ("annotated-doc", "click", "markdown-it-py", "mdurl", "pygments", "rich", "shellingham", "typer")
"""The distributions of the extra `cli`."""

TALK = """
import everfold

for name in everfold.__all__:
    getattr(everfold, name)
with everfold.open_sync("memory://") as engine:
    session = engine.session()
    session.append({"role": "user", "content": "Hello."})
    print(len(session.window().render("openai")["messages"]), session.verify().is_sound)
"""

COMMAND = "import sys; sys.argv = ['everfold', *{arguments!r}]; from everfold.cli.entry import run; run()"


def run_installed(project: Path, program: str, *, extra: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing installed but the core's distributions, and those of an extra."""
    core = re.findall(r"^([\w.-]+)==", (project / "requirements" / "core.txt").read_text("utf-8"), re.MULTILINE)
    kept = {re.sub(r"[-_.]+", "-", name).lower() for name in (*core, *extra, "everfold")}
    hidden = {
        module
        for module, distributions in packages_distributions().items()
        if not any(re.sub(r"[-_.]+", "-", name).lower() in kept for name in distributions)
    }
    command = [sys.executable, "-c", HIDE.format(hidden=hidden) + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_library_works(project: Path) -> None:
    """Every public name is there, and a conversation is held."""
    done = run_installed(project, TALK)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 True\n", "")


@pytest.mark.parametrize("arguments", every(2, [[], ["--help"], ["chat"]]))
def test_the_command_says_what_it_needs(project: Path, arguments: list[str]) -> None:
    """Without its extra the command says so in one sentence, and ends as after any invalid input."""
    done = run_installed(project, COMMAND.format(arguments=arguments))
    expected = "error: the command line needs the extra `cli`: pip install 'everfold[cli]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


@pytest.mark.parametrize(
    ("arguments", "returncode", "said"),
    [
        (["--help"], 0, ""),
        pytest.param(
            ["chat"],
            2,
            "error: a chat needs the extra `agents`: pip install 'everfold[agents]'",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["serve"],
            2,
            "error: serving needs the extra `server`: pip install 'everfold[cli,server]'",
            marks=pytest.mark.slow,
        ),
        (["mcp"], 2, "error: an MCP server needs the extra `mcp`: pip install 'everfold[cli,mcp]'"),
    ],
)
def test_with_the_extra_the_command_works(project: Path, arguments: list[str], returncode: int, said: str) -> None:
    """With its extra alone the command works, and a part that needs another extra says so in one sentence."""
    done = run_installed(project, COMMAND.format(arguments=arguments), extra=CLI)
    assert (done.returncode, " ".join(done.stderr.split())) == (returncode, said)
