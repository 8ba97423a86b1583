"""Compactions as a person reads them at a terminal, and as programs do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from everfold.cli.tables.output import Cell, make_table, one_line, open_console
from everfold.core.compaction.record import Compaction
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId
from everfold.session import Session

_PAGE = 200
_STATE_STYLE = {"done": "green", "degraded": "bold red", "cancelled": "dim"}
_COLUMNS = ("#", "compaction", "messages", "tokens", "state", "took")
_PROBLEM_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCost:
    """What models used for one compaction. The cost is None where no call has a known one."""

    calls_count: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


async def sum_calls(session: Session, compaction: Compaction) -> CompactionCost:
    """What models used for a compaction of a session; nothing is read for one that no model was there for."""
    calls: list[ModelCall] = []
    while compaction.attempts and (
        page := await session.inspect.calls(
            compaction=compaction.id, after=calls[-1].id if calls else None, limit=_PAGE
        )
    ):
        calls += page
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return CompactionCost(
        calls_count=len(calls),
        input_tokens=sum(call.input_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost_usd=sum(costs) if costs else None,
    )


def to_document(compaction: Compaction, cost: CompactionCost) -> dict[str, object]:
    """A compaction as one JSON value, without the texts that it holds."""
    return {
        "id": compaction.id,
        "ordinal": compaction.ordinal,
        "session": compaction.session_id,
        "trigger": compaction.plan.trigger,
        "first_seq": compaction.plan.first_seq,
        "last_seq": compaction.plan.last_seq,
        "revises": compaction.revises,
        "state": compaction.state,
        "is_waiting": not compaction.has_ended,
        "is_committed": compaction.is_committed,
        "digest": compaction.digest,
        "extraction": compaction.extraction,
        "attempts": compaction.attempts,
        "problem": compaction.problem,
        "begun_at": compaction.begun_at,
        "ended_at": compaction.ended_at,
        "not_before": compaction.lease_until if compaction.state == "pending" else None,
        "report": compaction.counted_report,
        "usage": cost,
    }


def print_compactions(rows: Sequence[tuple[Compaction, CompactionCost]]) -> None:
    """Print a line for each compaction, and below them what went wrong with any."""
    console = open_console()
    if not rows:
        console.print("no compactions")
        return
    ordinals = {compaction.id: compaction.ordinal for compaction, _ in rows}
    console.print(make_table(_COLUMNS, [_line(compaction, cost, ordinals) for compaction, cost in rows]))
    for compaction, _ in rows:
        if compaction.problem:
            style = "bold red" if compaction.state == "degraded" else "yellow"
            console.print(
                Text(
                    f"{compaction.ordinal}. {one_line(compaction.problem, _PROBLEM_CHARS)}{_tell_when(compaction)}",
                    style=style,
                )
            )
    hints = list(_list_hints([compaction for compaction, _ in rows]))
    if hints:
        console.print(Text("\n".join(hints), style="dim"))


def _line(compaction: Compaction, cost: CompactionCost, ordinals: Mapping[CompactionId, int]) -> tuple[Cell, ...]:
    report, plan = compaction.counted_report, compaction.plan
    tokens = f"{plan.tokens_before:,}" if report is None else f"{report.tokens_before:,} > {report.tokens_after:,}"
    took = "" if compaction.ended_at is None else f"{(compaction.ended_at - compaction.begun_at).total_seconds():.1f} s"
    tries = f" in {compaction.attempts} tries" if compaction.attempts > 1 else ""
    return (
        compaction.ordinal,
        compaction.id,
        _name_range(compaction, ordinals),
        f"{tokens}\nby {plan.trigger}",
        _tell_state(compaction),
        f"{took}{tries}\n{'' if cost.cost_usd is None else f'{cost.cost_usd:.4f} USD'}",
    )


def _tell_when(compaction: Compaction) -> str:
    """When a failed compaction is tried again at the earliest."""
    waits = compaction.state == "pending" and compaction.lease_until is not None
    return f" (next attempt from {compaction.lease_until:%H:%M} UTC on)" if waits else ""


def _name_range(compaction: Compaction, ordinals: Mapping[CompactionId, int]) -> str:
    plan = compaction.plan
    if compaction.revises is not None:
        ordinal = ordinals.get(compaction.revises)
        return f"digest of {'an earlier one' if ordinal is None else ordinal}\nexchanged"
    return f"{plan.first_seq}-{plan.last_seq}\n{len(plan.folded)} folded, {plan.groups.count('kept')} kept"


def _tell_state(compaction: Compaction) -> Text:
    waits = "" if compaction.has_ended else "waits: "
    extraction = "" if compaction.extraction in {"off", "done"} else f", extraction {compaction.extraction}"
    state = Text(f"{waits}{compaction.state}{extraction}", style=_STATE_STYLE.get(compaction.state, "yellow"))
    return Text("\n").join([state, Text(tell_digest(compaction))])


def tell_digest(compaction: Compaction) -> str:
    """Whose digest stands for a compaction, and what is still to come."""
    if compaction.digest == "done":
        return "model's"
    if compaction.state == "cancelled":
        return "none"
    if compaction.digest == "pending":
        return "extractive for now" if compaction.is_committed else "pending"
    return "extractive" if compaction.is_committed or compaction.state == "pending" else "none"


def _list_hints(compactions: Iterable[Compaction]) -> Iterable[str]:
    states = {compaction.state: compaction for compaction in compactions}
    held = [compaction for compaction in compactions if not (compaction.has_ended or compaction.is_committed)]
    if "degraded" in states:
        yield f"retry a degraded compaction with: everfold retry {states['degraded'].id}"
    if held:
        yield f"cancel a pending compaction with: everfold cancel {held[0].id}"
