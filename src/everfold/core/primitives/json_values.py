"""JSON values that read back equal: key order, number form and every code point of a string.

How exactness is kept:

* Text is written with non-ASCII characters as they are and encoded as UTF-8 with ``surrogatepass``. Escapes would not do:
  a reader joins an escaped high and low surrogate into one character, although two code points were given.
* The standard encoder is quick but lenient: it turns a tuple into a list and the key ``1`` into ``"1"``. So a walk
  over the types, at a cost that does not grow with the length of strings, first tells whether all are exactly those of
  JSON. A value with another type (an enum, an ordered dict) is decoded again and compared. Only what fails is walked for
  the path to the place.
* The standard decoder is lenient too: it takes ``NaN``, lets the last of two equal keys win and reads ``1e999`` as infinity.
  Hooks refuse these, and a walk over the tokens then finds the position, which the hooks do not know.

Source: RFC 8259, sections 4 (names should be unique), 6 (no NaN or Infinity) and 8.2 (unpaired surrogates).
"""

import json
import math
import re
from typing import Final, NoReturn, TypeAlias

from everfold.errors import InvalidInputError

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, "JsonValue"]

MAX_DEPTH: Final = 500
"""How deep lists and objects may nest: half of Python's default recursion limit, which the C encoder counts against."""

_PATH_SHOWN_CHARS: Final = 120

_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
_CONSTANT: Final = re.compile("NaN|-?Infinity")
_NUMBER: Final = re.compile(r"-?[0-9]++((?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)")
"""A number at the beginning of a token; the group holds what makes it a float."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _NotExactError(ValueError):
    """A hook met something that JSON does not have or that could not be read back equal."""


def parse_json(text: str, *, first_line: int = 1) -> JsonValue:
    """Read one JSON value from text that holds nothing else but white space.

    Escaped lone surrogates stay lone. Refused besides bad syntax: ``NaN`` and infinities, a number too large for a float,
    an integer of more digits than Python reads, equal keys in one object, nesting deeper than ``MAX_DEPTH``.

    Args:
        text: The JSON text.
        first_line: The number of the text's first line in its file, for the errors.

    Raises:
        InvalidInputError: With ``line`` and ``column`` (both from 1) of the place.
    """
    try:
        value: JsonValue = _STRICT_DECODER.decode(text)
    except json.JSONDecodeError as error:  # where Python reads deep nesting, the end of the text is missed first
        found = _find_refused_token(text, before=error.pos) if _may_be_deep(text) else None
        position, reason = found or (error.pos, _syntax_reason(text, error))
        _refuse_text(text, position, reason, first_line)
    except (ValueError, RecursionError) as error:
        position, reason = _find_refused_token(text) or (0, str(error))
        _refuse_text(text, position, reason, first_line)
    if _may_be_deep(text) and _is_too_deep(value):
        position, reason = _find_refused_token(text) or (0, _TOO_DEEP)
        _refuse_text(text, position, reason, first_line)
    return value


def encode_json(value: JsonValue, *, at: str = "value") -> bytes:
    """Encode a value so that ``decode_json`` gives an equal one: same key order, numbers and code points.

    Args:
        value: What to encode. Anything that is no JSON value is refused, tuples and keys that are no strings too.
        at: The name of the value in errors, for example ``messages[3]``.

    Raises:
        InvalidInputError: Names the path to the place, for example ``messages[3].content[0].foo``.
    """
    try:
        text = _ENCODER.encode(value)
        exact = _is_plain(value) or (_DECODER.decode(text) == value and not _is_too_deep(value))
    except (TypeError, ValueError, RecursionError) as error:
        path, reason = _find_refused_value(value) or ("", str(error))
        raise _refused_value(at + path, reason) from error
    if not exact:
        path, reason = _find_refused_value(value) or ("", "it would not read back equal")
        raise _refused_value(at + path, reason)
    return text.encode("utf-8", "surrogatepass")


def decode_json(data: bytes) -> JsonValue:
    """Decode what ``encode_json`` wrote.

    Raises:
        InvalidInputError: These bytes are no JSON text in UTF-8.
    """
    try:
        value: JsonValue = _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"These {len(data)} bytes are not a JSON value: {error}.") from error
    return value


def dump_json(value: object) -> bytes:
    """A value of our own as compact JSON; strings keep every code point, lone surrogates too. Tuples become lists."""
    return _ROW_ENCODER.encode(value).encode("utf-8", "surrogatepass")


def canonical_json(value: object) -> str:
    """One text for all JSON of equal meaning: members sorted, numbers by value, so that 1.0 is 1; true is no number."""
    return json.dumps(_by_value(value), sort_keys=True, separators=(",", ":"))


def read_object(value: JsonValue) -> JsonObject:
    """A value that should be an object; an empty one where it is not."""
    return value if isinstance(value, dict) else {}


def list_objects(value: JsonValue) -> list[JsonObject]:
    """The objects of a value that should be a list of them, in their order; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _by_value(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list() | tuple():
            return [_by_value(item) for item in value]
        case dict():
            return {key: _by_value(item) for key, item in value.items()}
        case _:
            return value


def _refuse_constant(name: str) -> NoReturn:
    raise _NotExactError(name)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NotExactError(digits)
    return number


def _object_of_unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotExactError("equal keys")
    return members


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
_ROW_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_STRICT_DECODER: Final = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_object_of_unique_keys
)
_SCALAR_TYPES: Final = frozenset((str, int, float, bool, type(None)))
_TOO_DEEP: Final = f"nested more than {MAX_DEPTH} levels deep"


def _may_be_deep(text: str) -> bool:
    # Brackets inside strings count too: this only says when it is worth while to look.
    return text.count("[") + text.count("{") > MAX_DEPTH


def _is_plain(value: JsonValue) -> bool:
    """Whether a value is made of exactly the JSON types, no subclasses, and not too deep; one pass over its containers."""
    level: list[JsonValue] = [] if type(value) in _SCALAR_TYPES else [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return True
        inner: list[JsonValue] = []
        for item in level:
            if type(item) is dict:
                for key, member in item.items():
                    if type(key) is not str:
                        return False
                    if type(member) not in _SCALAR_TYPES:
                        inner.append(member)
            elif type(item) is list:
                inner += [member for member in item if type(member) not in _SCALAR_TYPES]
            else:
                return False
        level = inner
    return not level


def _is_too_deep(value: JsonValue) -> bool:
    """Whether a value nests deeper than ``MAX_DEPTH``; one pass over its containers, level by level."""
    level: list[JsonValue] = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [inner for outer in level for inner in _members(outer) if isinstance(inner, dict | list)]
    return bool(level)


def _members(container: JsonValue) -> list[JsonValue]:
    if isinstance(container, dict):
        return list(container.values())
    return container if isinstance(container, list) else []


def _syntax_reason(text: str, error: json.JSONDecodeError) -> str:
    if not text[error.pos :].strip():
        return "the text ends before the JSON value does"
    if error.msg == "Extra data":
        return "there is more text after the JSON value"
    if error.msg.startswith("Unterminated string"):
        return "a string begins here and does not end"
    return f"this is not JSON ({error.msg[0].lower()}{error.msg[1:]})"


def _refuse_text(text: str, position: int, reason: str, first_line: int) -> NoReturn:
    line = first_line + text.count("\n", 0, position)
    column = position - text.rfind("\n", 0, position)
    raise InvalidInputError(f"line {line}, column {column}: {reason}", line=line, column=column)


def _find_refused_token(text: str, *, before: int | None = None) -> tuple[int, str] | None:
    """Find the position and reason of the first token that a hook, or the depth, refused. The syntax is valid up to there.

    Nothing is looked for from `before` on: the syntax is not valid there.
    """
    keys_of_open: list[set[str] | None] = []  # None for a list
    previous = ""
    end = 0
    for match in _TOKEN.finditer(text, 0, len(text) if before is None else before):
        lexeme = match[0]
        if text[end : match.start()].strip() or (lexeme in "}]" and not keys_of_open):
            return None  # what follows are the words of a string that does not end
        end = match.end()
        if lexeme in "{[":
            keys_of_open.append(set() if lexeme == "{" else None)
            if len(keys_of_open) > MAX_DEPTH:
                return match.start(), _TOO_DEEP
        elif lexeme in "}]":
            keys_of_open.pop()
        elif lexeme[0] == '"':
            keys = keys_of_open[-1] if keys_of_open and previous in ("{", ",") else None
            if keys is not None:
                key = str(_DECODER.decode(lexeme))
                if key in keys:
                    return (
                        match.start(),
                        f"the key {lexeme[:60]} is in this object twice, so it could not be read back equal",
                    )
                keys.add(key)
        elif lexeme not in ",:" and (reason := _number_reason(lexeme)):
            return match.start(), reason
        previous = lexeme
    return None


def _number_reason(token: str) -> str | None:
    if (constant := _CONSTANT.match(token)) is not None:
        return f"{constant[0]} is not a JSON value"
    if (found := _NUMBER.match(token)) is None:
        return None
    number = found[0]
    if not found[1]:
        return None if _has_digits_allowed(number) else f"an integer of {len(number)} digits cannot be read"
    return f"the number {number[:40]} is too large for a float" if math.isinf(float(number)) else None


def _refused_value(path: str, reason: str) -> InvalidInputError:
    if len(path) > _PATH_SHOWN_CHARS:
        half = _PATH_SHOWN_CHARS // 2
        path = f"{path[:half]} ... {path[-half:]}"
    return InvalidInputError(f"{path} cannot be stored as JSON: {reason}", path=path)


def _find_refused_value(value: object) -> tuple[str, str] | None:
    """Find the path and reason of the first value, in reading order, that JSON cannot hold exactly."""
    waiting: list[tuple[object, str, int]] = [(value, "", 0)]
    while waiting:
        item, path, depth = waiting.pop()
        if isinstance(item, dict | list) and depth >= MAX_DEPTH:
            return path, f"{_TOO_DEEP}, or it contains itself"
        if isinstance(item, dict):
            odd = next((key for key in item if not isinstance(key, str)), None)
            if odd is not None or None in item:
                return path, f"the key {odd!r} is a {type(odd).__name__}, expected a string"
            waiting += [(inner, path + _key_path(key), depth + 1) for key, inner in reversed(item.items())]
        elif isinstance(item, list):
            waiting += [(item[i], f"{path}[{i}]", depth + 1) for i in range(len(item) - 1, -1, -1)]
        elif reason := _scalar_reason(item):
            return path, reason
    return None


def _key_path(key: str) -> str:
    return f".{key}" if _NAME.fullmatch(key) else f"[{json.dumps(key)}]"


def _scalar_reason(item: object) -> str | None:
    if isinstance(item, float) and not math.isfinite(item):
        return f"{item!r} is not a JSON value"
    if isinstance(item, int):
        return None if _has_digits_allowed(item) else "an integer of more digits than Python converts"
    if item is None or isinstance(item, str | float):
        return None
    return f"it is a {type(item).__name__}, expected an object, a list, a string, a number, true, false or null"


def _has_digits_allowed(number: int | str) -> bool:
    """Whether Python converts an integer to or from text; above 4300 digits, unless it is told otherwise, it does not."""
    try:
        f"{int(number)}"
    except ValueError:
        return False
    return True


def clean_text(text: str) -> str:
    """The text as a provider can take it: lone surrogates become U+FFFD, halves of a pair become their character.

    Gives the very same object when nothing is to be done.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: JsonValue) -> JsonValue:
    """The same JSON with every string and key as `clean_text` gives it."""
    match value:
        case str():
            return clean_text(value)
        case dict():
            return {clean_text(key): clean_json(item) for key, item in value.items()}
        case list():
            return [clean_json(item) for item in value]
        case _:
            return value
