"""The index of a user who has very many vectors: who gets one, what is found by it, and when it goes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.postgres import partition
from tests.support.waiting import until

from everfold.adapters.postgres.near_indexes import INDEXING_KEY, MOST_DIMENSIONS, Limits, Tending, tend
from everfold.adapters.postgres.store import PostgresStore
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.recall.vectors import Near, Space, Vector, VectorKind, VectorRow
from everfold.testing.contract.clusters import Clusters
from everfold.testing.contract.forgetting import erasing
from everfold.testing.kit.builders import ADA, BEN, CLERK, append_wires, open_session, session_record, user
from everfold.testing.kit.memory_builders import audit, item, put

SIZE = 16
SPACE = Space("clusters", SIZE)
INDEXED_FROM = 300
MANY, FEW = 600, 40
VALID = """
SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relname LIKE 'vectors_near%'
"""
UNFINISHED = """
UPDATE pg_index SET indisvalid = false WHERE indexrelid IN
(SELECT indexrelid FROM pg_stat_user_indexes WHERE indexrelname LIKE 'vectors_near%')
"""
HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s"
INDEXES = "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'vectors_near%'"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    """A store in which few vectors are many."""
    opened = await PostgresStore.open(database_url)
    opened.indexed_from = INDEXED_FROM
    yield opened
    await opened.close()


@pytest.fixture
async def hasty(database_url: str) -> AsyncIterator[PostgresStore]:
    """The same, where no statement but the making of an index waits long for another transaction."""
    opened = await PostgresStore.open(make_conninfo(database_url, options="-c lock_timeout=50"))
    opened.indexed_from = INDEXED_FROM
    yield opened
    await opened.close()


def list_scans(url: str) -> dict[str, int]:
    """How often each index of near vectors was used, by its name."""
    with psycopg.connect(url) as connection:
        return dict(connection.execute(INDEXES).fetchall())


def list_valid(url: str) -> list[bool]:
    """Of each index of near vectors, whether searches may use it."""
    with psycopg.connect(url) as connection:
        return [is_valid for (is_valid,) in connection.execute(VALID).fetchall()]


def is_being_indexed(url: str) -> bool:
    """Whether a process has the lock under which indexes are made."""
    with psycopg.connect(url) as connection:
        return connection.execute(HELD, [INDEXING_KEY]).fetchall() != [(0,)]


@contextmanager
def writing_on(url: str) -> Iterator[None]:
    """Within it, a transaction is open that has written to the vectors: no index of them can be made or dropped."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE vectors IN ROW EXCLUSIVE MODE")
        yield


async def embed(store: PostgresStore, user_id: UserId, count: int, *, space: Space = SPACE) -> Clusters:
    """Give a user so many messages, each with a vector of a cluster."""
    clusters = Clusters(7, dimensions=space.dimensions, theme_count=4)
    record = await open_session(store, session_record(f"ses_{user_id}", user_id=user_id))
    await append_wires(store, record.id, *(user(f"Berth {number} is free.") for number in range(count)))
    await fill(store, user_id, clusters.draw, space=space)
    return clusters


async def fill(store: PostgresStore, user_id: UserId, draw: Callable[[], Vector], *, space: Space = SPACE) -> None:
    """Give each message of a user that has no vector one."""
    for words in await store.list_missing(user_id, "message", space, limit_count=MANY):
        await store.put_vectors(
            user_id, space, [VectorRow(ref=words.ref, content_hash=words.content_hash, vector=draw())]
        )


async def wipe(store: PostgresStore, user_id: UserId) -> None:
    """Wipe a user."""
    version = await store.read_memory_version(user_id)
    await store.wipe_user(user_id, expected=version, entry=audit("wipe", user_id=user_id))


async def ask(
    store: PostgresStore,
    user_id: UserId,
    vector: Vector,
    kinds: tuple[VectorKind, ...] = ("message",),
    *,
    agent_id: AgentId | None = None,
) -> list[Near]:
    """The ten nearest of a user."""
    return await store.find_near(vector, user_id=user_id, agent_id=agent_id, kinds=kinds, space=SPACE, limit_count=10)


async def test_a_user_with_many_vectors_is_searched_by_their_index(store: PostgresStore, database_url: str) -> None:
    """It is made once a user has so many, finds what a scan finds, and is not for others, nor for what is not a message."""
    clusters = await embed(store, ADA, MANY)
    await embed(store, BEN, FEW)
    questions = [clusters.ask() for _ in range(8)]
    before = [await ask(store, ADA, question) for question in questions]
    for user_id in (ADA, BEN, UserId("usr_nobody")):
        await store.tend_vectors(user_id)
    after = [await ask(store, ADA, question) for question in questions]
    assert [found[0] for found in after] == [found[0] for found in before]
    shared = [len(set(one) & set(other)) for one, other in zip(before, after, strict=True)]
    assert sum(shared) >= 0.9 * 10 * len(questions)
    assert len(await ask(store, BEN, questions[0])) == 10
    assert await ask(store, ADA, questions[0], ("item", "topic")) == []
    await store.close()  # a connection tells what it has done, a moment after its end
    await until(lambda: list(list_scans(database_url).values()) == [len(questions)])


async def test_an_agent_with_few_vectors_finds_all_of_them(store: PostgresStore, database_url: str) -> None:
    """Where the scan of the index ends among nearer vectors of other agents, an agent's own are found as without it."""
    clusters = await embed(store, ADA, MANY)
    question = clusters.ask()
    record = await open_session(store, session_record("ses_clerk", user_id=ADA, agent_id=CLERK))
    await append_wires(store, record.id, *(user(f"Berth {number} is let.") for number in range(FEW)))
    await fill(store, ADA, lambda: tuple(own / 9 - asked for own, asked in zip(clusters.draw(), question, strict=True)))
    before = await ask(store, ADA, question, agent_id=CLERK)
    assert len(before) == 10
    await store.tend_vectors(ADA)
    short = await PostgresStore.open(make_conninfo(database_url, options="-c hnsw.max_scan_tuples=1"))
    assert await ask(short, ADA, question, agent_id=CLERK) == before
    assert len(await ask(short, ADA, question)) == 10
    await short.close()
    await until(lambda: list(list_scans(database_url).values()) == [2])


async def test_who_has_fewer_keeps_the_scan(store: PostgresStore, database_url: str) -> None:
    """One vector less than so many, or vectors of more numbers than an index takes, make none."""
    await embed(store, ADA, INDEXED_FROM - 1)
    await store.tend_vectors(ADA)
    assert list_scans(database_url) == {}
    store.indexed_from = 2
    await embed(store, BEN, 2, space=Space("wide", MOST_DIMENSIONS + 1))
    await store.tend_vectors(BEN)
    assert list_scans(database_url) == {}


async def test_what_comes_after_is_found(store: PostgresStore) -> None:
    """A vector that is added is in the index, one of an erased item is not, and items are found beside messages."""
    clusters = await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    question = clusters.ask()
    note = item("itm_1", "The berth is free in winter.", user_id=ADA)
    await put(store, note)
    [words] = await store.list_missing(ADA, "item", SPACE, limit_count=9)
    await store.put_vectors(ADA, SPACE, [VectorRow(ref=words.ref, content_hash=words.content_hash, vector=question)])
    assert (await ask(store, ADA, question, ("message", "item")))[0].ref == words.ref
    await put(store, replace(note, revision=2, status="superseded"))
    found = await ask(store, ADA, question, ("message", "item"))
    assert {one.ref.kind for one in found} == {"message"}
    assert len(found) == 10


async def test_an_index_goes_with_its_vectors(store: PostgresStore, database_url: str) -> None:
    """A wipe of the user, and the dropping of a space, take the index along; the loss of a few vectors does not."""
    await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    await store.drop_vectors(ADA, limit_count=10)
    assert len(list_scans(database_url)) == 1
    await store.drop_vectors(ADA)
    assert list_scans(database_url) == {}
    await embed(store, BEN, INDEXED_FROM)
    await store.tend_vectors(BEN)
    assert len(list_scans(database_url)) == 1
    await wipe(store, BEN)
    assert list_scans(database_url) == {}


async def test_an_index_that_was_left_unfinished_is_made_again(store: PostgresStore, database_url: str) -> None:
    """A server that ended while it made the index leaves it invalid: it is not used, and replaced."""
    clusters = await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(UNFINISHED)
        assert len(await ask(store, ADA, clusters.ask())) == 10
        await store.tend_vectors(ADA)
        assert len(await ask(store, ADA, clusters.ask())) == 10
    await store.close()
    await until(lambda: list(list_scans(database_url).values()) == [1])


async def test_a_partition_has_the_index_of_its_user(store: PostgresStore, database_url: str) -> None:
    """Where the table of vectors is partitioned by users, the index is on the partition that holds the user."""
    await store.require_search()
    partition(database_url)
    clusters = await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    assert len(await ask(store, ADA, clusters.ask())) == 10
    await store.close()
    await until(lambda: list(list_scans(database_url).values()) == [1])


@pytest.mark.parametrize("limits", [Limits(lock_timeout_ms=50), Limits(statement_timeout_ms=500)])
async def test_an_index_that_takes_too_long_is_made_later(
    hasty: PostgresStore, database_url: str, limits: Limits
) -> None:
    """Behind a transaction that does not end, the making is given up, holds no lock, and succeeds after its end."""
    await embed(hasty, ADA, INDEXED_FROM)
    hasty.indexing_limits = limits
    with writing_on(database_url):
        await hasty.tend_vectors(ADA)
        assert list_valid(database_url) == [False]
        await until(lambda: not is_being_indexed(database_url))
    hasty.indexing_limits = Limits()
    await hasty.tend_vectors(ADA)
    assert list_valid(database_url) == [True]


async def test_an_erase_waits_for_no_index(hasty: PostgresStore, database_url: str) -> None:
    """A wipe ends while an index cannot be dropped, and while the user's own is made, which goes when it is finished."""
    for user_id in (ADA, BEN):
        await embed(hasty, user_id, INDEXED_FROM)
    await hasty.tend_vectors(BEN)
    with writing_on(database_url):
        making = asyncio.create_task(hasty.tend_vectors(ADA))
        await until(lambda: is_being_indexed(database_url))
        await wipe(hasty, ADA)
        assert not making.done()
    await making
    assert list_valid(database_url) == [True]
    with writing_on(database_url):
        await wipe(hasty, BEN)
    assert await hasty.count_vectors(ADA) == await hasty.count_vectors(BEN) == {}


async def test_an_erase_makes_no_index(store: PostgresStore, database_url: str) -> None:
    """An erase of another session drops an index that was left unfinished, and leaves it to later work to make it again."""
    await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    parent = await store.get_session(SessionId(f"ses_{ADA}"))
    other = await open_session(store, session_record("ses_other", parent=parent), user("Berth 9 is let."))
    with psycopg.connect(database_url) as connection:
        connection.execute(UNFINISHED)
    await store.erase_sessions([other.id], await erasing(store))
    assert list_valid(database_url) == []
    await store.tend_vectors(ADA)
    assert list_valid(database_url) == [True]


def test_what_follows_finds_the_lock_free(database_url: str) -> None:
    """The lock is given back before the work returns: else the next user's index would be left for later, for nothing."""
    with psycopg.connect(database_url, autocommit=True) as watching:
        for _ in range(200):
            tend(database_url, Tending(dropped=("vectors_near_0_0",)), Limits())
            assert watching.execute(HELD, [INDEXING_KEY]).fetchall() == [(0,)]


async def test_the_url_says_in_which_schema_an_index_is_made(database_url: str) -> None:
    """What the url asks of the server holds for the making of an index as for every other statement."""
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE SCHEMA harbour")
    store = await PostgresStore.open(make_conninfo(database_url, options="-c search_path=harbour"))
    store.indexed_from = INDEXED_FROM
    await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    assert list_valid(database_url) == [True]
    await store.close()
