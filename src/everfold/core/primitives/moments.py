"""Moments: what a caller gives as a time."""

from datetime import datetime

from everfold.errors import InvalidInputError


def require_aware(name: str, moment: datetime | None) -> None:
    """Refuse a time that could be any of a whole day's, since it has no zone.

    Raises:
        InvalidInputError: it has none; says under which name it was given.
    """
    if moment is not None and moment.utcoffset() is None:
        raise InvalidInputError(f"{name} {moment.isoformat()} has no time zone; give an aware datetime")
