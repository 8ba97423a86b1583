"""From a file, or its bytes, to a transcript; the format is told by content, never by the name of the file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from everfold.adapters.transcripts import anthropic, coding_agent, openai, sharegpt
from everfold.adapters.transcripts.rows import Row, read_rows
from everfold.adapters.transcripts.shape import type_name
from everfold.core.log.transcripts import Conversation, Transcript
from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError, NotFoundError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    matches: Callable[[Sequence[Row]], bool]
    read: Callable[[Sequence[Row], str], tuple[Conversation, ...]]


_FORMATS: Final = {
    "sharegpt": _Format(matches=sharegpt.matches, read=sharegpt.read),
    "coding-agent": _Format(matches=coding_agent.matches, read=coding_agent.read),
    "anthropic": _Format(matches=anthropic.matches, read=anthropic.read),
    "openai": _Format(matches=openai.matches, read=openai.read),
}

_SHOWN_KEYS: Final = 8
_SHOWN_CHARS: Final = 40

FORMATS: Final = tuple(_FORMATS)
"""The names of the formats in the order in which they are tried; the first that matches reads the file."""


def read_transcript(path: Path, *, format: str | None = None) -> Transcript:  # noqa: A002 - the word that users know
    """Read a transcript file whole, or refuse it whole.

    Args:
        path: A JSON or JSONL file in UTF-8.
        format: One of ``FORMATS``; None finds it by content.

    Raises:
        NotFoundError: There is no such file.
        InvalidInputError: It is no file, cannot be read, or is not what a format says; with ``path`` and, where there is
            one, ``line``.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"{path} does not exist; give the path of a transcript file.", path=str(path)) from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{path} is a directory; give one file of it.", path=str(path)) from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.", path=str(path)) from error
    return _parse(data, path=str(path), name=path.stem, format_name=format)


def parse_transcript(data: bytes, *, name: str, format: str | None = None) -> Transcript:  # noqa: A002 - as above
    """Read the bytes of a transcript whole, or refuse them whole.

    Linear in the size of the data; all of it is held in memory.

    Args:
        data: JSON or JSONL in UTF-8; a byte order mark is accepted.
        name: What the errors call the data; conversations that have no name of their own get it too.
        format: One of ``FORMATS``; None finds it by content.

    Raises:
        InvalidInputError: The data is not what a format says; with ``path`` and, where there is one, ``line``.
    """
    return _parse(data, path=name, name=name, format_name=format)


def _parse(data: bytes, *, path: str, name: str, format_name: str | None) -> Transcript:
    try:
        return _read_as(read_rows(data), name, format_name)
    except InvalidInputError as error:
        ids = {**error.ids, "path": path}
        raise InvalidInputError(f"{path}: {error}. Nothing of this file was stored.", **ids) from error


def _read_as(rows: Sequence[Row], name: str, format_name: str | None) -> Transcript:
    format_name = format_name or _find_format(rows)
    if format_name not in _FORMATS:
        raise InvalidInputError(f"there is no transcript format {format_name!r}: expected {', '.join(FORMATS)}")
    conversations = _FORMATS[format_name].read(rows, name) if rows else ()
    if not any(conversation.messages for conversation in conversations):
        raise InvalidInputError("line 1: there is no message in it", line=1)
    return Transcript(format=format_name, conversations=conversations)


def _find_format(rows: Sequence[Row]) -> str:
    if not rows:
        raise InvalidInputError("line 1: there is no message in it", line=1)
    for name, known in _FORMATS.items():
        if known.matches(rows):
            return name
    raise InvalidInputError(
        f"line {rows[0].line}: {_describe(rows[0].value)} is no transcript in a known format: {', '.join(sorted(FORMATS))}; "
        "name one as `format`, or convert the file to messages with `role` and `content`",
        line=rows[0].line,
    )


def _describe(value: JsonValue) -> str:
    """What the first value of a file is, so that the user sees which file it was."""
    if not isinstance(value, dict) or not value:
        return type_name(value)
    keys = [f"`{key[:_SHOWN_CHARS]}`" for key in value]
    return f"an object with {', '.join(keys[:_SHOWN_KEYS])}{' and more' if len(keys) > _SHOWN_KEYS else ''}"
