"""Activity in SQL: one row a day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, cast

from everfold.adapters.sql.database import Database
from everfold.core.observation.activity import FIGURES, Activity, DayActivity

_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC).date()
"""Days are stored as their number from this one on."""


def add_activity(database: Database, day: date, activity: Activity) -> None:
    """See `ActivityStore.add_activity`."""
    database.run("add_activity", day=(day - _FIRST).days, **{name: getattr(activity, name) for name in FIGURES})


def list_activity(database: Database, *, since: date) -> list[DayActivity]:
    """See `ActivityStore.list_activity`."""
    return [
        DayActivity(day=_FIRST + timedelta(days=cast("int", day)), activity=_read(figures))
        for day, *figures in database.rows("list_activity", since=(since - _FIRST).days)
    ]


def sum_activity(database: Database) -> Activity:
    """See `ActivityStore.sum_activity`."""
    return _read(database.row("sum_activity") or ())


def _read(figures: Sequence[object]) -> Activity:
    return Activity(**dict(zip(FIGURES, cast("tuple[int, ...]", tuple(figures)), strict=True)))
