"""Secrets by reference: settings hold the name of a variable, and its value is read when it is needed and never kept."""

import re
from collections.abc import Mapping
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
