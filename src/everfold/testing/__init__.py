"""The kit that proves an Everfold: request judges, seeded logs, and Hypothesis strategies over wire messages.

Nothing is loaded until it is used: the strategies need `hypothesis`, the rest needs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold.testing.logs import LogEntry, chat_log, coding_log, endless_log, one_turn_of_steps
    from everfold.testing.requests import check_anthropic_request, check_openai_request, check_window_rules

_HOME_BY_NAME = {
    "LogEntry": "logs",
    "chat_log": "logs",
    "check_anthropic_request": "requests",
    "check_openai_request": "requests",
    "check_window_rules": "requests",
    "coding_log": "logs",
    "endless_log": "logs",
    "one_turn_of_steps": "logs",
}

__all__ = [
    "LogEntry",
    "chat_log",
    "check_anthropic_request",
    "check_openai_request",
    "check_window_rules",
    "coding_log",
    "endless_log",
    "one_turn_of_steps",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    if name not in _HOME_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_BY_NAME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
