"""Users: their ids and bindings, and how a text names them.

Three kinds of text name a user: `default`, a UUID, or a name that is bound to them. Public surfaces accept
only the first two; see `require_strict`.

Source: docs/adr/0020-users.md.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everfold.core.primitives.ids import UserId, require_short
from everfold.errors import InvalidInputError

DEFAULT_NAME = "default"
"""Names the default user, whatever their display name is."""

NAME_CHANNEL = "name"
"""The channel of the names that an application or a command line speaks of users by."""

OLD_ALIAS = "test"
"""What systems before this one sent for the default user, beside the nil UUID."""

_NIL_UUID = "00000000-0000-0000-0000-000000000000"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
"""Source: RFC 9562, section 4: the text form, which is read in either case and written in lower case."""

_CHANNEL = re.compile(r"[a-z][a-z0-9_-]*")
_STRICT = f"`{DEFAULT_NAME}` or a UUID such as 6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b, not the nil one"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Binding:
    """One place where a user is known under an id of that place's own: `telegram:12345`. One user has it."""

    channel: str
    own_id: str

    def __str__(self) -> str:
        """The form that `parse_binding` reads."""
        return f"{self.channel}:{self.own_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person.

    Attributes:
        id: A UUID in lower case, for ever the same.
        name: The display name; empty where none was given.
        bindings: In the order of channel and id.
        is_default: Whom `default` names; one user of a store at most.
    """

    id: UserId
    name: str
    bindings: tuple[Binding, ...] = ()
    is_default: bool = False
    created_at: datetime

    @property
    def shown_name(self) -> str:
        """What a person reads: the display name, or the id where there is none."""
        return self.name or self.id

    @property
    def version(self) -> str:
        """Another one after every change of the name or the bindings: what an edit expects."""
        content = "\x00".join((self.name, *map(str, self.bindings)))
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserReference:
    """What a text names a user by; `text` is `default`, a UUID in lower case, or a bound name as it was given."""

    kind: Literal["default", "id", "name"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEntry:
    """One user of the settings."""

    name: str
    bindings: tuple[Binding, ...] = ()
    is_default: bool = False


def parse_user_reference(text: object) -> UserReference:
    """What a text names a user by.

    Raises:
        InvalidInputError: it is no text, empty, too long, the nil UUID, or no Unicode, or holds a NUL.
    """
    name = _require_text(text, "user", "the user must be a name that is not empty")
    if name == DEFAULT_NAME:
        return UserReference(kind="default", text=name)
    low = name.lower()
    if low == _NIL_UUID:
        raise InvalidInputError(f"the nil UUID is not a user; expected {_STRICT}, or a name")
    if _UUID.fullmatch(low):
        return UserReference(kind="id", text=low)
    return UserReference(kind="name", text=name)


def require_strict(text: object) -> UserReference:
    """What a text from a stranger names a user by: `default` or a UUID, and nothing else.

    Raises:
        InvalidInputError: it is a name, empty, the nil UUID, the alias "test", or anything else.
    """
    reference = None if text == OLD_ALIAS else parse_user_reference(text)
    if reference is None or reference.kind == "name":
        raise InvalidInputError(f"{text!r} is not a user here; expected {_STRICT}")
    return reference


def parse_binding(text: str) -> Binding:
    """A binding from `CHANNEL:ID`: `telegram:12345`. The id may hold colons.

    Raises:
        InvalidInputError: a part is missing, the channel is no word in lower case, or the id of the channel `name` is
            none that could name a user.
    """
    channel, _, own_id = _require_text(
        text, "binding", "a binding must be CHANNEL:ID, such as telegram:12345"
    ).partition(":")
    if not _CHANNEL.fullmatch(channel) or not own_id.strip():
        raise InvalidInputError(
            f"a binding must be CHANNEL:ID, such as telegram:12345, the channel in lower case; got {text!r}"
        )
    return bind_name(own_id) if channel == NAME_CHANNEL else Binding(channel=channel, own_id=own_id)


def bind_name(name: str) -> Binding:
    """The binding by which a name names a user.

    Raises:
        InvalidInputError: it is empty, or means something else already: `default`, a UUID.
    """
    if parse_user_reference(name).kind != "name":
        raise InvalidInputError(
            f"{name!r} cannot be the name of a user, because `{DEFAULT_NAME}` and UUIDs have a fixed meaning; choose "
            "another name"
        )
    return Binding(channel=NAME_CHANNEL, own_id=name)


def join_bindings(*bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Bindings together, each once, in the order of channel and id."""
    return tuple(sorted({binding for some in bindings for binding in some}))


def fold_name(name: str) -> str:
    """A name as it is searched: equal for names that differ in case, or in how their letters are composed.

    Source: Unicode Standard, 3.13 and UAX 15: compatibility form, then case folding.
    """
    return unicodedata.normalize("NFKC", name).casefold()


def plan_users(entries: Sequence[UserEntry]) -> tuple[UserEntry, ...]:
    """The users of the settings, one of them the default one: the first where none is marked. None for none.

    The bindings of each hold the name too; only the default user may have the name `default`, which needs none.

    Raises:
        InvalidInputError: two are marked, or two claim the same name or binding, or a name cannot be one.
    """
    marked = [entry.name for entry in entries if entry.is_default]
    if len(marked) > 1:
        raise InvalidInputError(f"users: {' and '.join(map(repr, marked))} are both is_default; mark one")
    planned: list[UserEntry] = []
    owners: dict[Binding, str] = {}
    for at, entry in enumerate(entries):
        is_default = entry.is_default if marked else at == 0
        names = [] if is_default and entry.name == DEFAULT_NAME else [bind_name(entry.name)]
        for binding in (*names, *set(entry.bindings).difference(names)):
            if binding in owners:
                raise InvalidInputError(
                    f"users: {owners[binding]!r} and {entry.name!r} both have {binding}; remove it from one of them"
                )
            owners[binding] = entry.name
        planned.append(UserEntry(name=entry.name, bindings=join_bindings(names, entry.bindings), is_default=is_default))
    return tuple(planned)


def _require_text(text: object, what: str, expected: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError(f"{expected}, got {text!r}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(f"{expected}; {text!r} holds half of a character")
    return require_short(text, what)
