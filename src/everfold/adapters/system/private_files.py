"""Files that hold users' words: only their owner may read and write the ones that are made here.

A file that is there already keeps its permissions, which an administrator may have chosen; where every user of the
machine may read or write it, the logger `everfold.files` warns of it once for each process and file.

Source: POSIX, `open` (mode bits and umask) and `close` (record locks).
"""

import logging
import os
import stat
from pathlib import Path
from threading import Lock
from typing import Final

PRIVATE_MODE: Final = stat.S_IRUSR | stat.S_IWUSR
_OF_OTHERS: Final = stat.S_IROTH | stat.S_IWOTH

_logger = logging.getLogger("everfold.files")
_creating: Final = Lock()
_warned: Final[set[str]] = set()


def ensure_private(path: str) -> None:
    """Make an empty file that only its owner may read, or warn once about one that everybody may read.

    What cannot be made is left to the caller, whose own attempt to open it says why. Of two calls in one process the
    second returns when the first has closed the file: closing it later would take the caller's locks along.
    """
    with _creating:
        try:
            place = os.path.realpath(path)  # the file that a link names, even where it is missing
            os.close(_create(place))
        except FileExistsError:
            _warn_if_open(place)
        except (OSError, ValueError):
            return


def write_private(path: Path, text: str) -> None:
    """Write a text as UTF-8 in place of what a file holds; a new file is readable by its owner only.

    Raises:
        OSError: the file cannot be written.
    """
    place = os.path.realpath(path)
    try:
        file = os.fdopen(_create(place), "w", encoding="utf-8")
    except FileExistsError:
        _warn_if_open(place)
        file = path.open("w", encoding="utf-8")
    with file:
        file.write(text)


def _create(place: str) -> int:
    """A new file's descriptor. The mode is set once more, since a umask may have taken rights from the owner."""
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE)
    if os.name == "posix":
        os.fchmod(descriptor, PRIVATE_MODE)
    return descriptor


def _warn_if_open(place: str) -> None:
    found = os.stat(place)  # noqa: PTH116 - a string, as it was resolved
    if os.name != "posix" or place in _warned or not stat.S_ISREG(found.st_mode) or not found.st_mode & _OF_OTHERS:
        return
    _warned.add(place)
    _logger.warning(
        "%s can be read or written by every user of this machine (mode %03o); `chmod 600` it and its -wal and -shm files",
        place,
        stat.S_IMODE(found.st_mode),
    )
