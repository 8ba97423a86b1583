"""The index of a user who has very many vectors: who gets one, what is found by it, and when it goes."""

from collections.abc import AsyncIterator
from dataclasses import replace

import psycopg
import pytest
from tests.support.postgres import partition
from tests.support.waiting import until

from everfold.adapters.postgres.near_indexes import MOST_DIMENSIONS
from everfold.adapters.postgres.store import PostgresStore
from everfold.core.primitives.ids import UserId
from everfold.core.recall.vectors import Near, Space, Vector, VectorKind, VectorRow
from everfold.testing.contract.clusters import Clusters
from everfold.testing.kit.builders import ADA, BEN, append_wires, open_session, session_record, user
from everfold.testing.kit.memory_builders import audit, item, put

SIZE = 16
SPACE = Space("clusters", SIZE)
INDEXED_FROM = 300
MANY, FEW = 600, 40
INDEXES = "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'vectors_near%'"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    """A store in which few vectors are many."""
    opened = await PostgresStore.open(database_url)
    opened.indexed_from = INDEXED_FROM
    yield opened
    await opened.close()


def list_scans(url: str) -> dict[str, int]:
    """How often each index of near vectors was used, by its name."""
    with psycopg.connect(url) as connection:
        return dict(connection.execute(INDEXES).fetchall())


async def embed(store: PostgresStore, user_id: UserId, count: int, *, space: Space = SPACE) -> Clusters:
    """Give a user so many messages, each with a vector of a cluster."""
    clusters = Clusters(7, dimensions=space.dimensions, theme_count=4)
    record = await open_session(store, session_record(f"ses_{user_id}", user_id=user_id))
    await append_wires(store, record.id, *(user(f"Berth {number} is free.") for number in range(count)))
    for words in await store.list_missing(user_id, "message", space, limit_count=count):
        row = VectorRow(ref=words.ref, content_hash=words.content_hash, vector=clusters.draw())
        await store.put_vectors(user_id, space, [row])
    return clusters


async def ask(
    store: PostgresStore, user_id: UserId, vector: Vector, kinds: tuple[VectorKind, ...] = ("message",)
) -> list[Near]:
    """The ten nearest of a user."""
    return await store.find_near(vector, user_id=user_id, agent_id=None, kinds=kinds, space=SPACE, limit_count=10)


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
    await store.wipe_user(BEN, expected=await store.read_memory_version(BEN), entry=audit("wipe", user_id=BEN))
    assert list_scans(database_url) == {}


async def test_an_index_that_was_left_unfinished_is_made_again(store: PostgresStore, database_url: str) -> None:
    """A server that ended while it made the index leaves it invalid: it is not used, and replaced."""
    clusters = await embed(store, ADA, INDEXED_FROM)
    await store.tend_vectors(ADA)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN "
            "(SELECT indexrelid FROM pg_stat_user_indexes WHERE indexrelname LIKE 'vectors_near%')"
        )
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
