"""The documents of a path: a file, the files of a folder or of a zip archive, or standard input. All bounded.

Nothing of an archive is ever written to disk, so the paths in its names lead nowhere. Archives inside archives are not opened.
In a folder, links are not followed.
"""

import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from everfold.adapters.transcripts.databases import MAGIC
from everfold.errors import InvalidInputError, NotFoundError, shorten

try:
    from lzma import LZMAError as _LzmaError
except ImportError:  # this Python unpacks nothing that could raise it
    _LzmaError = zipfile.BadZipFile  # type: ignore[misc, assignment]

STDIN: Final = Path("-")
STDIN_NAME: Final = "standard input"
MOST_BYTES: Final = 1_000_000_000
"""The largest document, unpacked. It is read into memory, where JSON takes several times as much. Source: own choice."""

MOST_UNPACKED_BYTES: Final = 4_000_000_000
"""All documents of one archive together."""

MOST_RATIO: Final = 200
"""How many times larger than packed a document may be: text packs to a tenth, what a bomb holds to a thousandth."""

MOST_FILES: Final = 20_000
"""Files of one folder or archive."""

_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".af", ".db", ".sqlite", ".sqlite3"})
_LEAST_SUSPECT_BYTES: Final = 10_000_000
_ZIP: Final = b"PK\x03\x04"
_CHUNK_BYTES: Final = 1 << 20
_UNPACKING: Final = (zipfile.BadZipFile, zlib.error, _LzmaError, RuntimeError, EOFError, OSError, ValueError)
"""What the ways of packing raise for a member that is damaged, or packed as nothing here can unpack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that may hold a transcript.

    Attributes:
        name: What it is called in messages: its path, and the name in its archive.
        stem: The name without folders and suffix.
        data: Its bytes, or the path of a database, which is read in place.
    """

    name: str
    stem: str
    data: bytes | Path


def list_documents(path: Path) -> Iterator[Document | InvalidInputError]:
    """The documents of a path, one at a time; an error in the place of one that cannot be read.

    Raises:
        NotFoundError: There is no such file or folder.
        InvalidInputError: It cannot be read at all, or is larger than what is read.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise InvalidInputError(f"{STDIN_NAME} is closed; give the path of a file or a folder.", path=str(path))
        yield from _open_bytes(_read_stream(sys.stdin.buffer, STDIN_NAME), STDIN_NAME, "stdin")
        return
    if path.is_dir():
        yield from _list_folder(path)
        return
    yield from _list_file(path)


def _list_folder(folder: Path) -> Iterator[Document | InvalidInputError]:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in _SUFFIXES
        and not path.name.startswith("._")
        and path.is_file()
        and not path.is_symlink()
    ]
    if not files:
        raise InvalidInputError(
            f"{folder} holds no file that ends in {', '.join(sorted(_SUFFIXES))}.", path=str(folder)
        )
    if len(files) > MOST_FILES:
        raise InvalidInputError(f"{folder} holds {len(files):,} files; import at most {MOST_FILES:,} at a time.")
    for path in files:
        try:
            yield from _list_file(path)
        except InvalidInputError as error:
            yield error


def _list_file(path: Path) -> Iterator[Document | InvalidInputError]:
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            if start == MAGIC:
                yield Document(name=str(path), stem=path.stem, data=path)
            elif start.startswith(_ZIP):
                file.seek(0)
                yield from _list_archive(file, str(path))
            else:
                data = _read_stream(file, str(path), start)
                yield Document(name=str(path), stem=path.stem, data=data)
    except FileNotFoundError as error:
        raise NotFoundError(f"{path} does not exist; give the path of a file or a folder.", path=str(path)) from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.", path=str(path)) from error


def _open_bytes(data: bytes, name: str, stem: str) -> Iterator[Document | InvalidInputError]:
    if data.startswith(_ZIP):
        import io

        yield from _list_archive(io.BytesIO(data), name)
    else:
        yield Document(name=name, stem=stem, data=data)


def _read_stream(stream: BinaryIO, name: str, start: bytes = b"") -> bytes:
    chunks, size = [start], len(start)
    while chunk := stream.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > MOST_BYTES:
            raise InvalidInputError(f"{name} is larger than {MOST_BYTES:,} bytes; split it.", path=name)
        chunks.append(chunk)
    return b"".join(chunks)


def _list_archive(file: BinaryIO, name: str) -> Iterator[Document | InvalidInputError]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InvalidInputError(f"{name} is a damaged zip archive: {error}.", path=name) from error
    with archive:
        members = [member for member in archive.infolist() if _may_hold_transcript(member)]
        if not members:
            raise InvalidInputError(f"{name} holds no file that ends in {', '.join(sorted(_SUFFIXES))}.", path=name)
        if len(members) > MOST_FILES:
            raise InvalidInputError(f"{name} holds {len(members):,} files; expected at most {MOST_FILES:,}.", path=name)
        left_bytes = MOST_UNPACKED_BYTES
        for member in members:
            place = f"{name}: {shorten(member.filename)}"
            try:
                data = _unpack(archive, member, place, left_bytes)
            except InvalidInputError as error:
                yield error
                continue
            left_bytes -= len(data)
            yield Document(name=place, stem=PurePosixPath(member.filename).stem, data=data)


def _may_hold_transcript(member: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(member.filename)
    is_shadow = "__MACOSX" in path.parts or path.name.startswith("._")
    return not member.is_dir() and not is_shadow and path.suffix.lower() in _SUFFIXES


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, left_bytes: int) -> bytes:
    """The bytes of a member. What the archive says of its size is not trusted: the bytes are counted as they come."""
    most_bytes = min(MOST_BYTES, left_bytes, max(_LEAST_SUSPECT_BYTES, member.compress_size * MOST_RATIO))
    chunks: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                size += len(chunk)
                if size > most_bytes:
                    raise InvalidInputError(
                        f"{name} unpacks to more than {most_bytes:,} bytes and is not read.", path=name
                    )
                chunks.append(chunk)
    except _UNPACKING as error:
        raise InvalidInputError(f"{name} cannot be unpacked: {error}.", path=name) from error
    return b"".join(chunks)
