"""Choices: an argument that is one of a few words is that, also where no type checker has looked."""

from collections.abc import Collection
from typing import get_args

from everfold.errors import InvalidInputError

_SHOWN_CHARS = 60


def require_choice(name: str, value: object, choices: object, *, or_none: bool = False) -> None:
    """Refuse what is none of the words of a literal type, and is not left out either where it may be.

    Raises:
        InvalidInputError: names the argument and all that it may be.
    """
    if value not in get_args(choices) and not (or_none and value is None):
        expected = ", ".join(map(str, get_args(choices)))
        raise InvalidInputError(f"{name} must be one of {expected}; got {repr(value)[:_SHOWN_CHARS]}")


def require_choices(name: str, values: Collection[object], choices: object) -> None:
    """The same for several words; a single text is none.

    Raises:
        InvalidInputError: as above.
    """
    if isinstance(values, str):
        raise InvalidInputError(
            f"{name} must be several of {', '.join(get_args(choices))}; got the text {values[:60]!r}"
        )
    for value in values:
        require_choice(name, value, choices)
