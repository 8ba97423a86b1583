"""What a value that does not fit, and a row that cannot be read, become."""

from collections.abc import Mapping

from everfold.errors import CorruptStoreError, InvalidInputError

UNFIT = (TypeError, OverflowError, UnicodeEncodeError)
"""What a driver raises for a value that it cannot bind. Reading a row raises none of them in the driver."""

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError)
"""What decoding a stored row raises, beside our own errors: all that is read was written by us, so it is damage."""


def unfit_value(query: str, values: Mapping[str, object], error: Exception) -> InvalidInputError:
    """The error for a value that a database cannot hold: the caller's fault, not the file's."""
    told = next(
        (f"{name} is {value!r:.60}" for name, value in values.items() if _is_unfit(value)), "one of them is not"
    )
    return InvalidInputError(
        f"{query}: {told} ({error}); expected ids and names of whole characters, and numbers of at most 64 bits",
        query=query,
    )


def _is_unfit(value: object) -> bool:
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)
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
