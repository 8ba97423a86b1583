"""The machine's clock."""

from datetime import UTC, datetime


class SystemClock:
    """Tells the machine's time; see `everfold.ports.system.Clock`."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        return datetime.now(UTC)
