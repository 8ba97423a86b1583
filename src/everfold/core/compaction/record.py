"""The record of one compaction: its range, its plan, and its result."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import cast

from everfold.core.compaction.certificate import Certificate
from everfold.core.compaction.folding import CompactionReport
from everfold.core.compaction.layout import held_from_row, held_to_row
from everfold.core.compaction.planning import CompactionPlan, Group, Trigger
from everfold.core.compaction.transitions import (
    ENDED_STATES,
    Cause,
    CompactionState,
    Ending,
    WorkState,
    find_next,
    move_digest,
    move_extraction,
)
from everfold.core.digests.drafts import Draft
from everfold.core.primitives.ids import CompactionId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a compaction ends. `problem`: why it is degraded, or which problem was solved; empty without one."""

    state: Ending
    digest: WorkState
    extraction: WorkState = "off"
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """One compaction of one session.

    Attributes:
        ordinal: 1, 2, 3 ... along the session's lineage.
        plan: What it was begun to do.
        digest: The model's digest. It may be on its way while the extractive one is committed already.
        extraction: The extraction from its messages.
        attempts: How often a worker claimed it.
        lease_until: Running: until when its worker may be trusted to be alive. Pending: not to be claimed before.
        draft: The model's digest, verified and not yet committed.
        revises: The compaction whose digest this one replaces.
        problem: What went wrong with the last attempt, in words, also where a further reply was good after all; empty
            when nothing did.
        certificate: What it did with every message; None until it is committed.
        report: What it did, in figures; None until it is committed.
    """

    id: CompactionId
    session_id: SessionId
    ordinal: int
    state: CompactionState
    plan: CompactionPlan
    begun_at: datetime
    ended_at: datetime | None = None
    digest: WorkState = "off"
    extraction: WorkState = "off"
    attempts: int = 0
    lease_until: datetime | None = None
    draft: Draft | None = None
    revises: CompactionId | None = None
    problem: str = ""
    certificate: Certificate | None = None
    report: CompactionReport | None = None

    @property
    def has_ended(self) -> bool:
        """The work has ended; only a manual retry continues it."""
        return self.state in ENDED_STATES

    @property
    def is_committed(self) -> bool:
        """Its layout was put in force, be it with a digest that stands until the model's is there."""
        return self.certificate is not None

    @property
    def counted_report(self) -> CompactionReport | None:
        """What it did, in the provider's tokens, for people; None until it is committed."""
        return None if self.report is None else self.report.counted


def find_next_state(compaction: Compaction, cause: Cause) -> CompactionState | None:
    """The state that a cause gives a compaction; None where the cause is refused."""
    return find_next(compaction.state, "committed" if compaction.is_committed else "held", cause)


def drop_jobs(compaction: Compaction, ending: Ending) -> Outcome:
    """How a compaction ends when its jobs are not done."""
    return Outcome(
        state=ending,
        digest=move_digest(compaction.digest, "drop"),
        extraction=move_extraction(compaction.extraction, "drop"),
    )


def plan_to_bytes(plan: CompactionPlan) -> bytes:
    """A plan as JSON. Keeps every code point of its focus."""
    value = asdict(replace(plan, held=()))
    value["held"] = [held_to_row(held) for held in plan.held]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=64)
def plan_from_bytes(content: bytes) -> CompactionPlan:
    """The plan that `plan_to_bytes` wrote. The ones read last are remembered: a pending compaction is read again and again."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    held = tuple([held_from_row(row) for row in value.pop("held")])
    groups = cast("tuple[Group, ...]", tuple(value.pop("groups")))
    return CompactionPlan(
        held=held,
        groups=groups,
        leaving=tuple(value.pop("leaving")),
        trigger=cast("Trigger", value.pop("trigger")),
        **value,
    )


def report_to_fields(report: CompactionReport) -> dict[str, object]:
    """A report by the names that databases and other processes have: messages folded later are their `left_count`."""
    value = asdict(report)
    value["left_count"] = value.pop("folded_later_count")
    return value


def report_from_fields(value: Mapping[str, object]) -> CompactionReport:
    """The report of `report_to_fields`.

    Raises:
        TypeError: a field is missing or unknown.
    """
    renamed = {"folded_later_count" if name == "left_count" else name: one for name, one in value.items()}
    return CompactionReport(**renamed)  # type: ignore[arg-type]  # as they were written


def report_to_text(report: CompactionReport) -> str:
    """A report as JSON text, by the names of `report_to_fields`."""
    return json.dumps(report_to_fields(report), separators=(",", ":"))


def report_from_text(text: str) -> CompactionReport:
    """The report that `report_to_text` wrote."""
    return report_from_fields(json.loads(text))
