"""What a value that does not fit, and a row that cannot be read, become."""

from collections.abc import Mapping, Sequence

from everfold.adapters.sql.database import Bound, Row, SqlValue
from everfold.errors import CorruptStoreError, InvalidInputError

UNFIT = (TypeError, OverflowError, UnicodeEncodeError)
"""What a driver raises for a value that it cannot bind. Reading a row raises none of them in the driver."""

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError)
"""What decoding a stored row raises, beside our own errors: all that is read was written by us, so it is damage."""


def unfit_value(query: str, values: Mapping[str, object], error: Exception) -> InvalidInputError:
    """The error for a value that a database cannot hold: the caller's fault, not the file's."""
    told = next(
        (f"{name} is {value!r:.60}" for name, value in values.items() if _is_unfit(value)), "a value does not fit"
    )
    return InvalidInputError(
        f"{query}: {told} ({error}); expected ids and names of whole characters without NUL, and numbers of at most 64 bits",
        query=query,
    )


def unfit_among(asked: Sequence[Bound], error: Exception) -> InvalidInputError:
    """The error for several queries, one of which has a value that a database cannot hold."""
    name, values = next((one for one in asked if any(map(_is_unfit, one[1].values()))), asked[0])
    return unfit_value(name, values, error)


def unfit_row(query: str, rows: Sequence[Row | Mapping[str, SqlValue]], error: Exception) -> InvalidInputError:
    """The error for several rows of bindings, one of which has a value that a database cannot hold."""
    named = [row if isinstance(row, Mapping) else {f"value {at}": one for at, one in enumerate(row, 1)} for row in rows]
    return unfit_among([(query, row) for row in named], error)


def _is_unfit(value: object) -> bool:
    if isinstance(value, str):
        return any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
    return not isinstance(value, int | float | bytes | None) or (
        isinstance(value, int) and not -(2**63) <= value < 2**63
    )


def damaged_row(path: str, error: Exception) -> CorruptStoreError:
    """The error for a row that cannot be decoded."""
    return CorruptStoreError(
        f"{path} holds a row that cannot be read ({type(error).__name__}: {error}); it is damaged: restore it from a "
        "backup. Nothing was changed",
        path=path,
    )
