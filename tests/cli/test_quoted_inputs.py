"""No refusal of a command repeats more than a piece of its arguments."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.cli.conftest import Run
from tests.support.long_inputs import LONG, find_repeated
from tests.support.sizes import AT_FULL_SIZE, some
from typer.testing import CliRunner

from everfold.cli.main import MODULES, RENAMED, app, load_command

LONG_RUNNING: Final = frozenset({"demo", "gateway", "serve"})


def list_command_lines(long: str) -> Iterator[list[str]]:
    """Each command with a long argument, a long unknown option, and a long value of each of its options."""
    yield [long]
    yield [f"--{long}"]
    yield ["--config", long, "config"]
    yield from ([name, long] for name in RENAMED)
    for name in MODULES:
        yield [name, f"--{long}"]
        if name in LONG_RUNNING:
            yield [name, long]
            continue
        for path, command in list_commands([name], load_command(name)):
            yield [*path, long]
            options = [one for one in command.params if one.opts[0].startswith("--") and not one.is_flag]
            yield from ([*path, one.opts[0], long] for one in options)


def list_commands(path: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    """A command, and those below it."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from list_commands([*path, name], below)


@pytest.mark.parametrize("kind", ["unbroken", "words"])
def test_no_command_repeats_a_long_argument(run: Run, kind: str) -> None:
    """Whatever argument or option is a very long text, the refusal quotes a piece of it and shows no traceback.

    By day each is one kind of text.
    """
    run("users", "add", "ada", "--db", "everfold.db")
    long, refused = LONG[kind], 0
    for number, arguments in enumerate(list_command_lines(long), kind == "words"):
        if number % 2 and not AT_FULL_SIZE:
            continue
        result = CliRunner().invoke(app, arguments, prog_name="everfold", input="")
        assert result.exception is None or isinstance(result.exception, SystemExit), (arguments[:-1], result.exception)
        if result.exit_code:
            refused += 1
            assert not find_repeated(result.output, long), (arguments[:-1], result.output[:800])
    assert refused > some(100, 50)
