"""Agents, hands and the tools that they have: `everfold.agents.open(...)`. Running them needs the extra `agents`."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold.agents.hand_source import HandSource
    from everfold.agents.hands import Hand, HandAnswer, Hands
    from everfold.agents.opening import Agents
    from everfold.agents.opening import open_agents as open  # noqa: A004 - `everfold.agents.open` is what a user types

_HOMES = {
    "Agents": ("everfold.agents.opening", "Agents"),
    "Hand": ("everfold.agents.hands", "Hand"),
    "HandAnswer": ("everfold.agents.hands", "HandAnswer"),
    "HandSource": ("everfold.agents.hand_source", "HandSource"),
    "Hands": ("everfold.agents.hands", "Hands"),
    "open": ("everfold.agents.opening", "open_agents"),
}

__all__ = ["Agents", "Hand", "HandAnswer", "HandSource", "Hands", "open"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'everfold.agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
