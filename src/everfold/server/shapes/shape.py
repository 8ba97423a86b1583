"""What every shape has."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer


class Shape(BaseModel):
    """What the API gives. It is made from a value of the engine's by a function beside it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Given(BaseModel):
    """What the API takes. What it does not know it refuses."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def show_time(at: datetime) -> str:
    """A moment as JSON has it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


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

NextCursor = Annotated[
    str | None, Field(description="Give it as `cursor` for the next page; null on the last one.", examples=[None])
]
