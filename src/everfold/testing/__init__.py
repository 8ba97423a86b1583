"""The kit that proves an Everfold: request judges, seeded logs, and Hypothesis strategies over wire messages.

Nothing is loaded until it is used: the strategies need `hypothesis`, the rest needs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold.testing.demo import DemoLog, PlantedFact, demo_log
    from everfold.testing.log_plans import GeneratedLog
    from everfold.testing.logs import LogEntry, chat_log, coding_log, endless_log, one_turn_of_steps
    from everfold.testing.requests import check_anthropic_request, check_openai_request, check_window_rules
    from everfold.testing.strategies import (
        BrokenMessage,
        st_anthropic_log,
        st_broken_message,
        st_json_value,
        st_openai_log,
        st_text,
    )

_HOME_BY_NAME = {
    "BrokenMessage": "strategies",
    "DemoLog": "demo",
    "GeneratedLog": "log_plans",
    "LogEntry": "logs",
    "PlantedFact": "demo",
    "chat_log": "logs",
    "check_anthropic_request": "requests",
    "check_openai_request": "requests",
    "check_window_rules": "requests",
    "coding_log": "logs",
    "demo_log": "demo",
    "endless_log": "logs",
    "one_turn_of_steps": "logs",
    "st_anthropic_log": "strategies",
    "st_broken_message": "strategies",
    "st_json_value": "strategies",
    "st_openai_log": "strategies",
    "st_text": "strategies",
}

__all__ = [
    "BrokenMessage",
    "DemoLog",
    "GeneratedLog",
    "LogEntry",
    "PlantedFact",
    "chat_log",
    "check_anthropic_request",
    "check_openai_request",
    "check_window_rules",
    "coding_log",
    "demo_log",
    "endless_log",
    "one_turn_of_steps",
    "st_anthropic_log",
    "st_broken_message",
    "st_json_value",
    "st_openai_log",
    "st_text",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    if name not in _HOME_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_BY_NAME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
