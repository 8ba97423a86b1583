"""Where a message came from, and how much it may decide."""

from typing import Literal, cast, get_args

from everfold.errors import InvalidInputError

Origin = Literal["user", "assistant", "tool", "external", "system"]
"""Who speaks in a message: a person, the model, a tool, something fetched from outside, or the operator."""

Source = Literal["said", "tick", "refresh", "injection"]
"""Why a message is in the log: it was said, scheduled, a context refresh, or put in by a program."""

_SOURCES: tuple[str, ...] = get_args(Source)

AUTHORITY: dict[Origin, int] = {"external": 0, "tool": 1, "assistant": 2, "user": 3, "system": 4}
"""How much a line of each origin may decide. What is derived from several lines has the lowest of them.

Source: DESIGN section 1, G9.
"""

_HIGHEST_ORIGIN: dict[str, Origin] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_ORIGIN_OF_SOURCE: dict[Source, Origin] = {"tick": "system", "injection": "external"}
"""Whose words a message of a source is where nothing else is said: a schedule is the operator's, a program puts in what
came from outside."""


def choose_origin(role: str, asked: Origin | None, *, source: Source = "said") -> Origin:
    """The origin of a message of this role: the one asked for, where the role allows it, else the role's own.

    Without one asked for, the origin follows the source: a tick in the user's role is of system origin, an injection is
    from outside. A user-role message may carry anything that a program put there. A context refresh is such a message,
    and always from outside. The other roles may only sink: nothing becomes more than its role.

    Raises:
        InvalidInputError: the origin is unknown, above what the role may say, or a refresh's and not external.
    """
    own = _HIGHEST_ORIGIN[role]
    if source == "refresh":
        if role != "user" or asked not in (None, "external"):
            raise InvalidInputError(
                f"a context refresh needs the role 'user' and external origin, got role {role!r} and origin {asked!r}"
            )
        return "external"
    if asked is None:
        return _follow_source(role, own, source)
    if asked not in get_args(Origin):
        raise InvalidInputError(f"origin {asked!r} is unknown; expected one of {', '.join(get_args(Origin))}")
    if role != "user" and AUTHORITY[asked] > AUTHORITY[own]:
        raise InvalidInputError(
            f"a message of role {role!r} cannot have the origin {asked!r}: authority never rises; "
            f"expected {own!r} or one below it"
        )
    return asked


def _follow_source(role: str, own: Origin, source: Source) -> Origin:
    """The origin of a message whose writer names none: that of its source, which only in the user's role may be higher."""
    following = _ORIGIN_OF_SOURCE.get(source, own)
    if role == "system":
        return own
    return following if role == "user" else min(following, own, key=AUTHORITY.__getitem__)


def check_source(source: str) -> Source:
    """The source as its type.

    Raises:
        InvalidInputError: the source is unknown.
    """
    if source in _SOURCES:
        return cast("Source", source)
    raise InvalidInputError(f"source {source!r} is unknown; expected one of {', '.join(get_args(Source))}")
