"""The command `everfold`."""

import errno
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from everfold.cli import (
    agents,
    audit,
    cancel,
    chat,
    compact,
    config,
    demo,
    dream,
    dreams,
    erase,
    events,
    export,
    hands,
    importing,
    keys,
    memory,
    note,
    quarantine,
    refresh,
    replay,
    retry,
    search,
    serve,
    sessions,
    show,
    sources,
    topics,
    users,
    verify,
    wipe,
)
from everfold.cli.engine import Invocation, invocation_of
from everfold.cli.output import say
from everfold.errors import EverfoldError, InvalidInputError


class _Group(TyperGroup):
    """A command line that tells an error of ours in one sentence and ends with its exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EverfoldError as error:
            if invocation_of(ctx).debug:
                raise
            say(f"error: {error}", style="bold red")
            raise typer.Exit(error.exit_code) from error


app = typer.Typer(
    name="everfold",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="A context and memory engine for long-running LLM agents: conversations fold to fit, and nothing is lost.",
)


@app.callback()
def begin(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The settings file; `everfold.toml` here when left out.")
    ] = None,
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Read what stands before the command's name."""
    context.obj = Invocation(config=config, debug=debug)


for module in (
    chat,
    serve,
    replay,
    importing,
    sessions,
    show,
    search,
    events,
    compact,
    retry,
    cancel,
    note,
    verify,
    config,
    demo,
):
    app.command(name=module.NAME)(module.run)
app.add_typer(users.app)
app.add_typer(keys.app)
app.add_typer(memory.app)
app.add_typer(quarantine.app)
for module in (topics, audit, export, erase, wipe, dream):
    app.command(name=module.NAME)(module.run)
app.add_typer(dreams.app)
app.add_typer(sources.app)
app.command(name=refresh.NAME)(refresh.run)
app.command(name=agents.NAME)(agents.run)
app.add_typer(hands.app)


def run() -> None:
    """Run the command line of this process. Functions that are tools are also looked for in the working folder, last."""
    sys.path.append(str(Path.cwd()))
    _prepare_streams()
    try:
        app(prog_name="everfold")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.stdout = _open_nowhere()  # what is left in the old one cannot be written either
        say(f"error: what was to be printed cannot be written: {error.strerror}", style="bold red")
        sys.exit(InvalidInputError.exit_code)


def _prepare_streams() -> None:
    """Let both streams take every character, as a `?` where their encoding has none, and be there where they were closed."""
    sys.stdout = sys.stdout or _open_nowhere()
    sys.stderr = sys.stderr or _open_nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _open_nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


if __name__ == "__main__":
    run()
