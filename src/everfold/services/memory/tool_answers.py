"""Tool answers: what a tool of memory or history gives the model, and how its arguments are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.errors import (
    AccessError,
    ConflictError,
    EverfoldError,
    InvalidInputError,
    LimitError,
    StoreError,
    UsageError,
)

DEFAULT_COUNT: Final = 10
"""How many results a search gives where its caller does not say."""
_ANSWER_CHARS: Final = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool gives the model.

    Attributes:
        is_error: Nothing was done.
        is_terminal: Nothing is left to do here: the model is to go on with its answer.
    """

    text: str
    is_error: bool = False
    is_terminal: bool = False


def tell_error(error: EverfoldError) -> ToolAnswer:
    """What an error says, where it is the caller's; of any other one only that there is no memory now."""
    if isinstance(error, ConflictError | StoreError):
        return ToolAnswer(text="Memory cannot be reached right now. Answer the user.", is_error=True, is_terminal=True)
    if isinstance(error, UsageError | LimitError | AccessError):
        text = str(error)
        return ToolAnswer(text=f"Not done: {text}.", is_error=True)
    return ToolAnswer(text="Not done. Answer the user.", is_error=True, is_terminal=True)


def join_lines(lines: Sequence[str], *, empty: str) -> str:
    """Lines as one text, as many as an answer takes; never a part of one, so that every fence is closed."""
    left_chars = _ANSWER_CHARS
    taken: list[str] = []
    for line in lines:
        left_chars -= len(line) + 1
        if left_chars < 0:
            taken.append(f"[{len(lines) - len(taken)} more left out; ask for less]")
            break
        taken.append(line)
    return "\n".join(taken) or empty


def require_object(arguments: JsonValue) -> JsonObject:
    """What a tool is called with.

    Raises:
        InvalidInputError: it is no JSON object.
    """
    if not isinstance(arguments, dict):
        raise InvalidInputError(f"the arguments must be a JSON object, got {type(arguments).__name__}")
    return arguments


def get_text(arguments: JsonObject, name: str) -> str:
    """An argument that must be a text.

    Raises:
        InvalidInputError: it is another value, or blank.
    """
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(f"{name} must be a text that is not empty")
    return value


def get_count(arguments: JsonObject, name: str, *, default: int = DEFAULT_COUNT) -> int:
    """An argument that must be a count from 1 on.

    Raises:
        InvalidInputError: it is another value.
    """
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInputError(f"{name} must be a whole number, 1 or more")
    return value


def find_count(arguments: JsonObject, name: str) -> int | None:
    """The same, or None where it is left out or null."""
    return None if arguments.get(name) is None else get_count(arguments, name)


def find_moment(arguments: JsonObject, name: str) -> datetime | None:
    """An argument that must be a date, with a time or without, in UTC where it does not say; None where it is left out.

    Raises:
        InvalidInputError: it is another value.
    """
    if arguments.get(name) is None:
        return None
    try:
        moment = datetime.fromisoformat(get_text(arguments, name))
    except ValueError as error:
        raise InvalidInputError(f"{name} must be a date such as 2031-05-01, or one with a time") from error
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
