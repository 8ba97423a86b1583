"""The record of one compaction: its range, its plan, and what came of it."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal, cast

from everfold.core.certificate import Certificate
from everfold.core.drafts import Draft
from everfold.core.folding import CompactionReport
from everfold.core.layout import HeldMessage
from everfold.core.planning import CompactionPlan, Group, Trigger
from everfold.core.sessions import EventId, SessionId

EventState = Literal["pending", "running", "ready", "done", "degraded", "cancelled"]
"""pending -> running (lease) -> ready -> done | degraded | cancelled. Source: DESIGN section 3.2."""

WorkState = Literal["off", "pending", "done", "failed"]
"""How far one piece of an event's work is. off: nobody is there to do it. failed: its attempts are exhausted."""

ENDED_STATES: frozenset[EventState] = frozenset({"done", "degraded", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an event ends. `problem` says why it is degraded, or what was overcome on the way; empty when nothing was."""

    state: Literal["done", "degraded", "cancelled"]
    digest: WorkState
    extraction: WorkState = "off"
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """One compaction of one session.

    Attributes:
        ordinal: 1, 2, 3 ... along the session's lineage.
        plan: What it was begun to do.
        digest: The model's digest. It may be on its way while the extractive one is committed already.
        extraction: The extraction from its messages.
        attempts: How often a worker claimed it.
        lease_until: Running: until when its worker may be trusted to be alive. Pending: not to be claimed before.
        draft: The model's digest, verified and not yet committed.
        revises: The event whose digest this one replaces.
        problem: What went wrong with the last attempt, in words, also where a further reply was good after all; empty
            when nothing did.
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
    digest: WorkState = "off"
    extraction: WorkState = "off"
    attempts: int = 0
    lease_until: datetime | None = None
    draft: Draft | None = None
    revises: EventId | None = None
    problem: str = ""
    certificate: Certificate | None = None
    report: CompactionReport | None = None

    @property
    def has_ended(self) -> bool:
        """Nothing will be done about it any more, unless a person asks for it."""
        return self.state in ENDED_STATES

    @property
    def is_committed(self) -> bool:
        """Its layout was put in force, be it with a digest that stands until the model's is there."""
        return self.certificate is not None


def plan_to_bytes(plan: CompactionPlan) -> bytes:
    """A plan as JSON. Keeps every code point of its focus."""
    value = asdict(replace(plan, held=()))
    value["held"] = [[held.seq, held.tokens, held.hold, held.keep] for held in plan.held]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=64)
def plan_from_bytes(content: bytes) -> CompactionPlan:
    """The plan that `plan_to_bytes` wrote. The ones read last are remembered: a held event is read again and again."""
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
