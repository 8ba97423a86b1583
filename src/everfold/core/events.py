"""The record of one compaction: its range, its plan, and what came of it."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal, cast

from everfold.core.certificate import Certificate
from everfold.core.folding import CompactionReport
from everfold.core.layout import HeldMessage
from everfold.core.planning import CompactionPlan, Group, Trigger
from everfold.core.sessions import EventId, SessionId

EventState = Literal["pending", "running", "ready", "done", "degraded", "cancelled"]
"""pending -> running (lease) -> ready -> done | degraded | cancelled. Source: DESIGN section 3.2."""

ENDED_STATES: frozenset[EventState] = frozenset({"done", "degraded", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """One compaction of one session.

    Attributes:
        ordinal: 1, 2, 3 ... along the session's lineage.
        plan: What it was begun to do.
        attempts: How often a worker claimed it.
        lease_until: Until when the worker that claimed it may be trusted to be alive.
        certificate: What it did with every message; None until it is committed.
        report: What it did, in figures; None until it is committed.
    """

    id: EventId
    session_id: SessionId
    ordinal: int
    state: EventState
    plan: CompactionPlan
    begun_at: datetime
    ended_at: datetime | None = None
    attempts: int = 0
    lease_until: datetime | None = None
    certificate: Certificate | None = None
    report: CompactionReport | None = None


def plan_to_bytes(plan: CompactionPlan) -> bytes:
    """A plan as JSON. Keeps every code point of its focus."""
    value = asdict(replace(plan, held=()))
    value["held"] = [[held.seq, held.tokens, held.hold, held.keep] for held in plan.held]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def plan_from_bytes(content: bytes) -> CompactionPlan:
    """The plan that `plan_to_bytes` wrote."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    held = tuple(
        HeldMessage(seq=seq, tokens=tokens, hold=hold, keep=keep) for seq, tokens, hold, keep in value.pop("held")
    )
    groups = cast("tuple[Group, ...]", tuple(value.pop("groups")))
    return CompactionPlan(
        held=held,
        groups=groups,
        leaving=tuple(value.pop("leaving")),
        trigger=cast("Trigger", value.pop("trigger")),
        **value,
    )


def report_to_text(report: CompactionReport) -> str:
    """A report as JSON text."""
    return json.dumps(asdict(report), separators=(",", ":"))


def report_from_text(text: str) -> CompactionReport:
    """The report that `report_to_text` wrote."""
    return CompactionReport(**json.loads(text))
