"""From the bytes of a file to rows: JSON values that know their lines.

A row is one line of a JSONL file, one element of a JSON file that is a list, or the whole of any other JSON file. So the
readers of formats need not know how a file was laid out. Lines of the values inside a row are found only when they are
asked for, by a second pass that descends into the containers asked for and leaves all others to the C decoder: both
passes are linear.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from everfold.adapters.transcripts.shape import refuse, type_name
from everfold.core.primitives.json_values import JsonValue, parse_json
from everfold.errors import InvalidInputError

Step: TypeAlias = str | int
"""One step into a value: the key of a member or the index of an element."""

ANY: Final = None
"""Stands in a pattern for every member or element."""

_GAP: Final = re.compile(r"[ \t\r\n]*")
_PLAIN_DECODER: Final = json.JSONDecoder()

_FOREIGN_STARTS: Final = (
    (b"\x1f\x8b", "it is compressed with gzip; unpack it first"),
    (b"PK\x03\x04", "it is a zip archive; unpack it first"),
    (b"(\xb5/\xfd", "it is compressed with zstd; unpack it first"),
    (b"\xff\xfe", "it is UTF-16; write it as UTF-8 first"),
    (b"\xfe\xff", "it is UTF-16; write it as UTF-8 first"),
)
"""How files begin that are often given by mistake. Source: RFC 1952 section 2.3.1, RFC 8878 section 3.1.1, Unicode 23.8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One JSON value of a file.

    Attributes:
        value: The value.
        line: The line of the file where it begins, from 1.
        text: The text that holds it.
        start_chars: Where it begins in ``text``.
        end_chars: Where it ends in ``text``.
    """

    value: JsonValue
    line: int
    text: str
    start_chars: int
    end_chars: int

    def lines(self, *pattern: Step | None) -> Mapping[tuple[Step, ...], int]:
        """Give the lines of all values that a pattern of steps leads to, by their path; empty if the row is on one line."""
        if self.text.find("\n", self.start_chars, self.end_chars) < 0:
            return {}
        starts: dict[tuple[Step, ...], int] = {}
        _find_starts(self.text, self.start_chars, pattern, (), starts)
        return _lines_of(self.text, self.start_chars, self.line, starts)

    def line_of(self, *path: Step) -> int:
        """Give the line where one value of the row begins. Passes over the row: for refusals, not for each value."""
        return self.lines(*path).get(path, self.line)

    def elements(self, *path: str) -> Iterator[tuple[int, JsonValue]]:
        """Give each element of the list that a path of keys leads to, with its line."""
        value = self.value
        for key in path:
            if not isinstance(value, dict):
                refuse(self.line, f"expected an object with the key {key!r}, got {type_name(value)}")
            value = value.get(key)
        if not isinstance(value, list):
            refuse(self.line_of(*path), f"`{'.'.join(path)}` is {type_name(value)}, expected a list")
        lines = self.lines(*path, ANY)
        for index, element in enumerate(value):
            yield lines.get((*path, index), self.line), element


def read_rows(data: bytes) -> tuple[Row, ...]:
    """Read the bytes of a JSON or JSONL file, whichever it is, into rows.

    A file whose first line is a whole JSON value, with more lines after it, is JSONL; blank lines are passed over there.
    Any other file is one JSON value. A byte order mark is accepted.

    Raises:
        InvalidInputError: Empty, not UTF-8, or not JSON; with ``line``.
    """
    text = _decode(data)
    if not text.strip():
        refuse(1, "the file is empty, expected JSON or JSONL")
    first_line, _, rest = text.lstrip(" \t\r\n").partition("\n")
    if rest.strip() and _is_json(first_line):
        return tuple(_jsonl_rows(text))
    return tuple(_document_rows(text))


def _decode(data: bytes) -> str:
    for start, reason in _FOREIGN_STARTS:
        if data.startswith(start):
            refuse(1, f"this is no JSON text: {reason}")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"the byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8 ({error.reason})"
        raise InvalidInputError(f"line {line}: {reason}", line=line, offset=error.start) from error


def _is_json(text: str) -> bool:
    try:
        _PLAIN_DECODER.decode(text)
    except (ValueError, RecursionError):
        # A line that only the strict reader refuses must count as a line too, so that its number is right.
        return False
    return True


def _jsonl_rows(text: str) -> Iterator[Row]:
    # Not splitlines(): it also splits at characters that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if line and not line.isspace():
            value = parse_json(line, first_line=number)
            yield Row(value=value, line=number, text=line, start_chars=0, end_chars=len(line))


def _document_rows(text: str) -> Iterator[Row]:
    document = parse_json(text)
    start_chars = _skip_gap(text, 0)
    first_line = 1 + text.count("\n", 0, start_chars)
    if not isinstance(document, list):
        yield Row(value=document, line=first_line, text=text, start_chars=start_chars, end_chars=len(text))
        return
    starts: dict[tuple[Step, ...], int] = {}
    _find_starts(text, start_chars, (ANY,), (), starts)
    lines = _lines_of(text, start_chars, first_line, starts)
    ends = [*starts.values(), len(text)][1:]
    for element, (path, element_start), end in zip(document, starts.items(), ends, strict=True):
        yield Row(value=element, line=lines[path], text=text, start_chars=element_start, end_chars=end)


def _skip_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position


def _find_starts(
    text: str, start: int, pattern: tuple[Step | None, ...], path: tuple[Step, ...], starts: dict[tuple[Step, ...], int]
) -> int:
    """Note where the values begin that a pattern leads to, in reading order, and give the position after this value.

    The text is known to be valid JSON here.
    """
    if not pattern:
        starts[path] = start
    if not pattern or text[start] not in "{[":
        return _PLAIN_DECODER.raw_decode(text, start)[1]
    position = _skip_gap(text, start + 1)
    index = 0
    while text[position] not in "}]":
        step: Step = index
        if text[start] == "{":
            step, position = _read_key(text, position)
        inner = pattern[1:] if pattern[0] in (ANY, step) else None
        if inner is None:
            position = _PLAIN_DECODER.raw_decode(text, position)[1]
        else:
            position = _find_starts(text, position, inner, (*path, step), starts)
        position = _skip_gap(text, position)
        if text[position] == ",":
            position = _skip_gap(text, position + 1)
        index += 1
    return position + 1


def _read_key(text: str, position: int) -> tuple[str, int]:
    """Read the key of a member; give it and where its value begins."""
    key, position = _PLAIN_DECODER.raw_decode(text, position)
    return str(key), _skip_gap(text, _skip_gap(text, position) + 1)


def _lines_of(
    text: str, from_chars: int, from_line: int, starts: Mapping[tuple[Step, ...], int]
) -> dict[tuple[Step, ...], int]:
    lines: dict[tuple[Step, ...], int] = {}
    for path, start in starts.items():
        from_line += text.count("\n", from_chars, start)
        from_chars = start
        lines[path] = from_line
    return lines
