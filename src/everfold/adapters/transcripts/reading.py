"""From a path, or bytes, to transcripts; the format is told by content, never by the name of the file."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from everfold.adapters.transcripts import (
    anthropic,
    chatgpt,
    claude_export,
    coding_agent,
    gemini,
    gemini_cli,
    langchain,
    letta,
    open_webui,
    openai,
    opencode,
    responses_items,
    sharegpt,
)
from everfold.adapters.transcripts.databases import MAGIC, read_database
from everfold.adapters.transcripts.documents import Document, list_documents
from everfold.adapters.transcripts.rows import Row, read_rows
from everfold.adapters.transcripts.shape import type_name
from everfold.core.log.transcripts import Conversation, Transcript
from everfold.core.portability.documents import FORMAT as USER_EXPORT
from everfold.core.primitives.json_values import JsonValue, read_object
from everfold.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    matches: Callable[[Sequence[Row]], bool]
    read: Callable[[Sequence[Row], str], tuple[Conversation, ...]]
    count_unknown: Callable[[Sequence[Row]], Mapping[str, int]] = lambda _: {}


_FORMATS: Final = {
    "sharegpt": _Format(matches=sharegpt.matches, read=sharegpt.read),
    "chatgpt": _Format(matches=chatgpt.matches, read=chatgpt.read),
    "claude": _Format(matches=claude_export.matches, read=claude_export.read),
    "open-webui": _Format(matches=open_webui.matches, read=open_webui.read),
    "letta": _Format(matches=letta.matches, read=letta.read),
    "gemini-cli": _Format(matches=gemini_cli.matches, read=gemini_cli.read),
    "gemini": _Format(matches=gemini.matches, read=gemini.read),
    "langchain": _Format(matches=langchain.matches, read=langchain.read),
    "coding-agent": _Format(
        matches=coding_agent.matches, read=coding_agent.read, count_unknown=coding_agent.count_unknown
    ),
    "opencode": _Format(matches=opencode.matches, read=opencode.read, count_unknown=opencode.count_unfinished),
    "responses": _Format(matches=responses_items.matches, read=responses_items.read),
    "anthropic": _Format(matches=anthropic.matches, read=anthropic.read),
    "openai": _Format(matches=openai.matches, read=openai.read),
}

_SHOWN_KEYS: Final = 8
_SHOWN_CHARS: Final = 40
_UNKNOWN: Final = "unknown"
"""The id `format` of an error about a file in no format that is read."""

_EMPTY: Final = "empty"
"""The same of a file without a message, as exports have several."""

FORMATS: Final = tuple(_FORMATS)
"""The names of the formats in the order in which they are tried; the first that matches reads the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One file of a path: what it holds, or why it was not read.

    Attributes:
        is_other: It has no message or is in no format that is read, as other files of an export are; else it is broken.
    """

    name: str
    transcript: Transcript | None = None
    error: InvalidInputError | None = None
    is_other: bool = False


def read_transcripts(path: Path, *, format: str | None = None) -> Iterator[Found]:  # noqa: A002 - the word that users know
    """Read a path file by file: a file, the files of a folder or a zip archive, or standard input (`-`).

    Each file is read whole or not at all.

    Args:
        path: What to read.
        format: One of ``FORMATS``; None finds it by content, for each file.

    Raises:
        NotFoundError: There is no such file or folder.
        InvalidInputError: Nothing of it can be read.
    """
    for document in list_documents(path):
        if isinstance(document, InvalidInputError):
            yield Found(name=str(document.ids.get("path", path)), error=document)
        else:
            yield _read_document(document, format)


def read_transcript(path: Path, *, format: str | None = None) -> Transcript:  # noqa: A002 - as above
    """Read a path whole, or refuse it whole. Of a folder or an archive, files in no known format are passed over.

    Args:
        path: A file in one of the formats, a zip archive or a folder of such files, or `-` for standard input.
        format: One of ``FORMATS``; None finds it by content.

    Raises:
        NotFoundError: There is no such file.
        InvalidInputError: It cannot be read, or is not what a format says; with ``path`` and, where there is one, ``line``.
    """
    found = list(read_transcripts(path, format=format))
    read = [one.transcript for one in found if one.transcript is not None]
    refused = [one.error for one in found if one.error is not None and not (one.is_other and read)]
    if refused:
        raise refused[0]
    formats = dict.fromkeys(transcript.format for transcript in read)
    conversations = tuple(conversation for transcript in read for conversation in transcript.conversations)
    skipped = Counter(kind for transcript in read for kind in Counter(transcript.skipped).elements())
    return Transcript(format=", ".join(formats), conversations=conversations, skipped=skipped)


def parse_transcript(data: bytes, *, name: str, format: str | None = None) -> Transcript:  # noqa: A002 - as above
    """Read the bytes of a transcript whole, or refuse them whole.

    Linear in the size of the data; all of it is held in memory.

    Args:
        data: JSON or JSONL in UTF-8, where a byte order mark is accepted; or an SQLite database.
        name: What the errors call the data; conversations that have no name of their own get it too.
        format: One of ``FORMATS``; None finds it by content.

    Raises:
        InvalidInputError: The data is not what a format says; with ``path`` and, where there is one, ``line``.
    """
    return _parse(data, path=name, name=name, format_name=format)


def _read_document(document: Document, format_name: str | None) -> Found:
    try:
        transcript = _parse(document.data, path=document.name, name=document.stem, format_name=format_name)
    except InvalidInputError as error:
        return Found(name=document.name, error=error, is_other=error.ids.get("format") in (_UNKNOWN, _EMPTY))
    return Found(name=document.name, transcript=transcript)


def _parse(data: bytes | Path, *, path: str, name: str, format_name: str | None) -> Transcript:
    try:
        if isinstance(data, Path) or data.startswith(MAGIC):
            return read_database(data, name)
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
        raise InvalidInputError("line 1: there is no message in it", line=1, format=_EMPTY)
    return Transcript(
        format=format_name, conversations=conversations, skipped=_FORMATS[format_name].count_unknown(rows)
    )


def _find_format(rows: Sequence[Row]) -> str:
    if not rows:
        raise InvalidInputError("line 1: there is no message in it", line=1, format=_EMPTY)
    if read_object(rows[0].value).get("format") == USER_EXPORT:
        raise InvalidInputError(
            f"line {rows[0].line}: this is the export of a user; import it alone, from a file: `everfold import FILE`",
            line=rows[0].line,
        )
    for name, known in _FORMATS.items():
        if known.matches(rows):
            return name
    raise InvalidInputError(
        f"line {rows[0].line}: {_describe(rows[0].value)} is not a transcript in a known format: {', '.join(sorted(FORMATS))}; "
        "name one as `format`, or convert the file to messages with `role` and `content`",
        line=rows[0].line,
        format=_UNKNOWN,
    )


def _describe(value: JsonValue) -> str:
    """What the first value of a file is, so that the user sees which file it was."""
    if not isinstance(value, dict) or not value:
        return type_name(value)
    keys = [f"`{key[:_SHOWN_CHARS]}`" for key in value]
    return f"an object with {', '.join(keys[:_SHOWN_KEYS])}{' and more' if len(keys) > _SHOWN_KEYS else ''}"
