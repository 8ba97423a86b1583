"""Memory files: what an agent writes down for itself about a user, as text under paths, and how such text is shown.

A file belongs to one user and one agent. Folders are not stored: there is one wherever a file lies below it. Paths begin
with `/memories`, as in the memory tool of Anthropic's API, whose listings and line numbers these are.

Source: Anthropic, "Memory tool" (`memory_20250818`): commands, paths, line numbers from 1.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import InvalidInputError

ROOT: Final = "/memories"
"""What every path begins with. Source: the tool's definition."""
TOPICS: Final = f"{ROOT}/topics"
"""Where the topics of memory can be read, one file each. Nothing is stored there."""
MOST_PATH_CHARS: Final = 200
_LISTED_DEPTH: Final = 2
"""How deep a listing of a folder goes. Source: the tool's definition."""
_SNIPPET_LINES: Final = 2
"""Lines shown before and after an edit. Source: the tool's own sample implementation."""
_NUMBER_WIDTH: Final = 6
"""Line numbers are right-aligned in so many characters. Source: the tool's definition."""
_KIBI: Final = 1024
_PART: Final = re.compile(r"[^/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """One file."""

    user_id: UserId
    agent_id: AgentId
    path: str
    content: str
    written_at: datetime

    @property
    def place(self) -> "FilePlace":
        """Where it is."""
        return FilePlace(self.agent_id, self.path)


class FilePlace(NamedTuple):
    """Where a file of a user is."""

    agent_id: AgentId
    path: str


class FileEntry(NamedTuple):
    """A file as it stands in a listing."""

    path: str
    chars_count: int


# --- paths


def read_path(text: str) -> str:
    """A path in its one form: without a slash at its end, and without empty parts.

    Raises:
        InvalidInputError: it does not begin with `/memories`, leaves it, or is no path that can be stored.
    """
    parts = [part for part in text.split("/") if part]
    if not text.startswith("/") or not parts or f"/{parts[0]}" != ROOT:
        raise InvalidInputError(f"the path {text[:MOST_PATH_CHARS]!r} is not in {ROOT}; begin it with {ROOT}/")
    wrong = next((part for part in parts if part in (".", "..") or not _PART.fullmatch(part)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"the path {text[:MOST_PATH_CHARS]!r} has the part {wrong[:MOST_PATH_CHARS]!r}; use 1 to 80 characters other "
            "than / and \\, and neither . nor .."
        )
    path = f"/{'/'.join(parts)}"
    if len(path) > MOST_PATH_CHARS:
        raise InvalidInputError(f"the path has {len(path)} characters, at most {MOST_PATH_CHARS}; shorten it")
    return path


def read_new_path(text: str) -> str:
    """The path of a file that is to be written. Raises as `read_path`, and where nothing can be written."""
    path = read_path(text)
    if path == ROOT:
        raise InvalidInputError(f"{ROOT} is the folder of all files; name a file in it")
    if is_topic(path):
        raise InvalidInputError(f"{TOPICS} is read-only: dreams write topics; write to another folder")
    return path


def is_topic(path: str) -> bool:
    """Whether a path is of a topic, or of their folder."""
    return is_within(path, TOPICS)


def is_within(path: str, folder: str) -> bool:
    """Whether a path is this folder or file, or lies below it."""
    return path == folder or path.startswith(f"{folder}/")


# --- what is shown


def show_folder(folder: str, entries: Iterable[FileEntry]) -> str:
    """A folder as a listing of two levels, with sizes: the folder itself first, then by path; hidden ones are left out."""
    sizes: dict[str, int] = {folder: 0}
    for entry in entries:
        parts = entry.path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") for part in parts):
            continue
        sizes[folder] += entry.chars_count
        for depth in range(1, min(len(parts), _LISTED_DEPTH) + 1):
            shown = f"{folder}/{'/'.join(parts[:depth])}" + ("/" if depth < len(parts) else "")
            sizes[shown] = sizes.get(shown, 0) + entry.chars_count
    lines = [f"{_show_size(size)}\t{path}" for path, size in sorted(sizes.items())]
    header = f"Here're the files and directories up to 2 levels deep in {folder}, excluding hidden items:"
    return "\n".join((header, *lines))


def _show_size(chars_count: int) -> str:
    return f"{chars_count}B" if chars_count < _KIBI else f"{chars_count / _KIBI:.1f}K"


def show_file(path: str, content: str, view_range: tuple[int, int] | None = None) -> str:
    """A file with line numbers from 1; of a range both ends, where -1 means the end.

    Raises:
        InvalidInputError: the range does not lie in the file.
    """
    lines = content.split("\n")
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    if not 1 <= first <= last <= len(lines):
        raise InvalidInputError(f"the range {first} to {last} is not in {path}, which has lines 1 to {len(lines)}")
    return f"Here's the content of {path} with line numbers:\n{_number_lines(lines, first, last)}"


def show_edit(content: str, at_line: int) -> str:
    """The lines around an edit, with their numbers."""
    lines = content.split("\n")
    return _number_lines(lines, max(1, at_line - _SNIPPET_LINES), min(len(lines), at_line + _SNIPPET_LINES))


def _number_lines(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{lines[number - 1]}" for number in range(first, last + 1))
