"""Mailboxes that are files: a maildir and an mbox. Both are only read; nothing in them is moved, marked or locked."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from everfold.adapters.sources.mail_messages import RawMail, parse_header_date
from everfold.errors import SourceError

MOST_MBOX_BYTES: Final = 67_108_864
"""How much of an mbox is read, from its end, where the newest messages are."""
MOST_MAILDIR_FILES: Final = 200_000

_MAILDIR_FLAGS: Final = {"S": "\\seen", "F": "\\flagged", "T": "\\deleted", "D": "\\draft", "R": "\\answered"}
"""Source: the maildir specification, the letters after `:2,`."""
_FROM_LINE: Final = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*?([A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-3]?[0-9] [0-9:]{5,8}[^\r\n]*)\r?\n"
)
"""Source: RFC 4155, appendix A: a line that begins with `From ` and holds a date, after an empty one."""
_STATUS: Final = re.compile(rb"^(?:X-)?Status:[ \t]*([A-Z]*)", re.MULTILINE | re.IGNORECASE)
_STATUS_FLAGS: Final = {"R": "\\seen", "F": "\\flagged", "D": "\\deleted", "T": "\\draft", "A": "\\answered"}
_WORDS_WITH_ZONE: Final = 6
_ESCAPED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_maildir(
    path: Path, *, from_at: datetime, to_at: datetime, most_count: int, most_bytes: int, source: str
) -> list[RawMail]:
    """The newest messages of a maildir that came within a window of time, newest first.

    Only names are looked at for the others. When a message came is the number that its name begins with, else the
    file's time.

    Raises:
        SourceError: it is no maildir, or cannot be read.
    """
    begin, end = from_at.timestamp(), to_at.timestamp()
    try:
        found = sorted(
            (it for it in _scan_maildir(path, source=source) if begin <= it[0] < end),
            key=lambda it: it[0],
            reverse=True,
        )
        return [
            RawMail(raw=raw, received_at=datetime.fromtimestamp(at, UTC), flags=flags)
            for at, name, flags in found[:most_count]
            if (raw := _read_start(name, most_bytes)) is not None
        ]
    except OSError as error:
        raise _translate(error, path, source) from error


def _scan_maildir(path: Path, *, source: str) -> Iterator[tuple[float, str, frozenset[str]]]:
    if not (path / "cur").is_dir() or not (path / "new").is_dir():
        raise SourceError(
            f"the source {source}: {path} is not a maildir with the folders cur and new; check the path", source=source
        )
    count = 0
    for folder in ("new", "cur"):
        with os.scandir(path / folder) as entries:
            for entry in entries:
                if (count := count + 1) > MOST_MAILDIR_FILES:
                    raise SourceError(
                        f"the source {source}: {path} holds more than {MOST_MAILDIR_FILES:,} messages; name a folder "
                        "with fewer",
                        source=source,
                    )
                if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                    yield _read_entry(entry, is_new=folder == "new")


def _read_entry(entry: os.DirEntry[str], *, is_new: bool) -> tuple[float, str, frozenset[str]]:
    first = re.match(r"([0-9]{9,11})\.", entry.name)
    at = float(first[1]) if first else entry.stat(follow_symlinks=False).st_mtime
    letters = "" if is_new else entry.name.rpartition("2,")[2] if "2," in entry.name else ""
    return at, entry.path, frozenset(_MAILDIR_FLAGS[it] for it in letters if it in _MAILDIR_FLAGS)


def _read_start(name: str, most_bytes: int) -> bytes | None:
    """The beginning of a file; None for one that its reader has just moved."""
    try:
        with Path(name).open("rb") as file:
            return file.read(most_bytes)
    except FileNotFoundError:
        return None


def read_mbox(
    path: Path, *, from_at: datetime, to_at: datetime, most_count: int, most_bytes: int, source: str
) -> list[RawMail]:
    """The newest messages of an mbox that came within a window of time, newest first.

    Of a large file its last `MOST_MBOX_BYTES` are read. When a message came stands in the line that begins it, in UTC
    where no zone does.

    Raises:
        SourceError: it is no mbox, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - MOST_MBOX_BYTES, 0))
            text = file.read(MOST_MBOX_BYTES)
    except OSError as error:
        raise _translate(error, path, source) from error
    starts = list(_FROM_LINE.finditer(text))
    if text.strip() and not starts:
        raise SourceError(
            f"the source {source}: {path} is not an mbox, whose messages begin with a line 'From '; check the path and format",
            source=source,
        )
    ends = [start.start() for start in starts[1:]] + [len(text)] * bool(starts)
    mails = (_read_part(start, text, end, most_bytes) for start, end in zip(starts, ends, strict=True))
    within = [mail for mail in mails if from_at <= mail.received_at < to_at]
    return sorted(within, key=lambda it: it.received_at, reverse=True)[:most_count]


def _read_part(start: re.Match[bytes], text: bytes, end: int, most_bytes: int) -> RawMail:
    raw = text[start.end() : min(end, start.end() + most_bytes)]
    head = re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0]
    letters = {letter for found in _STATUS.finditer(head) for letter in found[1].decode("ascii").upper()}
    at = (
        _parse_asctime(start[1].decode("ascii", "replace"))
        or parse_header_date(raw)
        or datetime.min.replace(tzinfo=UTC)
    )
    flags = frozenset(_STATUS_FLAGS[letter] for letter in letters if letter in _STATUS_FLAGS)
    return RawMail(raw=_ESCAPED_FROM.sub(rb"\1", raw), received_at=at, flags=flags)


def _parse_asctime(text: str) -> datetime | None:
    """`Sat Nov 21 09:00:00 2026`, or with a zone before the year. Source: RFC 4155; exported mailboxes have the zone."""
    words = text.split()
    zone = words.pop(4) if len(words) == _WORDS_WITH_ZONE and re.fullmatch(r"[+-][0-9]{4}", words[4]) else "+0000"
    try:
        return datetime.strptime(f"{' '.join(words[:5])} {zone}", "%a %b %d %H:%M:%S %Y %z")
    except ValueError:
        return None


def _translate(error: OSError, path: Path, source: str) -> SourceError:
    return SourceError(
        f"the source {source} cannot read {path} ({error.strerror}); check the path and its permissions", source=source
    )
