"""Reading the settings of a source from a mapping: known keys only, of the right types, secrets never repeated."""

import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from everfold.errors import InvalidInputError

S = TypeVar("S")

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_WORDS: Final[dict[type, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table of texts",
}


def read_settings(cls: type[S], given: Mapping[str, object], *, what: str) -> S:
    """The settings of one source.

    Args:
        cls: A dataclass whose fields are texts, numbers, booleans or mappings of texts, perhaps None.
        given: What was configured, under the names of its fields.
        what: The source in words, for errors.

    Raises:
        InvalidInputError: a key is unknown (the nearest known one is named) or missing, or a value does not fit.
    """
    hints = get_type_hints(cls)
    for key in given:
        if key not in hints:
            raise InvalidInputError(f"{what} has no setting {key!r}{name_nearest(key, list(hints))}")
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # every settings class here is a dataclass
    required = [it.name for it in fields if it.default is it.default_factory is dataclasses.MISSING]
    if missing := [name for name in required if name not in given]:
        raise InvalidInputError(f"{what} lacks the setting {missing[0]!r}; add it")
    return cls(**{key: _read_value(hints[key], value, key=key, what=what) for key, value in given.items()})


def _read_value(hint: Any, value: object, *, key: str, what: str) -> object:
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    plain = [dict if get_origin(kind) is not None else kind for kind in kinds if kind is not NoneType]
    if value is None and NoneType in kinds:
        return None
    if (
        isinstance(value, Mapping)
        and dict in plain
        and all(isinstance(it, str) for pair in value.items() for it in pair)
    ):
        return dict(value)
    if isinstance(value, bool):
        if bool in plain:
            return value
    elif isinstance(value, int) and float in plain:
        return float(value)
    elif dict not in plain and isinstance(value, tuple(plain)):
        return value
    expected = " or ".join(_WORDS[kind] for kind in plain)
    raise InvalidInputError(f"{what}: the setting {key!r} is {expected}, not a {type(value).__name__}")


def name_nearest(name: str, known: Sequence[str]) -> str:
    """The end of a sentence that refuses a name: the nearest known one, else all of them."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; expected one of {', '.join(sorted(known))}"


def check_name(name: str, *, what: str) -> None:
    """Refuse a name that could not stand in the mark of a fence.

    Raises:
        InvalidInputError: it is not letters, digits and `._@+-`, or longer than 64 characters.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(f"{what}: the name {name!r} is not 1 to 64 letters, digits and any of . _ @ + -")


def check_above_zero(settings: object, *names: str, what: str) -> None:
    """Refuse numbers of the settings that are not above 0.

    Raises:
        InvalidInputError: one is not.
    """
    for name in names:
        if not 0 < getattr(settings, name) < float("inf"):
            raise InvalidInputError(f"{what}: the setting {name!r} is a number above 0, not {getattr(settings, name)}")


def as_web(url: str) -> str:
    """An address for subscribing as one to get. Source: `webcal`, IANA's registry of URI schemes."""
    return re.sub(r"\Awebcal://", "https://", url)


def check_url(url: str, *, what: str) -> None:
    """Refuse an address that is not one of the web, or that holds a password. The address is not repeated.

    Raises:
        InvalidInputError: it is not an http or https address with a host, or it has user information.
    """
    try:
        parts = urlsplit(url)
        is_digest = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_digest = False
    if not is_digest or re.search(r"[\x00-\x20\x7f]", url):
        raise InvalidInputError(f"{what}: the url is not an address that begins with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise InvalidInputError(
            f"{what}: the url holds a user or a password; put them into an environment variable, "
            'as in headers = {Authorization = "Basic ${NAME}"}'
        )
