"""Compaction events as a person reads them at a terminal, and as programs do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from everfold.cli.output import Cell, make_table, one_line, open_console
from everfold.core.events import CompactionEvent
from everfold.core.sessions import EventId
from everfold.core.usage import ModelCall
from everfold.session import Session

_PAGE = 200
_STATE_STYLE = {"done": "green", "degraded": "bold red", "cancelled": "dim"}
_COLUMNS = ("#", "event", "messages", "tokens", "state", "took")
_PROBLEM_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCost:
    """What models used for one event. The cost is None where no call has a known one."""

    calls_count: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


async def sum_calls(session: Session, event: CompactionEvent) -> EventCost:
    """What models used for an event of a session; nothing is read for one that no model was there for."""
    calls: list[ModelCall] = []
    while event.attempts and (
        page := await session.calls(event=event.id, after=calls[-1].id if calls else None, limit=_PAGE)
    ):
        calls += page
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return EventCost(
        calls_count=len(calls),
        input_tokens=sum(call.input_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost_usd=sum(costs) if costs else None,
    )


def to_document(event: CompactionEvent, cost: EventCost) -> dict[str, object]:
    """An event as one JSON value, without the texts that it holds."""
    return {
        "id": event.id,
        "ordinal": event.ordinal,
        "session": event.session_id,
        "trigger": event.plan.trigger,
        "first_seq": event.plan.first_seq,
        "last_seq": event.plan.last_seq,
        "revises": event.revises,
        "state": event.state,
        "is_waiting": not event.has_ended,
        "is_committed": event.is_committed,
        "digest": event.digest,
        "extraction": event.extraction,
        "attempts": event.attempts,
        "problem": event.problem,
        "begun_at": event.begun_at,
        "ended_at": event.ended_at,
        "not_before": event.lease_until if event.state == "pending" else None,
        "report": event.report,
        "usage": cost,
    }


def print_events(rows: Sequence[tuple[CompactionEvent, EventCost]]) -> None:
    """Print a line for each event, and below them what went wrong with any."""
    console = open_console()
    if not rows:
        console.print("no compactions")
        return
    ordinals = {event.id: event.ordinal for event, _ in rows}
    console.print(make_table(_COLUMNS, [_line(event, cost, ordinals) for event, cost in rows]))
    for event, _ in rows:
        if event.problem:
            style = "bold red" if event.state == "degraded" else "yellow"
            console.print(
                Text(f"{event.ordinal}. {one_line(event.problem, _PROBLEM_CHARS)}{_tell_when(event)}", style=style)
            )
    hints = list(_list_hints([event for event, _ in rows]))
    if hints:
        console.print(Text("\n".join(hints), style="dim"))


def _line(event: CompactionEvent, cost: EventCost, ordinals: Mapping[EventId, int]) -> tuple[Cell, ...]:
    report, plan = event.report, event.plan
    tokens = f"{plan.tokens_before:,}" if report is None else f"{report.tokens_before:,} > {report.tokens_after:,}"
    took = "" if event.ended_at is None else f"{(event.ended_at - event.begun_at).total_seconds():.1f} s"
    tries = f" in {event.attempts} tries" if event.attempts > 1 else ""
    return (
        event.ordinal,
        event.id,
        _name_range(event, ordinals),
        f"{tokens}\nby {plan.trigger}",
        _tell_state(event),
        f"{took}{tries}\n{'' if cost.cost_usd is None else f'{cost.cost_usd:.4f} USD'}",
    )


def _tell_when(event: CompactionEvent) -> str:
    """When a failed event is tried again at the earliest."""
    waits = event.state == "pending" and event.lease_until is not None
    return f" (next attempt from {event.lease_until:%H:%M} UTC on)" if waits else ""


def _name_range(event: CompactionEvent, ordinals: Mapping[EventId, int]) -> str:
    plan = event.plan
    if event.revises is not None:
        ordinal = ordinals.get(event.revises)
        return f"digest of {'an earlier one' if ordinal is None else ordinal}\nexchanged"
    return f"{plan.first_seq}-{plan.last_seq}\n{len(plan.folded)} folded, {plan.groups.count('kept')} kept"


def _tell_state(event: CompactionEvent) -> Text:
    waits = "" if event.has_ended else "waits: "
    extraction = "" if event.extraction in {"off", "done"} else f", extraction {event.extraction}"
    state = Text(f"{waits}{event.state}{extraction}", style=_STATE_STYLE.get(event.state, "yellow"))
    return Text("\n").join([state, Text(tell_digest(event))])


def tell_digest(event: CompactionEvent) -> str:
    """Whose digest stands for an event, and what is still to come."""
    if event.digest == "done":
        return "model's"
    if event.state == "cancelled":
        return "none"
    if event.digest == "pending":
        return "extractive for now" if event.is_committed else "on its way"
    return "extractive" if event.is_committed or event.state == "pending" else "none"


def _list_hints(events: Iterable[CompactionEvent]) -> Iterable[str]:
    states = {event.state: event for event in events}
    held = [event for event in events if not (event.has_ended or event.is_committed)]
    if "degraded" in states:
        yield f"try one again with: everfold retry {states['degraded'].id}"
    if held:
        yield f"give one up that nothing has left the window for with: everfold cancel {held[0].id}"
