"""What commands print: tables for people on stdout, one JSON document for programs, everything else on stderr.

Text of messages is never trusted: it is shown without control characters, and never read as markup.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from everfold.core.speech import clean_text
from everfold.errors import InvalidInputError

PIPED_WIDTH: Final = 120
"""Columns of a table that is not written to a terminal."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What could move the cursor, colour the screen or turn the writing direction; tabs and line breaks stay."""

Cell = str | int | Text


def open_console(*, stderr: bool = False) -> Console:
    """A console on the stream as it is now; a fixed width where no terminal tells one."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PIPED_WIDTH, highlight=False, soft_wrap=False)


def plain(text: str) -> str:
    """Text of a message as a terminal may show it."""
    return _CONTROL.sub("\ufffd", clean_text(text))


def one_line(text: str, most_chars: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(plain(text[: most_chars * 4]).split())
    return line if len(line) <= most_chars else f"{line[: most_chars - 1]}…"


def to_json(value: object) -> object:
    """A value of the engine as JSON values; the inner parts of what has no JSON form as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def print_json(value: object) -> None:
    """Print one JSON document; non-ASCII characters are escaped, so that any terminal and pipe takes it."""
    sys.stdout.write(json.dumps(to_json(value), indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def write_json(path: Path, value: object) -> None:
    """Write one JSON document to a file.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    write_text(path, json.dumps(to_json(value), indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folder that it lies in where that is missing.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error}", path=str(path)) from error


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, title: str | None = None) -> None:
    """Print rows under headings. Numbers stand to the right; a cell that is too long is folded, never cut off."""
    open_console().print(make_table(columns, rows, title=title))


def make_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, title: str | None = None) -> Table:
    """Rows under headings, to be printed."""
    held = [list(row) for row in rows]
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for index, column in enumerate(columns):
        is_number = bool(held) and all(isinstance(row[index], int) for row in held)
        table.add_column(
            column,
            justify="right" if is_number else "left",
            overflow="fold",
            min_width=len(column),
            no_wrap=column in {"session", "created", "event"},
        )
    for row in held:
        table.add_row(*(_to_text(cell) for cell in row))
    return table


def _to_text(cell: Cell) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text(f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else plain(str(cell)))


def say(text: str, *, style: str = "") -> None:
    """Say something to the person at the terminal, on stderr."""
    open_console(stderr=True).print(Text(plain(text), style=style))


Advance = Callable[[int, str], None]


@contextmanager
def show_progress(title: str, total: int) -> Iterator[Advance]:
    """A bar on stderr while something runs; nothing where stderr is no terminal.

    Gives a function that takes how much is done and a note beside the bar.
    """
    console = open_console(stderr=True)
    progress = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", style="dim"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = progress.add_task(title, total=total, note="")
    with progress:
        yield lambda done, note: progress.update(task, completed=done, note=note)
