"""The watch of the chaos tells of work that runs twice at once, and of nothing else."""

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from tests.faults.work_watch import WATCHES, WorkNotes
from tests.support.waiting import until

import everfold
from everfold.testing.kit.builders import user

LEASES = "INSERT INTO leases SELECT key, 'dream', 'guide', 'drm_1', now_micros() + 60000000 FROM users"
TAKEN = "UPDATE leases SET holder = 'drm_2'"
RUN_OUT = "UPDATE leases SET lease_until = now_micros() - 1"


@pytest.fixture
async def watched_url(database_url: str) -> str:
    """A watched database with a user, a compaction that is being done and a lease of their dreams."""
    async with everfold.open(database_url) as engine:
        session = await engine.session(limit=4000)
        await session.append([user("So it is. " * 200) for _ in range(12)])
        await session.compact(keep_recent=2)
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE compactions SET state = 'running', lease_until = now_micros() + 60000000")
        connection.execute(LEASES)
        connection.execute(WATCHES)
    return database_url


@pytest.fixture
def watched(watched_url: str) -> Iterator[psycopg.Connection]:
    """A connection to it."""
    with psycopg.connect(watched_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def processes(watched_url: str) -> AsyncIterator[tuple[WorkNotes, WorkNotes]]:
    """Two that note their work."""
    one, other = WorkNotes(watched_url), WorkNotes(watched_url)
    yield one, other
    await one.close()
    await other.close()


def list_violations(watched: psycopg.Connection) -> list[str]:
    """What was told."""
    return [told for (told,) in watched.execute("SELECT told FROM violations ORDER BY told").fetchall()]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (TAKEN, "the lease dream of"),
        ("UPDATE compactions SET attempts = attempts + 1", "was claimed twice"),
        ("UPDATE compactions SET certificate = 'another'", "was committed twice"),
        ("UPDATE leases SET lease_until = lease_until + 1", None),
        (f"{RUN_OUT}; {TAKEN}", None),
        ("UPDATE compactions SET lease_until = now_micros() - 1; UPDATE compactions SET attempts = attempts + 1", None),
    ],
)
async def test_what_is_taken_while_another_has_it_is_told(
    watched: psycopg.Connection, change: str, told: str | None
) -> None:
    """A lease or a compaction that is taken from its holder, and a second commit, are told; one that ran out is not."""
    watched.execute(change)
    assert [told in one for one in list_violations(watched) if told] == ([True] if told else [])
    assert len(list_violations(watched)) == (told is not None)


@pytest.mark.parametrize("holder", ["drm_1", "drm_2"])
async def test_work_that_overlaps_is_told(
    watched: psycopg.Connection, processes: tuple[WorkNotes, WorkNotes], holder: str
) -> None:
    """Two dreams of one user and agent at once are told, under one lease as under two."""
    one, other = processes
    async with one.noting("dream", "ada guide", "drm_1"), other.noting("dream", "ada guide", holder):
        pass
    assert list_violations(watched) == [f"dream of ada guide ran twice at once: as drm_1 and as {holder}"]


async def test_work_beside_other_work_is_not_told(
    watched: psycopg.Connection, processes: tuple[WorkNotes, WorkNotes]
) -> None:
    """Neither other work, nor that of another pair, nor one after the other, nor what lost its lease first."""
    one, other = processes
    async with one.noting("dream", "ada guide", "drm_1"), other.noting("refresh", "ada guide", "rfr_1"):
        async with other.noting("dream", "ben guide", "drm_3"):
            pass
        watched.execute(f"{RUN_OUT}; {TAKEN}")
        async with other.noting("dream", "ada guide", "drm_2"):
            pass
    async with other.noting("dream", "ada guide", "drm_4"):
        pass
    assert list_violations(watched) == []
    assert watched.execute("SELECT count(*) FROM at_work WHERE is_over").fetchall() == [(5,)]


async def test_the_work_of_a_process_that_ended_is_over(
    watched: psycopg.Connection, processes: tuple[WorkNotes, WorkNotes]
) -> None:
    """What a process was at when its connection ended runs beside nothing, whatever the store locks under its number."""
    one, other = processes
    async with one.noting("dream", "ada guide", "drm_1"):
        await one.close()
        await until(lambda: not watched.execute("SELECT FROM pg_locks WHERE locktype = 'advisory'").fetchall())
        watched.execute("SELECT pg_advisory_lock(2, CAST(id AS INTEGER)) FROM at_work")
        async with other.noting("dream", "ada guide", "drm_2"):
            pass
    assert list_violations(watched) == []
