"""Edits of a JSON file that leave every other byte as it is.

A file is parsed into places: where each value begins and ends. An edit puts the text of one value at its place, or takes one
out with the comma that it came with. Comments are passed over like white space.

Source: RFC 8259; comments as in JSON with Comments, which editors write.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from everfold.core.primitives.json_values import JsonValue, parse_json
from everfold.errors import InvalidInputError

_GAP: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN: Final = re.compile(r"[^\s,\]}/]+")


@dataclass(slots=True, kw_only=True)
class Place:
    """One value of a text. `begin` is where its key begins, where it has one; `key` is empty for elements."""

    begin: int
    start: int
    end: int = 0
    key: str = ""
    parts: list["Place"] = field(default_factory=list)

    def find(self, key: str) -> "Place | None":
        """The member with a key."""
        return next((part for part in self.parts if part.key == key), None)


def parse_places(text: str) -> Place:
    """Where the value of a text is, and all inside it.

    Raises:
        InvalidInputError: the text is no JSON.
    """
    try:
        root = _parse(text, _skip(text, 0))
        is_whole = _skip(text, root.end) == len(text)
    except (ValueError, IndexError, RecursionError) as error:
        raise InvalidInputError("the file is not valid JSON; correct it, and try again") from error
    if not is_whole:
        raise InvalidInputError("the file is not valid JSON: text follows its value; correct it, and try again")
    return root


def _parse(text: str, at: int, *, begin: int | None = None, key: str = "") -> Place:
    place = Place(begin=at if begin is None else begin, start=at, key=key)
    if text[at] in "{[":
        place.end = _parse_parts(text, at, place)
    else:
        found = (_STRING if text[at] == '"' else _PLAIN).match(text, at)
        if found is None:
            raise ValueError
        json.loads(found.group())
        place.end = found.end()
    return place


def _parse_parts(text: str, at: int, place: Place) -> int:
    is_object = text[at] == "{"
    closing = "}" if is_object else "]"
    at = _skip(text, at + 1)
    while text[at] != closing:
        part = _parse_member(text, at) if is_object else _parse(text, at)
        place.parts.append(part)
        at = _skip(text, part.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != closing:
            raise ValueError
    return at + 1


def _parse_member(text: str, at: int) -> Place:
    name = _STRING.match(text, at)
    if name is None:
        raise ValueError
    colon = _skip(text, name.end())
    if text[colon] != ":":
        raise ValueError
    return _parse(text, _skip(text, colon + 1), begin=at, key=json.loads(name.group()))


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def read_value(text: str, place: Place) -> JsonValue:
    """The value at a place. Comments inside it are left out."""
    if place.parts and text[place.start] == "{":
        return {part.key: read_value(text, part) for part in place.parts}
    if text[place.start] == "[":
        return [read_value(text, part) for part in place.parts]
    return {} if text[place.start] == "{" else parse_json(text[place.start : place.end])


def find_place(text: str, path: Sequence[str]) -> Place | None:
    """The value at a path of keys, or None."""
    place: Place | None = parse_places(text)
    for key in path:
        place = None if place is None or text[place.start] != "{" else place.find(key)
    return place


def add(text: str, path: Sequence[str], value: JsonValue) -> str:
    """Put a value at the end of the list at a path, or of the object there under its last key; what is missing is made.

    A value that is a list is joined to the list at the path.

    Raises:
        InvalidInputError: the file is no JSON object, or something on the path is neither an object nor a list.
    """
    place = parse_places(text)
    for depth, key in enumerate(path):
        if text[place.start] != "{":
            raise InvalidInputError(f"`{'.'.join(path[:depth]) or 'the file'}` is not an object; nothing was changed")
        inner = place.find(key)
        if inner is None:
            return _insert(text, place, _nest(path[depth + 1 :], value), key=key)
        place = inner
    if not isinstance(value, list) or text[place.start] != "[":
        raise InvalidInputError(f"`{'.'.join(path)}` already exists; nothing was changed")
    for element in value:
        text = _insert(text, _require(text, path), element)
    return text


def _require(text: str, path: Sequence[str]) -> Place:
    place = find_place(text, path)
    if place is None:
        raise InvalidInputError(f"`{'.'.join(path)}` does not exist; nothing was changed")
    return place


def _nest(path: Sequence[str], value: JsonValue) -> JsonValue:
    return {path[0]: _nest(path[1:], value)} if path else value


def _insert(text: str, container: Place, value: JsonValue, *, key: str = "") -> str:
    """Put a part at the end of a container, in the form that its other parts have."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit, own = _find_unit(text), _find_indent(text, container.begin)
    label = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if container.parts and "\n" not in text[container.start : container.parts[0].begin]:
        last = container.parts[-1]
        return f"{text[: last.end]}, {label}{json.dumps(value, ensure_ascii=False)}{text[last.end :]}"
    indent = _find_indent(text, container.parts[0].begin) if container.parts else own + unit
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    item = label + (newline + indent).join(lines)
    if container.parts:
        last = container.parts[-1]
        return f"{text[: last.end]},{newline}{indent}{item}{text[last.end :]}"
    return f"{text[: container.start + 1]}{newline}{indent}{item}{newline}{own}{text[container.end - 1 :]}"


def _find_unit(text: str) -> str:
    """The indentation of the file: that of the first member of its object."""
    root = parse_places(text)
    return (_find_indent(text, root.parts[0].begin) if root.parts else "") or "  "


def _find_indent(text: str, at: int) -> str:
    """The white space at the beginning of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def remove(text: str, path: Sequence[str], value: JsonValue) -> str:
    """Take out what `add` put in, where it is still as it was; containers that are empty then stay.

    Raises:
        InvalidInputError: the file is no JSON.
    """
    place = find_place(text, path)
    if place is None:
        return text
    if isinstance(value, list) and text[place.start] == "[":
        for element in value:
            container = _require(text, path)
            at = [read_value(text, part) for part in container.parts]
            if element in at:
                text = _cut(text, container, at.index(element))
        return text
    if read_value(text, place) != value:
        return text
    return remove_key(text, path)


def remove_empty(text: str, path: Sequence[str]) -> str:
    """Take out the object or list at a path where nothing is in it."""
    place = find_place(text, path)
    return remove_key(text, path) if place is not None and read_value(text, place) in ({}, []) else text


def remove_key(text: str, path: Sequence[str]) -> str:
    """Take out the member at a path."""
    container = _require(text, path[:-1])
    keys = [part.key for part in container.parts]
    return _cut(text, container, keys.index(path[-1])) if path[-1] in keys else text


def _cut(text: str, container: Place, at: int) -> str:
    parts = container.parts
    if len(parts) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if at:
        return text[: parts[at - 1].end] + text[parts[at].end :]
    return text[: parts[0].begin] + text[parts[1].begin :]
