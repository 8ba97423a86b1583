"""What commands print: tables for people on stdout, one JSON document for programs, everything else on stderr.

Text of messages is never trusted: it is shown without control characters, and never read as markup.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from everfold.adapters.system.private_files import write_private
from everfold.core.primitives.json_values import clean_text
from everfold.errors import InvalidInputError

PIPED_WIDTH: Final = 120
"""Columns of a table that is not written to a terminal."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What could move the cursor, colour the screen or turn the writing direction; tabs and line breaks stay."""

_WHOLE_COLUMNS: Final = frozenset(("session", "created", "compaction"))
_GAP_WIDTH: Final = 3
_EDGE_WIDTH: Final = 1
_WORD_WIDTH: Final = 8
"""A column that is narrower cannot be read."""

Cell = str | int | Text


def open_console(*, stderr: bool = False) -> Console:
    """A console on the stream as it is now; a fixed width where no terminal tells one."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PIPED_WIDTH, highlight=False, soft_wrap=False)


def plain(text: str) -> str:
    """Text of a message as a terminal may show it."""
    return _CONTROL.sub("\ufffd", clean_text(text).replace("\r\n", "\n"))


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
    sys.stdout.flush()  # a server goes on after this, and its address is waited for


def write_json(path: Path, value: object) -> None:
    """Write one JSON document to a file.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    write_text(path, json.dumps(to_json(value), indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folder that it lies in where that is missing; only its owner may read a new one.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, text)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error}", path=str(path)) from error


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, title: str | None = None) -> None:
    """Print rows under headings. Numbers stand to the right; nothing is cut off, however narrow the screen is."""
    open_console().print(make_table(columns, rows, title=title))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Rows under headings; on a screen that is too narrow for all columns each row stands under the one before, cell by cell.

    Nothing is ever cut off: an id that is not whole is of no use.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    whole: tuple[bool, ...]
    """For each column, whether its cells may not be folded."""
    numbers: tuple[bool, ...]
    title: str | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._find_widths(options.max_width)
        if widths is not None:
            # The blank edge at the right may fall off the screen.
            yield from console.render(self._table(widths), options.update_width(options.max_width + _EDGE_WIDTH))
            return
        if self.title is not None:
            yield Text(self.title, style="bold")
        for row in self.rows:
            yield Text()
            for column, cell in zip(self.columns, row, strict=True):
                if cell.plain:
                    yield _entry(column, cell, options.max_width)

    def _find_widths(self, screen_width: int) -> list[int] | None:
        """How wide each column is, the widest folded first; None where even their headings do not fit."""
        budget = screen_width - _EDGE_WIDTH - _GAP_WIDTH * (len(self.columns) - 1)
        cells = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        least = [cell_len(column) for column in self.columns]
        widths = [
            min(budget, max(heading, *(cell_len(line) for cell in column for line in cell.plain.split("\n")), 1))
            for heading, column in zip(least, cells, strict=True)
        ]
        least = [
            width if is_whole else min(width, max(heading, _WORD_WIDTH))
            for width, heading, is_whole in zip(widths, least, self.whole, strict=True)
        ]
        if sum(least) > budget:
            return None
        while sum(widths) > budget:
            index = max(range(len(widths)), key=lambda at: widths[at] if widths[at] > least[at] else 0)
            widths[index] -= 1
        return widths

    def _table(self, widths: Sequence[int]) -> Table:
        table = Table(box=SIMPLE_HEAD, title=self.title, title_justify="left", title_style="bold", pad_edge=False)
        for column, width, is_number in zip(self.columns, widths, self.numbers, strict=True):
            table.add_column(column, justify="right" if is_number else "left", overflow="fold", width=width)
        for row in self.rows:
            table.add_row(*row)
        return table


def make_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, title: str | None = None) -> Listing:
    """Rows under headings, to be printed."""
    held = [list(row) for row in rows]
    numbers = tuple(bool(held) and all(isinstance(row[index], int) for row in held) for index in range(len(columns)))
    return Listing(
        columns=tuple(columns),
        rows=tuple(tuple(_to_text(cell) for cell in row) for row in held),
        whole=tuple(is_number or column in _WHOLE_COLUMNS for column, is_number in zip(columns, numbers, strict=True)),
        numbers=numbers,
        title=title,
    )


def _entry(column: str, cell: Text, width: int) -> Text:
    """One cell after its heading, or below it where they do not fit on one line."""
    fits = "\n" not in cell.plain and cell_len(column) + 2 + cell.cell_len <= width
    entry = Text(overflow="fold").append(column, style="bold")
    return entry.append("  " if fits else "\n").append_text(cell) if column else cell


def _to_text(cell: Cell) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text(f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else plain(str(cell)))


def say(text: str, *, style: str = "", is_whole: bool = False) -> None:
    """Say something to the person at the terminal, on stderr. What is whole is never broken into lines, as a link must not be."""
    open_console(stderr=True).print(Text(plain(text), style=style), soft_wrap=is_whole)


Advance = Callable[[int, str], None]


@contextmanager
def show_progress(title: str, total: int | None) -> Iterator[Advance]:
    """A bar on stderr while something runs, without an end where that is not known; nothing where stderr is no terminal.

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
