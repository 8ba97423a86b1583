"""Pages of a list: how many, from where on, and where the next one begins."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeVar

from fastapi import Query

T = TypeVar("T")

MOST_LISTED: Final = 1_000

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most.")]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before.", examples=["ses_01"])]
DEFAULT_LIMIT: Final = 100


def next_cursor(page: Sequence[T], limit: int, cursor: str) -> str | None:
    """The cursor of what follows a page: None where it is not full, and so the last one."""
    return cursor if len(page) >= limit else None
