"""Log lines: every event but changes as one line of the logger `everfold`, through the standard library's `logging`.

A line is the kind of the event and its figures as `name=value`; the same figures are the record's attribute
`everfold`, a dict, for JSON. Nothing is printed until the program sets logging up.

Source: docs/adr/0018-hooks-and-feed.md.
"""

import logging
from dataclasses import fields, is_dataclass

from everfold.core.observation.events import (
    CHANGES,
    BreakerOpened,
    CompactionDegraded,
    Event,
    HookFailed,
    MemoryDelayed,
    SourceAsked,
    WorkFailed,
)
from everfold.errors import EverfoldError

LOGGER_NAME = "everfold"

_WARNINGS = (CompactionDegraded, HookFailed, BreakerOpened, MemoryDelayed, SourceAsked, WorkFailed)
"""What is a warning, at least sometimes; everything else is information."""

_FAILED = frozenset({"failed", "timed_out"})
_logger = logging.getLogger(LOGGER_NAME)
_logger.addHandler(logging.NullHandler())


class LogLines:
    """Writes events to the log: what an operator should look at as warnings or errors, the rest as information."""

    def hears(self, kind: type[Event]) -> bool:
        """Everything that may be written at the logger's level, but for changes, which come with every turn."""
        return not issubclass(kind, CHANGES) and (issubclass(kind, _WARNINGS) or _logger.isEnabledFor(logging.INFO))

    def take(self, event: Event) -> None:
        """Write one line, where the level is on."""
        level = _level_of(event)
        if not _logger.isEnabledFor(level):
            return
        figures = list_figures(event)
        line = " ".join([event.kind, *(f"{name}={value}" for name, value in figures.items())])
        _logger.log(level, "%s", line, extra={"everfold": {"kind": event.kind, **figures}}, exc_info=_find_bug(event))


def _level_of(event: Event) -> int:
    if _find_bug(event):
        return logging.ERROR
    is_warning = event.outcome in _FAILED if isinstance(event, SourceAsked) else isinstance(event, _WARNINGS)
    return logging.WARNING if is_warning else logging.INFO


def _find_bug(event: Event) -> Exception | None:
    """The error that ended background work and is none of ours: it is logged with its traceback."""
    return event.error if isinstance(event, WorkFailed) and not isinstance(event.error, EverfoldError) else None


def list_figures(event: Event) -> dict[str, object]:
    """The ids and figures of an event by name, those of a report among them; what is unknown is left out."""
    return dict(_walk(event))


def _walk(value: object) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for field in fields(value) if is_dataclass(value) else ():
        item = getattr(value, field.name)
        if is_dataclass(item):
            found += _walk(item)
        elif item is not None and field.name != "kind" and not isinstance(item, BaseException):
            found.append((field.name, round(item, 6) if isinstance(item, float) else item))
    return found
