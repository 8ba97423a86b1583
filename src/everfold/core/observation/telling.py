"""Events as JSON: how one process tells another what it did. Nothing in them is a word of a message."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Final, get_args

from everfold.core.compaction.folding import CompactionReport
from everfold.core.compaction.record import report_from_fields, report_to_fields
from everfold.core.observation.events import Event

_KINDS: Final[Mapping[object, type[Event]]] = {
    field.default: kind for kind in get_args(Event) for field in fields(kind) if field.name == "kind"
}


def event_to_bytes(event: Event) -> bytes:
    """An event without the error that it may hold, which is for who subscribes in the same process."""
    value = {field.name: getattr(event, field.name) for field in fields(event) if field.name != "error"}
    if isinstance(value.get("report"), CompactionReport):
        value["report"] = report_to_fields(value["report"])
    return json.dumps(value, separators=(",", ":")).encode()


def find_event(value: Mapping[str, object]) -> Event | None:
    """The event of an object that was read; None for one that only another release knows."""
    kind = _KINDS.get(value.get("kind"))
    if kind is None:
        return None
    given = {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}
    try:
        if isinstance(report := given.get("report"), dict):
            given["report"] = report_from_fields(report)
        return kind(**given)  # type: ignore[arg-type]  # as they were written
    except TypeError:
        return None  # with fields that this release does not know
