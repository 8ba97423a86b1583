"""How many entries a page of a list has."""

from typing import Final

from everfold.errors import InvalidInputError

MOST_LISTED: Final = 1_000
"""More is read page by page. Source: our own choice; a page of the largest entries stays far below a megabyte."""


def require_page_size(limit: int) -> int:
    """The number of entries that was asked for.

    Raises:
        InvalidInputError: it is not between 1 and `MOST_LISTED`.
    """
    if not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
        raise InvalidInputError(
            f"a page has 1 to {MOST_LISTED:,} entries, got {limit!r}; continue after its last one for more"
        )
    return limit
