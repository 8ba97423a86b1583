"""Sinks: where happenings go beside those who subscribe."""

from typing import Protocol

from everfold.core.happenings import Happening


class Sink(Protocol):
    """Takes the happenings of an engine, a log for example, but for changes, which come with every turn."""

    def take(self, happening: Happening) -> None:
        """Take one; must neither block nor raise."""
        ...
