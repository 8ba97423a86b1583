"""Check arguments: a public method refuses a value of another type than its signature states, before it does anything.

A number that was read from a form or from the environment is a text, and no type checker sees it. Deep in a store such a
value fails like a damaged row.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime
from functools import wraps
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

from everfold.errors import MOST_QUOTED_CHARS, InvalidInputError

T = TypeVar("T")
_Method = Callable[..., Any]

_EXPECTED: Final[dict[type, str]] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    date: "a date",
    datetime: "a datetime with a time zone",
    NoneType: "None",
}
"""The types that are checked, beside dataclasses, with what an error calls them."""


def checked(cls: type[T]) -> type[T]:
    """Have each public method of a class check its arguments that are numbers, texts, moments or dataclasses, or None.

    A bool is no number, and a whole number is also a `float`. Other arguments are the method's own matter. Methods raise
    `InvalidInputError`, which names the method, the argument, the value, and what was expected.
    """
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(cls, name, _check_first(method, f"{cls.__name__}.{name}"))
    return cls


def _check_first(method: _Method, place: str) -> _Method:
    parameters = inspect.signature(method).parameters
    taken = {name: kinds for name, one in parameters.items() if (kinds := _list_kinds(one.annotation))}
    names = tuple(parameters)
    if not taken:
        return method
    if not inspect.iscoroutinefunction(method):

        @wraps(method)
        def call(*arguments: object, **options: object) -> object:
            _require(place, taken, chain(zip(names, arguments, strict=False), options.items()))
            return method(*arguments, **options)

        return call

    @wraps(method)
    async def call_async(*arguments: object, **options: object) -> object:
        _require(place, taken, chain(zip(names, arguments, strict=False), options.items()))
        return await method(*arguments, **options)

    return call_async


def _list_kinds(annotation: object) -> tuple[type, ...]:
    """The types of an argument; none where one of them is not checked."""
    is_union = get_origin(annotation) in (Union, UnionType)
    kinds = [getattr(one, "__supertype__", one) for one in (get_args(annotation) if is_union else [annotation])]
    found = tuple(kind for kind in kinds if isinstance(kind, type) and (kind in _EXPECTED or is_dataclass(kind)))
    if len(found) < len(kinds):
        return ()
    return (int, *found) if float in found else found


def _require(place: str, taken: Mapping[str, tuple[type, ...]], given: Iterable[tuple[str, object]]) -> None:
    for name, value in given:
        kinds = taken.get(name)
        if kinds is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
            expected = " or ".join(_EXPECTED.get(kind, f"a {kind.__name__}") for kind in kinds)
            got = repr(value)[:MOST_QUOTED_CHARS]
            raise InvalidInputError(f"{place}: {name} must be {expected}, got {got}")
