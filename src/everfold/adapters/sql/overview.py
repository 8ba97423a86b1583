"""Overviews in SQL. Each question has an index, or counts the rows of one."""

from datetime import datetime
from typing import cast

from everfold.adapters.sql.codec import from_micros, read_compaction, to_micros
from everfold.adapters.sql.database import Database
from everfold.core.compaction.record import Compaction
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.observation.usage import Purpose
from everfold.core.primitives.ids import AgentId


def count_work(database: Database) -> WorkCounts:
    """See `OverviewStore.count_work`."""
    waiting = cast("list[tuple[str, int, int]]", database.rows("count_waiting"))
    return WorkCounts(
        users_count=_count(database, "count_users"),
        sessions_count=_count(database, "count_sessions"),
        compactions_count=_count(database, "count_compactions"),
        waiting=tuple(sorted((state, count) for state, count, _ in waiting)),
        degraded_count=_count(database, "count_degraded"),
        oldest_at=from_micros(min(begun_at for _, _, begun_at in waiting)) if waiting else None,
    )


def list_agents(database: Database) -> list[AgentId]:
    """See `OverviewStore.list_agents`."""
    return [cast("AgentId", name) for (name,) in database.rows("list_agents")]


def list_unfinished(database: Database, *, limit_count: int) -> list[Compaction]:
    """See `OverviewStore.list_unfinished`."""
    return [read_compaction(row) for row in database.rows("list_unfinished", limit_count=limit_count)]


def list_degraded(database: Database, *, limit_count: int) -> list[Compaction]:
    """See `OverviewStore.list_degraded`."""
    return [read_compaction(row) for row in database.rows("list_degraded", limit_count=limit_count)]


def sum_spend(database: Database, *, since: datetime) -> list[Spend]:
    """See `OverviewStore.sum_spend`."""
    return [
        Spend(
            model=cast("str", model),
            purpose=cast("Purpose", purpose),
            calls_count=cast("int", calls_count),
            input_tokens=int(cast("float", input_tokens)),
            cached_tokens=int(cast("float", cached_tokens)),
            output_tokens=int(cast("float", output_tokens)),
            cost_usd=cast("float", cost_usd),
            uncounted_count=int(cast("float", uncounted_count)),
        )
        for model, purpose, calls_count, input_tokens, cached_tokens, output_tokens, cost_usd, uncounted_count in (
            database.rows("sum_spend", since=to_micros(since))
        )
    ]


def _count(database: Database, query: str) -> int:
    row = database.row(query)
    return cast("int", row[0]) if row else 0
