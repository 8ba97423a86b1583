"""Search by vectors: how long it takes, and what it finds of what the exact search finds."""

import asyncio
import itertools
import resource
import statistics
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter

import apsw

from bench.measuring import Times
from bench.opening import batched, temporary_folder
from bench.report import Row
from everfold.adapters.sql.vectors import LEAST_CANDIDATES, OVERSAMPLING, pack
from everfold.adapters.sqlite.connection import Database, open_database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.adapters.sqlite.vector_store import load_extension
from everfold.core.primitives.ids import UserId
from everfold.core.recall.vectors import Space, Vector, VectorRef, VectorRow, normalise
from everfold.testing.contract.clusters import Clusters
from everfold.testing.kit.builders import ADA, BEN, append_wires, open_session, session_record, user

TITLE = "search by vectors, one user among others"
DIMENSIONS = 384
SPACE = Space("clusters", DIMENSIONS)
COUNT = 100_000
DEPTH = 10
ASKED_COUNT = 300
EXACT_COUNT = 25
"""How many questions the exact search answers: one reads every float of the user."""

EXACT = """
SELECT owner_key FROM vectors
WHERE user_key = ? AND space_key = ?
ORDER BY vec_distance_cosine(vector, ?)
LIMIT ?
"""


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Latency and recall at one size, against the exact scan of the same file."""
    count = 10_000 if is_quick else COUNT
    others_count = count // 5
    with temporary_folder() as folder:
        rows = asyncio.run(_measure(folder / "vectors.db", count, others_count))
    note = (
        f"Seeded clusters (`everfold.testing.contract.clusters`): themes, {DIMENSIONS} dimensions, threads within each theme, members "
        "around each thread, all of them off the origin as real embeddings are; questions lie around threads too, a little "
        f"further off. {others_count:,} rows of another user lie between those of the first. The exact search is the scan of "
        "all floats by the same extension, over the same file, in turns with ours. Processor time is that of the whole "
        f"process. Of the codes, max({LEAST_CANDIDATES}, {OVERSAMPLING} k) are ranked again by their floats."
    )
    return rows, [note]


async def _measure(path: Path, count: int, others_count: int) -> list[Row]:
    clusters = Clusters(7, dimensions=DIMENSIONS)
    store = await SqliteStore.open(str(path))
    took = perf_counter()
    for user_id, messages_count in ((ADA, count), (BEN, others_count)):
        await _say(store, user_id, messages_count)
    before_bytes = _size(path)
    await _embed(store, clusters, {ADA: count, BEN: others_count})
    took = perf_counter() - took
    held_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = await _ask(store, path, clusters, count)
    held_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held_kb
    await store.close()
    size = (_size(path) - before_bytes) / (count + others_count)
    return [
        *rows,
        Row(figure="file, of each vector", value=size / 1024, unit="KB"),
        Row(figure="memory that searching adds", value=held_kb / 1024, unit="MB", digits=0),
        Row(figure=f"filling {count + others_count:,} rows, messages and vectors", value=took, unit="s", digits=0),
    ]


def _size(path: Path) -> int:
    database = apsw.Connection(str(path))
    pages = database.pragma("page_count")
    size = int(str(pages)) * int(str(database.pragma("page_size")))
    database.close()
    return size


async def _say(store: SqliteStore, user_id: UserId, count: int) -> None:
    """Messages to hang vectors on; what they say does not matter here."""
    session = session_record(f"ses_{user_id}", user_id=user_id)
    await open_session(store, session)
    for numbers in batched(range(count), 1_000):
        await append_wires(store, session.id, *[user(f"Berth {number}.") for number in numbers])


async def _embed(store: SqliteStore, clusters: Clusters, counts: dict[UserId, int]) -> None:
    """Vectors for all of it, the users' rows in turns."""
    left = {user_id: _pages(store, user_id) for user_id in counts}
    for user_id in itertools.cycle(counts):
        rows = await anext(left[user_id], None) if user_id in left else None
        if rows is None:
            left.pop(user_id, None)
            if not left:
                return
            continue
        await store.put_vectors(
            user_id, SPACE, [VectorRow(ref=ref, content_hash=hash_, vector=clusters.draw()) for ref, hash_ in rows]
        )


async def _pages(store: SqliteStore, user_id: UserId) -> AsyncIterator[list[tuple[VectorRef, str]]]:
    """What has no vector, some rows at a time."""
    after = None
    while page := await store.list_missing(user_id, "message", SPACE, after=after, limit_count=10_000):
        after = page[-1].ref
        for part in batched(page, 1_000):
            yield [(words.ref, words.content_hash) for words in part]


async def _ask(store: SqliteStore, path: Path, clusters: Clusters, count: int) -> list[Row]:
    exact = open_database(str(path))
    load_extension(exact)
    ours, theirs, shares = Times(), Times(), []
    for number in range(ASKED_COUNT):
        question = clusters.ask()
        with ours.one():
            near = await store.find_near(
                question, user_id=ADA, agent_id=None, kinds=("message",), space=SPACE, limit_count=DEPTH
            )
        if number < EXACT_COUNT:
            with theirs.one():
                truth = _find_exactly(exact, question)
            shares.append(len(truth.intersection(one.ref.seq for one in near)) / DEPTH)
    exact.close()
    at = f"{count:,} vectors"
    return [
        Row(figure=f"search, {at}: median", value=ours.median_us / 1e3, unit="ms", digits=1),
        Row(figure=f"search, {at}: p95", value=ours.p95_us / 1e3, unit="ms", most=50.0, digits=1),
        Row(figure=f"search, {at}: processor, median", value=ours.processor_us / 1e3, unit="ms", digits=1),
        Row(figure=f"exact scan, {at}: median", value=theirs.median_us / 1e3, unit="ms", digits=1),
        Row(figure=f"exact scan, {at}: processor, median", value=theirs.processor_us / 1e3, unit="ms", digits=1),
        Row(figure="exact scan to search, processor", value=theirs.processor_us / ours.processor_us, digits=1),
        Row(
            figure=f"recall at {DEPTH} of the exact search ({EXACT_COUNT} questions)",
            value=statistics.fmean(shares),
            least=0.98,
            digits=3,
        ),
    ]


def _find_exactly(database: Database, question: Vector) -> set[int]:
    """The sequence numbers of the nearest; the first user's messages have the first ids, in their order."""
    unit = normalise(question)
    assert unit is not None
    return {int(str(key)) for (key,) in database.connection.execute(EXACT, (1, 1, pack(unit), DEPTH))}
