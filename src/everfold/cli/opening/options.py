"""What several commands take, said once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from everfold.adapters.transcripts import FORMATS
from everfold.core.windows.rendering import Provider
from everfold.errors import InvalidInputError

MOST_DIGITS = 18
"""A number with more digits is no place in a log, and may be too long for Python to read."""

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Db: TypeAlias = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The database file. Default: `store.url` of the settings."),
]
User: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The user.")]
Agent: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The agent.")]
AnyUser: TypeAlias = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Only sessions of this user.")]
AnyAgent: TypeAlias = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Only sessions of this agent.")
]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="TOKENS", help="The model's context limit. Default: `model.context_limit`."),
]
TranscriptFile: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="A transcript, JSON or JSONL.")]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help=f"{', '.join(FORMATS)}. Default: detected from the content."),
]
Session: TypeAlias = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="One session; `everfold sessions` lists them.")
]
SessionArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="[SESSION]", help="The session's id. Default: the current one of --user and --agent."),
]
CompactionArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="COMPACTION", help="A compaction's id; `everfold compactions` lists them.")
]
Owner: TypeAlias = Annotated[str, typer.Option("--user", metavar="NAME", help="The user whose memory it is.")]
KnownBy: TypeAlias = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Only what this agent knows. Default: everything."),
]
ItemArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="ITEM", help="An item's id; `everfold memory list` lists them.")
]
ExpectedRevision: TypeAlias = Annotated[
    int | None,
    typer.Option("--revision", metavar="N", min=1, help="Change the item only if it is at this revision."),
]
ProviderOption: TypeAlias = Annotated[
    Provider,
    typer.Option("--provider", metavar="openai|anthropic|responses", help="The provider whose request format is used."),
]


@contextmanager
def told_of(file: Path) -> Iterator[None]:
    """Within it, an error about a line says which file the line is of."""
    try:
        yield
    except InvalidInputError as error:
        if "line" not in error.ids or "path" in error.ids:
            raise
        text = str(error)
        place = "" if text.startswith("line ") else f"line {error.ids['line']}: "
        raise InvalidInputError(f"{file}: {place}{text}", **{**error.ids, "path": str(file)}) from error


def require_apart(written: Mapping[str, Path | None], read: Mapping[str, Path | None]) -> None:
    """Refuse to write over a file that is read, or two things into one file.

    Raises:
        InvalidInputError: two options name one file.
    """
    named: dict[Path, str] = {path.resolve(): option for option, path in read.items() if path is not None}
    for option, path in written.items():
        if path is None or path.is_char_device() or path.is_fifo():
            continue
        place = path.resolve()
        if place in named:
            raise InvalidInputError(
                f"{option} and {named[place]} both name {path}; write to another file", path=str(path)
            )
        named[place] = option


def parse_range(text: str) -> tuple[int, int]:
    """`12` or `12-20` as the first and the last sequence number.

    Raises:
        InvalidInputError: it is neither.
    """
    first, _, last = text.partition("-")
    last = last or first
    is_range = first.isdecimal() and last.isdecimal() and max(len(first), len(last)) <= MOST_DIGITS
    if not is_range or not 1 <= int(first) <= int(last):
        raise InvalidInputError(f"--seq takes a sequence number from 1, or a range such as 12-20, got {text[:60]!r}")
    return int(first), int(last)


def parse_moment(option: str, text: str | None) -> datetime | None:
    """`2031-05-01`, with a time behind it or without, as a moment; UTC where the text does not say.

    Raises:
        InvalidInputError: it is none.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInputError(
            f"{option} takes a date such as 2031-05-01, or one with a time such as 2031-05-01T09:30, got {text!r}"
        ) from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
