"""Sinks: where happenings go beside those who subscribe."""

from typing import Protocol

from everfold.core.happenings import Happening


class Sink(Protocol):
    """Takes every happening of an engine, a log for example."""

    def take(self, happening: Happening) -> None:
        """Take one; must neither block nor raise."""
        ...
