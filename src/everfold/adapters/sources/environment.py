"""What settings name and the machine holds: secrets by reference, read when they are needed and never kept, and paths."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from everfold.errors import SourceError

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def read_variable(name: str, environ: Mapping[str, str], *, source: str) -> str:
    """The value of a variable of the environment.

    Raises:
        SourceError: there is none, or it is empty.
    """
    value = environ.get(name, "")
    if not value:
        raise SourceError(
            f"the source {source} needs the environment variable {name}, which is not set; set it for the process "
            "that runs Everfold",
            source=source,
        )
    return value


def fill_references(text: str, environ: Mapping[str, str], *, source: str) -> str:
    """The text with each `${NAME}` replaced by that variable.

    Raises:
        SourceError: a variable is not set.
    """
    return _REFERENCE.sub(lambda found: read_variable(found[1], environ, source=source), text)


def find_path(path: str, *, source: str) -> Path:
    """The path with its `~` as the folder of that user; it need not exist.

    Raises:
        SourceError: no path can be like that, or there is no such user.
    """
    try:
        found = Path(path).expanduser()
        with suppress(OSError):
            found.lstat()  # refuses a text that is no path
    except (RuntimeError, ValueError) as error:
        raise SourceError(
            f"the source {source} cannot read {path!r} ({error}); check the path", source=source
        ) from error
    return found
