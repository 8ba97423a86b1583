"""What every shape has."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


class Shape(BaseModel):
    """What the API gives. It is made from a value of the engine's by a function beside it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Given(BaseModel):
    """What the API takes. What it does not know it refuses."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _show_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


Time = Annotated[datetime, PlainSerializer(_show_time, return_type=str, when_used="json")]
"""A moment, in UTC.

Source: RFC 3339, section 5.6.
"""
