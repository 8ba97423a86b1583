"""The machine's clock."""

from datetime import UTC, datetime

from everfold.adapters.system.clock import SystemClock
from everfold.ports.system import Clock


def test_tells_the_machines_time_in_utc() -> None:
    """A look lies between two readings of the machine's time, and says its timezone."""
    clock: Clock = SystemClock()
    before = datetime.now(UTC)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC
