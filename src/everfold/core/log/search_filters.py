"""What lists are narrowed to: messages by role and time, sessions by time and title."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from everfold.core.log.messages import Role
from everfold.core.primitives.moments import require_aware
from everfold.errors import InvalidInputError


def require_span(since: datetime | None, until: datetime | None) -> None:
    """Refuse a span of time that holds no moment.

    Raises:
        InvalidInputError: a time has no zone, or the span holds no moment.
    """
    require_aware("since", since)
    require_aware("until", until)
    if since is not None and until is not None and since >= until:
        raise InvalidInputError(f"since must be before until; got {since.isoformat()} and {until.isoformat()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Which messages a search may give.

    Attributes:
        roles: Only messages in one of these roles; of any role when empty.
        since: Only messages said then or later; aware.
        until: Only messages said before then; aware.

    Raises:
        InvalidInputError: a time has no zone, or the span holds no moment.
    """

    roles: frozenset[Role] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        require_span(self.since, self.until)

    def admits(self, role: str, said_at: datetime) -> bool:
        """Whether a message in this role, said at this time, may be given."""
        return (
            (not self.roles or role in self.roles)
            and (self.since is None or said_at >= self.since)
            and (self.until is None or said_at < self.until)
        )


ANY_MESSAGE: Final = SearchFilter()
"""Lets every message through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions a list gives.

    Attributes:
        since: Only sessions created then or later; aware.
        until: Only sessions created before then; aware.
        title: Only sessions whose own title holds this text, in any case; every session when empty.

    Raises:
        InvalidInputError: a time has no zone, or the span holds no moment.
    """

    since: datetime | None = None
    until: datetime | None = None
    title: str = ""

    def __post_init__(self) -> None:
        require_span(self.since, self.until)


ANY_SESSION: Final = SessionFilter()
"""Lets every session through."""
