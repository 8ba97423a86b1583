"""Log lines: every happening as one line of the logger `everfold`, through the standard library's `logging`.

A line is the kind of the happening and its figures as `name=value`; the same figures are the record's attribute
`everfold`, a dict, for whoever writes JSON. Nobody sees anything until the program sets logging up.

Source: docs/adr/0018-hooks-and-feed.md.
"""

import logging
from dataclasses import fields, is_dataclass

from everfold.core.happenings import Happening, SourceAsked
from everfold.errors import EverfoldError

LOGGER_NAME = "everfold"

_WARNINGS = frozenset({"compaction_degraded", "hook_failed", "latch_set", "memory_delayed"})
_FAILED = frozenset({"failed", "timed_out"})
_logger = logging.getLogger(LOGGER_NAME)
_logger.addHandler(logging.NullHandler())


class LogLines:
    """Writes happenings to the log: what somebody should look at as warnings, the rest as information."""

    def take(self, happening: Happening) -> None:
        """Write one line, where the level is on."""
        level = logging.WARNING if _is_warning(happening) else logging.INFO
        if not _logger.isEnabledFor(level):
            return
        figures = list_figures(happening)
        line = " ".join([happening.kind, *(f"{name}={value}" for name, value in figures.items())])
        _logger.log(level, "%s", line, extra={"everfold": {"kind": happening.kind, **figures}})


def _is_warning(happening: Happening) -> bool:
    if isinstance(happening, SourceAsked):
        return happening.outcome in _FAILED
    return happening.kind in _WARNINGS


def list_figures(happening: Happening) -> dict[str, object]:
    """The ids and figures of a happening by name, those of a report among them; what is unknown is left out."""
    return dict(_walk(happening))


def _walk(value: object) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for field in fields(value) if is_dataclass(value) else ():
        item = getattr(value, field.name)
        if is_dataclass(item):
            found += _walk(item)
        elif item is not None and field.name != "kind" and not isinstance(item, BaseException):
            found.append((field.name, round(item, 6) if isinstance(item, float) else item))
    return found


def log_failed_work(name: str, error: Exception) -> None:
    """Write that background work for a session or an event ended with an error; it is still there, and tried again."""
    is_ours = isinstance(error, EverfoldError)
    reason = error.code if isinstance(error, EverfoldError) else type(error).__name__
    figures = {"kind": "work_failed", "name": name, "reason": reason}
    _logger.log(
        logging.WARNING if is_ours else logging.ERROR,
        "work_failed name=%s reason=%s",
        name,
        reason,
        extra={"everfold": figures},
        exc_info=None if is_ours else error,
    )
