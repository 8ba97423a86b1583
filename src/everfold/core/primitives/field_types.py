"""Whether the fields of a value that was read from outside have the types that its class states.

Only what our own values are made of is known: texts, numbers, truths, moments, literals, tuples, and values of them.
"""

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Final, Literal, NewType, get_args, get_origin, get_type_hints

from everfold.core.primitives.moments import is_in_utc
from everfold.errors import InvalidInputError

MOST_WHOLE: Final = 2**53
"""Whole numbers up to this are the same in every reader of JSON. Source: RFC 8259, section 6."""
_UNIONS: Final = frozenset((get_origin(int | None), get_origin(Literal["a"] | None)))
_CHECKED: Final = frozenset(
    ("id", "user_id", "agent_id", "session_id", "identity", "topic_id", "dream_id", "compaction_id")
)
"""Fields that a store keeps as text of its own, which takes no half of a character."""


def check_fields(value: object, value_type: type) -> str:
    """What is wrong with the first field that is not as its class states; empty when all are."""
    if not isinstance(value, value_type):
        return f"expected {value_type.__name__}, got {type(value).__name__}"
    for name, hint in _read_hints(value_type).items():
        found: object = getattr(value, name)
        problem = _check(found, hint)
        if not problem and name in _CHECKED and isinstance(found, str) and not _is_storable(found):
            problem = f"{found!r} holds half of a character"
        if not problem and name == "id" and not found:
            problem = "it is empty"
        if problem:
            return f"{name}: {problem}"
    return ""


def broken(at: str, problem: str) -> InvalidInputError:
    """The error of a document that is not as it must be at a place."""
    return InvalidInputError(f"the export is broken at {at}: {problem}; nothing was stored", at=at)


def require_text(value: object, at: str) -> str:
    """A text that is not empty and that a store can keep as its own.

    Raises:
        InvalidInputError: it is none; names the place.
    """
    if not isinstance(value, str) or not value or not _is_storable(value):
        raise broken(at, f"expected a text that is not empty, got {value!r}")
    return value


@cache
def _read_hints(value_type: type) -> dict[str, object]:
    return dict(get_type_hints(value_type))


def _check(value: object, hint: object) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return _check(value, hint.__supertype__)
    if origin is Literal:
        return "" if value in arguments and isinstance(value, str) else f"{value!r} is none of {', '.join(arguments)}"
    if origin in _UNIONS:
        problems = [_check(value, argument) for argument in arguments]
        return "" if "" in problems else problems[0]
    if origin is tuple:
        return _check_tuple(value, arguments)
    if not isinstance(hint, type):
        return f"expected {hint}"
    return _check_plain(value, hint)


def _check_tuple(value: object, arguments: tuple[object, ...]) -> str:
    if not isinstance(value, tuple):
        return f"expected a list, got {type(value).__name__}"
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004  (a type, and as many as there are)
        hints: tuple[object, ...] = (arguments[0],) * len(value)
    else:
        hints = arguments
    if len(hints) != len(value):
        return f"expected {len(hints)} entries, got {len(value)}"
    return next(filter(None, map(_check, value, hints)), "")


def _check_plain(value: object, hint: type) -> str:
    if hint is type(None):
        return "" if value is None else "expected null"
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return ""
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        return f"expected {hint.__name__}, got {type(value).__name__}"
    if isinstance(value, int) and abs(value) > MOST_WHOLE:
        return f"{value} is too large"
    if isinstance(value, datetime) and not is_in_utc(value):
        return "expected a moment with its offset from UTC"
    if is_dataclass(hint) and fields(hint):
        return check_fields(value, hint)
    if issubclass(hint, tuple) and hint is not tuple:  # a named tuple
        return check_fields(value, hint)
    return ""


def _is_storable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
