"""Calls of a model in SQL."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from everfold.adapters.sql.activity import add_activity
from everfold.adapters.sql.codec import from_micros, to_micros, told_to_text
from everfold.adapters.sql.database import Database, SqlValue
from everfold.adapters.sql.listing import find_settled_key
from everfold.core.observation.activity import Activity
from everfold.core.observation.usage import ModelCall, Purpose
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError


def record_call(database: Database, call: ModelCall) -> None:
    """See `UsageStore.record_call`."""
    if database.row("find_call_key", id=call.id) is not None:
        raise ConflictError(f"call {call.id} is recorded already; give the new one an id of its own", call=call.id)
    database.run(
        "insert_call",
        id=call.id,
        user_id=call.user_id,
        session_id=call.session_id,
        compaction_id=call.compaction_id,
        purpose=call.purpose,
        model=call.model,
        answered_by=told_to_text(call.answered_by),
        attempt=call.call_number,
        started_at=to_micros(call.started_at),
        duration_ms=call.duration_ms,
        outcome=call.outcome,
        input_tokens=call.input_tokens,
        cached_tokens=call.cached_tokens,
        output_tokens=call.output_tokens,
        cost_usd=call.cost_usd,
        is_uncounted=int(call.is_uncounted),
    )
    counted = Activity(
        calls_count=1,
        input_tokens=call.input_tokens,
        cached_tokens=call.cached_tokens,
        output_tokens=call.output_tokens,
        cost_usd=call.cost_usd or 0.0,
    )
    add_activity(database, call.started_at.astimezone(UTC).date(), counted)


def sum_cost_usd(
    database: Database, *, since: datetime | None = None, compaction_id: CompactionId | None = None
) -> float:
    """See `UsageStore.sum_cost_usd`. A query for each question, so that each has its index."""
    since_micros = None if since is None else to_micros(since)
    if compaction_id is not None:
        row = database.row("sum_event_cost", compaction_id=compaction_id, since=since_micros)
    elif since is not None:
        row = database.row("sum_cost", since=since_micros)
    else:
        row = database.row("sum_all_cost")
    return cast("tuple[float]", row)[0]


def list_calls(
    database: Database,
    *,
    user_id: UserId | None = None,
    session_id: SessionId | None = None,
    compaction_id: CompactionId | None = None,
    after: str | None = None,
    limit_count: int,
) -> list[ModelCall]:
    """See `UsageStore.list_calls`."""
    only: dict[str, SqlValue] = {"user_id": user_id, "session_id": session_id, "compaction_id": compaction_id}
    rows = database.rows(
        "list_calls",
        after=0 if after is None else _get_key(database, after, only),
        last_key=find_settled_key(database, "model_calls"),
        limit_count=limit_count,
        **only,
    )
    return [_read_call(row) for row in rows]


def _get_key(database: Database, call_id: str, only: Mapping[str, SqlValue]) -> int:
    """The key of a call that a list of these may hold."""
    row = database.row("find_listed_call", id=call_id, **only)
    if row is None:
        raise NotFoundError(f"no call has the id {call_id!r}; use one that was listed", call=call_id)
    return cast("int", row[0])


def _read_call(row: tuple[SqlValue, ...]) -> ModelCall:
    id_, user_id, session_id, compaction_id, purpose, model, answered_by, attempt, started_at, duration_ms = row[:10]
    outcome, input_tokens, cached_tokens, output_tokens, cost_usd, is_uncounted = row[10:]
    return ModelCall(
        id=cast("str", id_),
        user_id=cast("UserId", user_id),
        session_id=cast("SessionId | None", session_id),
        compaction_id=cast("CompactionId | None", compaction_id),
        purpose=cast("Purpose", purpose),
        model=cast("str", model),
        answered_by=cast("str", answered_by),
        call_number=cast("int", attempt),
        started_at=from_micros(started_at),
        duration_ms=cast("int", duration_ms),
        outcome=cast("str", outcome),
        input_tokens=cast("int", input_tokens),
        cached_tokens=cast("int", cached_tokens),
        output_tokens=cast("int", output_tokens),
        cost_usd=cast("float | None", cost_usd),
        is_uncounted=bool(is_uncounted),
    )
