"""How the API shows the engine's values, and what all schemas have.

The schema of an answer is a projection of a class: the names of the fields that are shown, in the order of the answer.
`agent=agent_id` shows a field under another name, `trigger=plan.trigger` one of a part; what is made of the value is
declared beside them. Types and descriptions come from the class, so a field is written once, where it belongs.
A field that is not named is not shown. A name that the class does not have fails when the schema is declared.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from types import GenericAlias, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    create_model,
    model_validator,
)

from everfold.server.answers import show_time
from everfold.server.schemas.examples import EXAMPLES, WORDS

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], object]


class Schema(BaseModel):
    """What the API gives. A schema that `project` declared reads its fields from a value of its source."""

    model_config = ConfigDict(frozen=True)
    source_class: ClassVar[type | tuple[()]] = ()
    field_readers: ClassVar[Mapping[str, Reader]] = {}
    """How each field is read from a value of the source, as plain JSON."""

    @model_validator(mode="before")
    @classmethod
    def read_source(cls, value: object) -> object:
        """The fields of a value of the source; anything else is taken as it is."""
        return cls.show(value) if isinstance(value, cls.source_class) else value

    @classmethod
    def show(cls, value: object) -> dict[str, object]:
        """A value of the source as plain JSON, whose types are not checked again: the engine made it.

        Source: our measurement: a page of 1,000 messages in a third of the time that checking takes.
        """
        return {name: read(value) for name, read in cls.field_readers.items()}


class Given(BaseModel):
    """What the API takes. What it does not know it refuses."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Time = Annotated[
    datetime,
    PlainSerializer(show_time, return_type=str, when_used="json"),
    Field(examples=["2031-05-01T09:30:00Z"]),
]
"""A moment, in UTC.

Source: RFC 3339, section 5.6.
"""


def _to_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a moment that no calendar has") from error


GivenTime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""A moment that a client gives, with its offset from UTC."""


def _require_whole(text: str) -> str:
    if not text.strip() or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("a name is not empty, and holds no half of a character")
    return text


GivenName = Annotated[str, Field(min_length=1), AfterValidator(_require_whole)]
"""A name that a client gives: of an agent, or a user."""


def project(
    name: str,
    source: type[T],
    fields: str,
    doc: str = "",
    /,
    *,
    base: type[Schema] = Schema,
    at: str = "",
    words: Mapping[str, str] | None = None,
    **made: type[Schema] | tuple[object, Callable[[T], object], str],
) -> type[Schema]:
    """The schema of a class.

    Args:
        name: Its name in the reference.
        source: The class.
        fields: What is shown, each `name` or `name=path`, with spaces between.
        doc: What it is; the summary of the class when empty.
        base: A schema whose fields come first.
        at: The path to the value that the fields of the base are read from; empty for the value itself.
        words: Descriptions, where the class has none or speaks of Python.
        made: The schema of what a field holds; or, of a field that is made, its type, how it is made, and what it is.

    Raises:
        TypeError: the class has no such field, a field holds values of a class and no schema of it is given, or what is
            not shown is described.
    """
    readers = {shown: _follow(attrgetter(at), read) if at else read for shown, read in base.field_readers.items()}
    words, described = words or {}, dict[str, Any]()
    for shown, _, own in (field.partition("=") for field in fields.split()):
        given = made.get(shown)
        type_, read, text = given if isinstance(given, tuple) else _look_up(source, own or shown)
        wire = _to_wire(type_, given)
        readers[shown] = _follow(read, _find_show(wire))
        described[shown] = (wire, _describe(shown, type_, words.get(shown, text)))
    if unknown := {*made, *words} - {*described}:
        raise TypeError(f"{name} shows no {', '.join(sorted(unknown))}")
    schema = create_model(name, __base__=base, __doc__=doc or _summarise(source), **described)
    schema.source_class, schema.field_readers = source, readers
    return schema


def wrap(name: str, doc: str, /, **fields: object) -> type[Schema]:
    """The schema of what a route gives as a mapping: of each field the type, or the type and what it is."""
    typed = {shown: field if isinstance(field, tuple) else (field, "") for shown, field in fields.items()}
    described: dict[str, Any] = {
        shown: (_to_wire(type_, None), _describe(shown, type_, text)) for shown, (type_, text) in typed.items()
    }
    return create_model(name, __base__=Schema, __doc__=doc, **described)


def many(schema: object) -> object:
    """The type of a list of what a schema shows."""
    return GenericAlias(list, (schema,))


def _follow(first: Reader, then: Reader | None) -> Reader:
    """One after the other."""
    return first if then is None else lambda value: then(first(value))


def _describe(shown: str, type_: object, text: str) -> Any:
    found = [EXAMPLES[key] for key in (getattr(type_, "__name__", ""), shown) if key in EXAMPLES][:1]
    examples: dict[str, Any] = {"examples": found} if found else {}
    return Field(description=text or WORDS.get(shown), **examples)


def _look_up(source: type, path: str) -> tuple[Any, Callable[[Any], object], str]:
    """The type of what a path leads to, how it is read, and what its class says of it."""
    holder: Any = source
    for name in path.split("."):
        found = inspect.getattr_static(holder, name, None)
        if isinstance(found, property):
            type_, text = inspect.get_annotations(cast("Any", found.fget))["return"], _summarise(found)
        else:
            type_, text = _read_type(holder, name), _read_attributes(holder).get(name, "")
        holder = type_
    return holder, attrgetter(path), text


def _read_type(source: type, name: str) -> Any:
    try:
        return inspect.get_annotations(source)[name]
    except KeyError:
        raise TypeError(f"{source.__name__} has no {name}") from None


@cache
def _read_attributes(source: type) -> Mapping[str, str]:
    """What the docstring of a class says of its attributes."""
    _, _, section = (inspect.getdoc(source) or "").partition("\nAttributes:\n")
    rows = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section.partition("\n\n")[0], re.MULTILINE)
    return {name: _say(text) for name, text in rows}


def _summarise(source: object) -> str:
    return _say((inspect.getdoc(source) or "").partition("\n\n")[0])


def _say(text: str) -> str:
    """A docstring's words as they are said of JSON: without line breaks and references to code."""
    return re.sub(r"\bNone\b", "null", re.sub(r"[;,] see `[^`]+`", "", " ".join(text.split())))


def _to_wire(type_: Any, schema: object) -> Any:
    """A type with a schema in the place of the class that it shows, and moments as JSON has them."""
    if isinstance(schema, type) and issubclass(schema, Schema) and type_ is schema.source_class:
        return schema
    if type_ is datetime:
        return Time
    if is_dataclass(type_) or hasattr(type_, "_fields"):
        raise TypeError(f"{type_} is shown by a schema: give it")
    origin, args = get_origin(type_), get_args(type_)
    if not args or origin in (Literal, Annotated):
        return type_
    inner = tuple(_to_wire(arg, schema) for arg in args)
    return Union[inner] if origin in (Union, UnionType) else cast("Any", origin)[inner]  # noqa: UP007 - of types that are made here


def _find_show(type_: Any) -> Reader | None:
    """How a value of a type of the wire becomes plain JSON; None where it is that already."""
    if isinstance(type_, type) and issubclass(type_, Schema):
        return type_.show
    if type_ is datetime:
        return show_time
    origin, args = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return _find_show(args[0])
    if origin in (Union, UnionType):
        return _find_show_of_one(args)
    show = _find_show(args[0]) if origin in (list, tuple) else None
    return show and (lambda values: [show(value) for value in values])


def _find_show_of_one(types: tuple[Any, ...]) -> Reader | None:
    """The same for what is of one of several types: a type or None, or one of several schemas."""
    shows = [show for type_ in types if (show := _find_show(type_))]
    if len(shows) > 1:
        by_class = {schema.source_class: schema.show for schema in types}
        return lambda value: by_class[type(value)](value)
    return (lambda value: None if value is None else shows[0](value)) if shows else None
