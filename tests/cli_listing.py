"""Print the reference of the command line: what `docs/reference/cli.md` holds."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import typer

from everfold.cli.main import app, load_command
from everfold.errors import EverfoldError

HEAD = """# The command line

<!-- Written by tests/cli_listing.py from the commands themselves; a test holds the two equal. -->

Install it with the `cli` extra: `pip install everfold[cli]`. Reports and documents go to standard output; progress, notes
and errors go to standard error. With `--json`, a command prints one JSON document and nothing else."""

EXIT_HEAD = """## Exit codes

A command exits with 0 if it succeeded, with 1 if it found a problem (`verify`, `replay`, `demo`) or did only part of its
work (`import`, `refresh`, `retry`), and with the code of its error if it failed. The error is printed to standard error;
`everfold --debug COMMAND` adds its traceback.

Example:
- `everfold verify --db everfold.db || echo "exit code $?"`

| code | errors |
| --- | --- |"""


def list_reference() -> Iterator[str]:
    """The lines of the reference."""
    group: Any = typer.main.get_command(app)
    group.commands = {name: load_command(name) for name in group.commands}
    yield HEAD
    yield ""
    yield "Options before the name of the command:"
    yield ""
    yield from _list_options(group)
    for name, command in list_commands(group):
        yield ""
        yield f"## everfold {name}"
        yield ""
        yield f"`everfold {name} {_usage(command)}`"
        yield ""
        yield inspect.cleandoc(command.help)
        if command.params:
            yield ""
            yield from _list_options(command)
    yield ""
    yield EXIT_HEAD
    yield from _list_exit_codes()


def list_commands(group: Any) -> Iterator[tuple[str, Any]]:
    """Every command with its name, each group before what is in it."""
    for name, command in group.commands.items():
        yield name, command
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", it) for inner, it in list_commands(command))


def _usage(command: Any) -> str:
    words = [
        _metavar(it) if it.required else f"[{_metavar(it).strip('[]')}]" for it in command.params if _is_argument(it)
    ]
    return " ".join([*words, "[OPTIONS]"])


def _list_options(command: Any) -> Iterator[str]:
    yield "| option | what it does | default |"
    yield "| --- | --- | --- |"
    for it in command.params:
        if _is_argument(it):
            names = f"`{_metavar(it)}`"
        else:
            names = f"`{', '.join(it.opts)}`" if it.is_flag else f"`{', '.join(it.opts)} {_metavar(it)}`"
        default = "" if it.default is None or it.is_flag or it.required else f"`{it.default}`"
        yield f"| {names.replace('|', chr(92) + '|')} | {it.help} | {default} |"


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar)


def _list_exit_codes() -> Iterator[str]:
    names: dict[int, list[str]] = {}
    found = [EverfoldError]
    while found:
        error = found.pop(0)
        found += error.__subclasses__()
        names.setdefault(error.exit_code, []).append(f"`{error.__name__}`")
    for code, errors in sorted(names.items()):
        yield f"| {code} | {', '.join(errors)} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in list_reference())
