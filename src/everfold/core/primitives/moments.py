"""Moments: what a caller gives as a time."""

from datetime import UTC, datetime

from everfold.errors import InvalidInputError


def require_aware(name: str, moment: datetime | None) -> None:
    """Refuse a time without a zone, which could be any of a whole day's, and one that is in no year of UTC.

    Raises:
        InvalidInputError: it is such a time; says under which name it was given.
    """
    if moment is None:
        return
    if moment.utcoffset() is None:
        raise InvalidInputError(f"{name} {moment.isoformat()} has no time zone; give an aware datetime")
    if not is_in_utc(moment):
        raise InvalidInputError(
            f"{name} {moment.isoformat()} is outside the years 1 to 9999 in UTC; give a moment within them"
        )


def is_in_utc(moment: datetime) -> bool:
    """Whether a time has a zone, and is within the years 1 to 9999 in UTC."""
    if moment.utcoffset() is None:
        return False
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True
