"""What every store holds to about the figures of each day. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from dataclasses import replace
from datetime import date

from everfold.core.observation.activity import FIGURES, Activity, DayActivity
from everfold.ports.stores import Store
from everfold.testing.contract.usage import call
from everfold.testing.kit.builders import minute

FIRST, SECOND = date(2031, 3, 3), date(2031, 3, 4)
FULL = Activity(**{name: place + 1 for place, name in enumerate(FIGURES)})
"""Figures of which no two are equal."""


class ActivityContract:
    """Figures of a day add up, and are listed by day."""

    async def test_figures_add_up_day_by_day(self, store: Store) -> None:
        """What is added to a day is added to each of its figures; days are listed from one on, rising."""
        assert (await store.list_activity(since=date(1, 1, 1)), await store.sum_activity()) == ([], Activity())
        await store.add_activity(SECOND, FULL)
        await store.add_activity(FIRST, FULL)
        await store.add_activity(SECOND, Activity(messages_count=5, cost_usd=0.25))
        more = replace(FULL, messages_count=FULL.messages_count + 5, cost_usd=FULL.cost_usd + 0.25)
        assert await store.list_activity(since=FIRST) == [
            DayActivity(day=FIRST, activity=FULL),
            DayActivity(day=SECOND, activity=more),
        ]
        assert await store.list_activity(since=SECOND) == [DayActivity(day=SECOND, activity=more)]
        assert await store.sum_activity() == FULL.plus(more)

    async def test_a_recorded_call_counts_on_its_day(self, store: Store) -> None:
        """Every call of a model is in the figures of the day on which it started, with a cost that is not known as 0."""
        await store.record_call(
            replace(call("call_1", cost_usd=0.5), input_tokens=900, cached_tokens=400, output_tokens=50)
        )
        await store.record_call(call("call_2"))
        expected = Activity(calls_count=2, input_tokens=900, cached_tokens=400, output_tokens=50, cost_usd=0.5)
        assert await store.list_activity(since=minute(0).date()) == [
            DayActivity(day=minute(0).date(), activity=expected)
        ]
