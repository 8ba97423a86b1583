"""PostgreSQL beside SQLite: turns, many sessions at once, search in a filled store, and what workers take for a compaction."""

import asyncio
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psycopg

import everfold
from bench.cluster import Cluster, running
from bench.copy_filling import EACH_COUNT, fill, name_session, name_user, write_patterns
from bench.memory import SETTINGS
from bench.opening import INLINE_SETTINGS, batched, open_engine, temporary_folder
from bench.postgres_crowd import Crowd, measure_crowd
from bench.postgres_turns import measure_turns
from bench.postgres_work import measure_work
from bench.recall import DATA, DEPTHS, Babble, read_locomo
from bench.report import Row
from bench.search import ask, fill_user, time_search

TITLE = "PostgreSQL beside SQLite, in a store of a million messages"
MOST_SEARCH_MS = 60.0
MOST_RECALL_LOSS = 0.01
LONG_USER = "00000000-0000-0000-0000-000000000001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is filled and played."""

    patterns_count: int = 50
    users_count: int = 10_000
    long_count: int = 100_000
    messages_count: int = 1_500
    crowd: Crowd = field(default_factory=Crowd)
    worked_count: int = 120


QUICK = Scale(
    patterns_count=5,
    users_count=500,
    long_count=5_000,
    messages_count=300,
    crowd=Crowd(sessions_count=40, turns_count=5),
    worked_count=16,
)


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Fill a server by COPY, and measure in it."""
    scale = QUICK if is_quick else Scale()
    with running() as cluster:
        rows = [row for measure in PARTS.values() for row in measure(cluster, scale)]
    note = (
        f"Before anything is measured the store has {scale.users_count:,} users with {EACH_COUNT} messages each, filled by COPY with the rows of "
        f"{scale.patterns_count} conversations that the engine appended, and one user with {scale.long_count:,}. SQLite has a new file of its own. "
        "The sides of a ratio alternate in blocks of 50 messages. Over a Unix socket of the same machine, so that the two share its cores. "
        "Workers write digests by a model that answers at once with quotes."
    )
    return rows, [note]


async def _fill(cluster: Cluster, scale: Scale) -> list[Row]:
    """The store as a large one is, and what it takes on the disk."""
    babble = Babble(7)
    cluster.wait_for_disk(is_on=False)
    async with everfold.open(cluster.url, settings=INLINE_SETTINGS) as engine:
        patterns = await write_patterns(engine, cluster.url, babble, scale.patterns_count)
        begun = time.perf_counter()
        fill(cluster.url, patterns, scale.users_count)
        spent = time.perf_counter() - begun
        session = await engine.session(user=LONG_USER)
        for turns in batched(babble.talk(scale.long_count), 500):
            await session.append(
                [{"role": turn.role, "content": turn.text} for turn in turns], said_at=turns[0].said_at
            )
        last = await engine.session(id=name_session(scale.users_count - 1))
        sound = (await last.verify()).is_sound
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        [(size,)] = connection.execute("SELECT pg_database_size(current_database())").fetchall()
    messages_count = scale.users_count * EACH_COUNT
    return [
        Row(figure=f"filling {messages_count:,} messages of {scale.users_count:,} users by COPY", value=spent, unit="s", digits=0),
        Row(figure="the last session that was filled verifies", value="yes" if sound else "no"),
        Row(figure="the database", value=size / 1e9, unit="GB"),
    ]  # fmt: skip


async def _measure_search(url: str, scale: Scale) -> list[Row]:
    async with everfold.open(url, settings=INLINE_SETTINGS) as engine:
        long = await time_search(engine, LONG_USER, Babble(7))
        short = await time_search(engine, name_user(scale.users_count // 2), Babble(7))
    at = f"search in {scale.long_count:,} messages of one user"
    return [
        Row(figure=f"{at}: median", value=long.median_us / 1e3, unit="ms", digits=1),
        Row(figure=f"{at}: 95th percentile", value=long.p95_us / 1e3, unit="ms", most=MOST_SEARCH_MS, digits=1),
        Row(figure=f"search in {EACH_COUNT} messages of one user beside all others: 95th percentile", value=short.p95_us / 1e3, unit="ms", digits=1),
    ]  # fmt: skip


async def _measure_recall(url: str) -> list[Row]:
    """Evidence recall on LoCoMo's report, over both stores."""
    if not (DATA / "locomo-dev.json").exists():
        return [Row(figure="recall", value="not measured: no EVERFOLD_DATA with locomo-dev.json")]
    samples = read_locomo()[2:4]
    with temporary_folder() as folder:
        async with open_engine(folder / "recall.db") as engine:
            sqlite = await ask(engine, samples, fill_user)
    async with everfold.open(url, settings=INLINE_SETTINGS) as engine:
        postgres = await ask(engine, samples, fill_user)
    rows: list[Row] = []
    for depth, ours, theirs in zip(DEPTHS, _means(postgres), _means(sqlite), strict=True):
        rows += [
            Row(figure=f"evidence recall at {depth}, LoCoMo, report: SQLite", value=theirs, digits=3),
            Row(figure=f"evidence recall at {depth}, LoCoMo, report: PostgreSQL", value=ours, digits=3, least=round(theirs - MOST_RECALL_LOSS, 3) if depth == max(DEPTHS) else None),
        ]  # fmt: skip
    return rows


def _means(shares: list[list[list[float]]]) -> list[float]:
    """The mean share at each depth, over all questions."""
    return [statistics.fmean(column) for column in zip(*(one for sample in shares for one in sample), strict=True)]


Part = Callable[[Cluster, Scale], list[Row]]

PARTS: Mapping[str, Part] = {
    "fill": lambda cluster, scale: asyncio.run(_fill(cluster, scale)),
    "search": lambda cluster, scale: asyncio.run(_measure_search(cluster.url, scale)),
    "recall": lambda cluster, _: asyncio.run(_measure_recall(cluster.url)),
    "turns": lambda cluster, scale: asyncio.run(measure_turns(cluster, SETTINGS["off"], scale.messages_count)),
    "memory": lambda cluster, scale: asyncio.run(measure_turns(cluster, SETTINGS["recall"], scale.messages_count // 3)),
    "crowd": lambda cluster, scale: measure_crowd(cluster, scale.crowd),
    "work": lambda cluster, scale: asyncio.run(measure_work(cluster, sessions_count=scale.worked_count)),
}
"""What is measured, in order; all but the first is measured in what that has filled."""
