"""What a value of a file must be, or a refusal that names the line."""

import hashlib
from datetime import UTC, datetime
from typing import Final, NoReturn

from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError

_HASH_CHARS: Final = 32

_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null or nothing",
}


def refuse(line: int, reason: str) -> NoReturn:
    """Refuse the file for a reason on one of its lines.

    Raises:
        InvalidInputError: Always, with ``line``.
    """
    raise InvalidInputError(f"line {line}: {reason}", line=line)


def type_name(value: JsonValue) -> str:
    """Give the JSON type of a value, in words."""
    return _TYPE_NAMES[type(value)]


def expect_object(value: JsonValue, what: str, line: int) -> dict[str, JsonValue]:
    """Give the value as an object, or refuse the line."""
    if not isinstance(value, dict):
        refuse(line, f"{what} is {type_name(value)}, expected an object")
    return value


def expect_list(value: JsonValue, what: str, line: int) -> list[JsonValue]:
    """Give the value as a list, or refuse the line."""
    if not isinstance(value, list):
        refuse(line, f"{what} is {type_name(value)}, expected a list")
    return value


def expect_string(value: JsonValue, what: str, line: int) -> str:
    """Give the value as a string, or refuse the line."""
    if not isinstance(value, str):
        refuse(line, f"{what} is {type_name(value)}, expected a string")
    return value


def expect_role(message: dict[str, JsonValue], roles: tuple[str, ...], what: str, line: int) -> str:
    """Give the role of a message, which must be one of those that its format knows, or refuse the line."""
    role = expect_string(message.get("role"), f"the role of this {what}", line)
    if role not in roles:
        refuse(line, f"the role {role!r} is not one of an {what}: expected {', '.join(roles)}")
    return role


def number_names(name: str, count: int) -> list[str]:
    """Give a name to each of several conversations of one file; a single one has the name of the file."""
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def parse_time(value: JsonValue, what: str, line: int) -> datetime | None:
    """Give an ISO 8601 time in UTC, or None where there is none; a time without a zone is read as UTC."""
    if value is None:
        return None
    text = expect_string(value, what, line)
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"line {line}: {what} is {text!r}, expected a time in ISO 8601 form", line=line
        ) from error


def label_line(text: str, *ids: JsonValue) -> str:
    """The id of a line: those of its own that it has, else a hash of it."""
    own = [str(one) for one in ids if isinstance(one, str | int) and not isinstance(one, bool) and one != ""]
    return ":".join(own) or hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def title_of(*values: JsonValue) -> str:
    """Give the first of some titles that is a text with a word in it; empty where none is."""
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def name_of(value: JsonValue, fallback: str) -> str:
    """Give what a file calls something, a string or a number, or the fallback where it gives no name."""
    return str(value) if isinstance(value, str | int) and value != "" else fallback
