"""The command `everfold`."""

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from everfold.cli.opening.invocation import Invocation, invocation_of
from everfold.errors import EverfoldError, InvalidInputError, shorten

MODULES: Final = {
    "chat": (
        "chat.command",
        "Chat with an agent. The conversation continues where it stopped, and every message is stored at once.",
    ),
    "serve": ("commands.serve", "Serve the HTTP API and the dashboard."),
    "gateway": (
        "commands.gateway",
        "Serve a proxy for the APIs of OpenAI and Anthropic that stores and folds conversations.",
    ),
    "worker": (
        "commands.worker",
        "Run the background work of a PostgreSQL store: compactions, refreshes, extractions and dreams.",
    ),
    "mcp": (
        "commands.mcp",
        "Serve a user's memory and past conversations as tools to an MCP client.",
    ),
    "connect": (
        "commands.connect",
        "Connect a coding agent, to restore what its own compaction leaves out.",
    ),
    "disconnect": (
        "commands.disconnect",
        "Disconnect a coding agent: remove from its settings exactly what `everfold connect` added.",
    ),
    "replay": (
        "commands.replay",
        "Replay a transcript message by message, as in a live session, and report the result.",
    ),
    "import": (
        "commands.importing",
        "Store each conversation of a transcript as a session, or import the export of a user.",
    ),
    "sessions": ("commands.sessions", "List sessions in the order of their creation."),
    "show": (
        "commands.show",
        "Read the newest messages of a session, messages by number, or the window. Nothing is changed.",
    ),
    "search": (
        "commands.search",
        "Find the messages that answer a question, best first, with the session and sequence number of each.",
    ),
    "compactions": (
        "commands.compactions",
        "List the compactions of a session with the reason, result, state and cost of each.",
    ),
    "compact": (
        "commands.compact",
        "Compact a session now, even if no compaction is due. Waits for a model's digest.",
    ),
    "retry": (
        "commands.retry",
        "Write the digest of a degraded compaction again, with the model. It replaces the extractive digest.",
    ),
    "cancel": (
        "commands.cancel",
        "Cancel a pending compaction and those after it. No message was removed.",
    ),
    "note": (
        "commands.note",
        "Print the continuity note: it names the folded messages whose digest is still being written.",
    ),
    "verify": (
        "commands.verify",
        "Check that nothing is lost: every message, every certificate, every digest in the window, and the files.",
    ),
    "config": ("commands.config", "Print every setting with its effective value and where it came from."),
    "demo": (
        "commands.demo",
        "Fold a long sample conversation to a tenth of its size, and show where its important facts are.",
    ),
    "topics": (
        "commands.topics",
        "List the topics of a user's memory, or show every revision of one topic and its items.",
    ),
    "audit": (
        "commands.audit",
        "List reads and changes of a user's memory, newest first: when, by whom, what, and which ids.",
    ),
    "export": (
        "commands.export",
        "Export all memory of a user as one JSON document; `everfold import` reads it.",
    ),
    "erase": (
        "commands.erase",
        "Erase messages or a session, and everything derived only from them. This cannot be undone.",
    ),
    "wipe": (
        "commands.wipe",
        "Erase all memory of a user in one step, and print counts. The user and the audit stay.",
    ),
    "dream": (
        "commands.dream",
        "Run a dream now: update topics with the items that are new since the last dream, and show the changes.",
    ),
    "refresh": (
        "commands.refresh",
        "Ask every allowed context source what happened since its last answer, and store the answers as one message.",
    ),
    "agents": ("commands.agents", "List the agents of the settings: the model, the tools and the memory of each."),
    "users": ("commands.users", "List users, the oldest first."),
    "api-keys": ("commands.api_keys", "Create, list and revoke the API keys of a server."),
    "memory": (
        "commands.memory",
        "Read and change the memory items of a user. Each item is a statement with its source messages.",
    ),
    "quarantine": (
        "commands.quarantine",
        "List the items in quarantine and the findings of the scan. No model sees these items.",
    ),
    "dreams": (
        "commands.dreams",
        "List dreams, newest first, each with the lines that it added to topics and removed from them.",
    ),
    "store": ("commands.store", "Copy a whole store into another one."),
    "backup": ("commands.backup", "Copy the database into a new file, even while a server uses it."),
    "restore": (
        "commands.restore",
        "Replace the database with a copy of a backup. The replaced database is kept beside it.",
    ),
    "completion": ("commands.completion", "Print a script that completes commands and options in a shell."),
    "sources": ("commands.sources", "List the context sources, and test one."),
    "hands": (
        "commands.hands",
        "List the hands of the settings: short-lived agents that answer one question in isolation.",
    ),
}
"""The module of every command, and how its help begins: what a list of the commands shows without loading any."""


RENAMED: Final = {"events": "compactions", "keys": "api-keys"}
"""Commands that have another name since: the old one is refused, and the error names the new one."""


_REFUSALS: Final[Any] = typer.BadParameter.__base__
"""What the command line's library raises for arguments that it refuses."""


@contextmanager
def _shortening() -> Iterator[None]:
    """Within it, a refusal of an argument repeats no more of it than our own errors do."""
    try:
        yield
    except _REFUSALS as error:
        error.message = shorten(error.message)
        raise


class _Group(TyperGroup):
    """A command line that tells an error of ours in one sentence and ends with its exit code.

    It lists commands from their names and summaries, and loads the one that is run.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, help=summary, rich_markup_mode="markdown")
            for name, (_, summary) in MODULES.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in RENAMED:
            ctx.fail(f"the command '{args[0]}' is now called '{RENAMED[args[0]]}'")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(command.name)), rest

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _shortening():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _shortening():
                return super().invoke(ctx)
        except EverfoldError as error:
            if invocation_of(ctx).debug:
                raise
            _say_error(str(error))
            raise typer.Exit(error.exit_code) from error
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            _say_error(shorten(f"the name of the file {str(error.filename)!r} is too long; choose a shorter one"))
            raise typer.Exit(InvalidInputError.exit_code) from error


def load_command(name: str) -> Any:
    """A command with all its options, or a group of commands, from its module."""
    module = import_module(f"everfold.cli.{MODULES[name][0]}")
    holder = typer.Typer(rich_markup_mode="markdown", add_completion=False, pretty_exceptions_enable=False)
    holder.callback()(begin)
    if hasattr(module, "app"):
        holder.add_typer(module.app)
    else:
        holder.command(name=module.NAME)(module.run)
    return typer.main.get_group(holder).commands[name]


app = typer.Typer(
    name="everfold",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="A context and memory engine for long-running LLM agents: conversations fold to fit, and no message is lost.",
)


def _print_version(is_asked: bool) -> None:  # noqa: FBT001 - a callback of an option
    if is_asked:
        from importlib.metadata import version

        sys.stdout.write(f"everfold {version('everfold')}\n")
        raise typer.Exit


@app.callback()
def begin(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The settings file. Default: `everfold.toml` in the working folder."),
    ] = None,
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[  # noqa: ARG001 - it has ended the program
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Read what stands before the command's name."""
    context.obj = Invocation(config=config, debug=debug)


def run() -> None:
    """Run the command line of this process. Functions that are tools are also looked for in the working folder, last."""
    sys.path.append(str(Path.cwd()))
    _prepare_streams()
    _show_warnings()
    if "_EVERFOLD_COMPLETE" in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    try:
        app(prog_name="everfold")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.stdout = _open_nowhere()  # what is left in the old one cannot be written either
        _say_error(f"The output cannot be written: {error.strerror}.")
        sys.exit(InvalidInputError.exit_code)


def _say_error(text: str) -> None:
    from everfold.cli.tables.output import say

    say(f"error: {text}", style="bold red")


_SHOWN_LOGGERS: Final = ("everfold.files", "everfold.gateway", "everfold.server")
"""What operators must see without setting logging up: files that others can read, and what went wrong in the server."""


def _show_warnings() -> None:
    """Write warnings and errors of these loggers to stderr."""
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    shown.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    for name in _SHOWN_LOGGERS:
        logging.getLogger(name).addHandler(shown)


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
