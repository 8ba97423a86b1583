"""A plug-in that remembers what it was told."""

from everfold.core.observation.hooks import (
    HookCall,
    MemoryWrite,
    PendingFold,
    SessionEnd,
    SessionSwitch,
    TurnEnd,
    TurnStart,
)
from everfold.ports.hooks import Hooks


class Hearing(Hooks):
    """Hears everything, and counts each hook in its counters.

    Args:
        heard: Where it writes down what it hears, so that several can share one list.
        name: Its name.
    """

    def __init__(self, heard: list[tuple[str, HookCall]] | None = None, *, name: str = "Hearing") -> None:
        self.heard: list[tuple[str, HookCall]] = [] if heard is None else heard
        self._name = name

    @property
    def name(self) -> str:
        """The name that the test gave it."""
        return self._name

    @property
    def hooks(self) -> list[str]:
        """Which hooks were called, in order."""
        return [hook for hook, _ in self.heard]

    def hear(self, hook: str, told: HookCall) -> None:
        """Write it down."""
        told.counters[hook] = told.counters.get(hook, 0) + 1
        self.heard.append((hook, told))

    async def on_pre_compress(self, fold: PendingFold) -> str:
        """Give a hint that names the plug-in."""
        self.hear("on_pre_compress", fold)
        return f"hint of {self.name}"

    async def on_session_switch(self, switch: SessionSwitch) -> None:
        """Write it down."""
        self.hear("on_session_switch", switch)

    async def on_session_end(self, end: SessionEnd) -> None:
        """Write it down."""
        self.hear("on_session_end", end)

    async def on_turn_start(self, turn: TurnStart) -> None:
        """Write it down."""
        self.hear("on_turn_start", turn)

    async def on_turn_end(self, turn: TurnEnd) -> None:
        """Write it down."""
        self.hear("on_turn_end", turn)

    async def on_memory_write(self, write: MemoryWrite) -> None:
        """Write it down."""
        self.hear("on_memory_write", write)
