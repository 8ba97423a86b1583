"""Edits of a TOML file that leave what stands in it as it is, comments too.

Source: TOML 1.0.0; TOML Kit, which keeps the form of a document.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError

if find_spec("tomlkit") is None:
    raise InvalidInputError("settings in TOML need the extra `connect`: pip install 'everfold[connect]'")

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

Tables = dict[str, object]


def add(text: str, path: Sequence[str], value: JsonValue) -> str:
    """Put a table at a path of names, and make the tables around it where they are missing.

    Raises:
        InvalidInputError: the file is no TOML, or holds something at the path.
    """
    document = _parse(text)
    if has(text, path):
        raise InvalidInputError(f"`{'.'.join(path)}` already exists; nothing was changed")
    holder: Table | tomlkit.TOMLDocument = document
    for name in path[:-1]:
        if name not in holder:
            holder.add(name, tomlkit.table(is_super_table=True))
        holder = cast("Table", holder[name])
    table = tomlkit.table()
    for name, one in cast("dict[str, JsonValue]", value).items():
        table.add(name, one)
    holder.add(path[-1], table)
    return tomlkit.dumps(document)


def has(text: str, path: Sequence[str]) -> bool:
    """Whether there is something at a path of names.

    Raises:
        InvalidInputError: the file is no TOML.
    """
    return _find(_parse(text), path) is not None


def remove(text: str, path: Sequence[str], value: JsonValue) -> str:
    """Take out the table at a path where it is still as it was put in.

    Raises:
        InvalidInputError: the file is no TOML.
    """
    document = _parse(text)
    return _delete(document, path) if _find(document.unwrap(), path) == value else text


def remove_empty(text: str, path: Sequence[str]) -> str:
    """Take out the table at a path where nothing is in it."""
    document = _parse(text)
    return _delete(document, path) if _find(document.unwrap(), path) == {} else text


def _find(tables: object, path: Sequence[str]) -> object:
    for name in path:
        tables = tables.get(name) if isinstance(tables, dict) else None
    return tables


def _delete(document: tomlkit.TOMLDocument, path: Sequence[str]) -> str:
    del cast("Tables", _find(document, path[:-1]))[path[-1]]
    return tomlkit.dumps(document)


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInputError(f"the file is not valid TOML: {error}") from error
