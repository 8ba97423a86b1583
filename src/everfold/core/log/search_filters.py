"""What a search of messages is narrowed to: roles, and a span of time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from everfold.core.log.messages import Role
from everfold.errors import InvalidInputError


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
        for name, time in (("since", self.since), ("until", self.until)):
            if time is not None and time.utcoffset() is None:
                raise InvalidInputError(f"{name} {time.isoformat()} has no time zone; give an aware datetime")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInputError(
                f"since must be before until; got {self.since.isoformat()} and {self.until.isoformat()}"
            )

    def admits(self, role: str, said_at: datetime) -> bool:
        """Whether a message in this role, said at this time, may be given."""
        return (
            (not self.roles or role in self.roles)
            and (self.since is None or said_at >= self.since)
            and (self.until is None or said_at < self.until)
        )


ANY_MESSAGE: Final = SearchFilter()
"""Lets every message through."""
