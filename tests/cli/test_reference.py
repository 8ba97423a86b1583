"""The reference says everything that the command line takes, and each command shows how it is used."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from everfold.cli.main import MODULES, RENAMED, app, load_command

GROUP: Any = typer.main.get_command(app)
GROUP.commands = {name: load_command(name) for name in GROUP.commands}


def list_commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, those within a group too."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{before}{name} ")


BY_NAME = dict(list_commands(GROUP))
COMMANDS = sorted(BY_NAME)


def test_reference_is_what_the_commands_say(project: Path) -> None:
    """`docs/reference/cli.md` is the listing of the commands as they are; `python tests/cli_listing.py` writes it anew."""
    listing = subprocess.run(
        [sys.executable, project / "tests" / "cli_listing.py"], capture_output=True, text=True, check=True
    )
    assert listing.stdout == (project / "docs" / "reference" / "cli.md").read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_reference(project: Path, name: str) -> None:
    """The section of a command names each of its options and arguments, and each is explained."""
    text = (project / "docs" / "reference" / "cli.md").read_text("utf-8")
    section = text.partition(f"## everfold {name}\n")[2].partition("\n## ")[0]
    for parameter in BY_NAME[name].params:
        assert parameter.help, parameter.name
        shown = parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0]
        assert f"| `{shown}" in section


@pytest.mark.parametrize("name", MODULES)
def test_the_list_of_commands_begins_as_their_help(name: str) -> None:
    """What `everfold --help` says of a command, without loading it, is the first paragraph of its own help."""
    assert " ".join(cleandoc(BY_NAME[name].help).partition("\n\n")[0].split("\n")) == MODULES[name][1]


def test_help_loads_no_command() -> None:
    """`everfold --help` loads neither a command nor the engine nor the settings."""
    program = (
        "import sys; from everfold.cli.main import app; app(['--help'], standalone_mode=False); "
        "print(sorted({'pydantic', 'apsw', 'everfold.engine', 'everfold.cli.commands'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"
    assert " wipe " in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(run: Callable[..., Result], name: str) -> None:
    """The help of every command shows at least one whole command line of it, and that it can speak JSON."""
    text = run(*name.split(), "--help").stdout
    assert f"everfold {name}" in text.partition("Examples:")[2] or f" {name} " in text.partition("Examples:")[2]
    assert "--json" in text


def test_the_commands_are_those_that_were_promised() -> None:
    """The command line has the commands of the documentation, no more and no fewer."""
    promised = (
        "agents api-keys audit backup cancel chat compact compactions completion config connect demo disconnect dream dreams erase export gateway hands import mcp memory note quarantine refresh replay restore retry search serve sessions show "
        "sources store topics users verify wipe worker"
    )
    assert promised.split() == sorted(GROUP.commands)
    assert sorted(BY_NAME["users"].commands) == ["add", "show"]
    assert sorted(BY_NAME["api-keys"].commands) == ["add", "list", "revoke"]
    assert sorted(BY_NAME["dreams"].commands) == ["approve", "reject", "revert"]
    assert sorted(BY_NAME["sources"].commands) == ["list", "test"]
    inner = "add edit forget list search show undo why"
    assert sorted(BY_NAME["memory"].commands) == inner.split()


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_renamed_command_is_refused_with_its_new_name(run: Callable[..., Result], old: str, new: str) -> None:
    """The old name of a command is no alias: it is refused, and the error names the new one."""
    refused = run(old, code=2)
    assert f"the command '{old}' is now called '{new}'" in " ".join(refused.output.replace("\u2502", " ").split())
