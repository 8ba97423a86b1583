"""Listeners: what the events of an engine are given to, the log for example."""

from typing import Protocol

from everfold.core.observation.events import Event


class Listener(Protocol):
    """Takes the events of an engine, of the kinds that it hears."""

    def hears(self, kind: type[Event]) -> bool:
        """Whether events of this class are wanted now. Costly events are not even made where no listener wants them."""
        ...

    def take(self, event: Event) -> None:
        """Take one that it hears; must neither block nor raise."""
        ...
