"""What a request body may hold at all: values that JSON has and that encode to UTF-8."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite


def list_json_violations(value: object, path: str = "request") -> list[str]:
    """List where `value` cannot be sent as a JSON body, each entry starting with its path.

    Flags strings that do not encode to UTF-8 (lone surrogates), NaN and infinities, keys that are no strings, and
    values that JSON has no form for. Recursive: nesting deeper than the interpreter's stack is not supported.

    Source: RFC 8259, sections 4 (names are strings), 6 (no NaN, no Infinity) and 8.1 (UTF-8).
    """
    return list(_walk(value, path))


def _walk(value: object, path: str) -> Iterator[str]:
    match value:
        case None | bool() | int():
            return
        case str():
            yield from _check_text(value, path)
        case float():
            if not isfinite(value):
                yield f"{path}: {value} is no JSON number"
        case Mapping():
            yield from _walk_object(value, path)
        case list() | tuple():
            yield from _walk_array(value, path)
        case _:
            yield f"{path}: {type(value).__name__} is no JSON value"


def _walk_object(value: Mapping[object, object], path: str) -> Iterator[str]:
    for key, member in value.items():
        if isinstance(key, str):
            yield from _check_text(key, f"{path} (a key)")
        else:
            yield f"{path}: the key {key!r} is no string"
        yield from _walk(member, f"{path}.{key!r}" if not isinstance(key, str) else f"{path}.{ascii(key)[1:-1]}")


def _walk_array(value: Sequence[object], path: str) -> Iterator[str]:
    for index, member in enumerate(value):
        yield from _walk(member, f"{path}[{index}]")


def _check_text(text: str, path: str) -> Iterator[str]:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        yield f"{path}: code point {ord(text[error.start]):#06x} at {error.start} does not encode to UTF-8"
