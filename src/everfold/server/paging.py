"""Pages of a list: how many, from where on, and where the next one begins."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeVar

from fastapi import Query

from everfold.core.memory.records import AuditPlace
from everfold.core.primitives.listing import MOST_LISTED
from everfold.errors import MalformedRequestError

T = TypeVar("T")

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before.", examples=["ses_01"])]
DEFAULT_LIMIT: Final = 100


def next_cursor(page: Sequence[T], limit: int, name: Callable[[T], str]) -> str | None:
    """The cursor of what follows a page, which names its last entry: None where it is not full, and so the last one."""
    return name(page[-1]) if page and len(page) >= limit else None


_ORDINAL: Final = re.compile(r"[0-9]{1,18}")
_PLACE: Final = re.compile(r"([0-9]{1,17})\.([0-9]{1,18})")
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_ordinal(cursor: str | None) -> int | None:
    """The number that a cursor is.

    Raises:
        MalformedRequestError: it is none.
    """
    if cursor is None:
        return None
    if not _ORDINAL.fullmatch(cursor):
        raise _refuse(cursor)
    return int(cursor)


def write_place(place: AuditPlace) -> str:
    """The cursor of a place in an audit."""
    return f"{(place.at - _EPOCH) // _MICROSECOND}.{place.ordinal}"


def read_place(cursor: str | None) -> AuditPlace | None:
    """The place that a cursor names.

    Raises:
        MalformedRequestError: it names none.
    """
    if cursor is None:
        return None
    found = _PLACE.fullmatch(cursor)
    if found is None:
        raise _refuse(cursor)
    return AuditPlace(_EPOCH + int(found[1]) * _MICROSECOND, int(found[2]))


def _refuse(cursor: str) -> MalformedRequestError:
    return MalformedRequestError(f"the cursor {cursor!r} is invalid; send `next_cursor` of the previous page")
