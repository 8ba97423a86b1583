"""How often each store is asked for what a turn, a memory, an erase and ids take: a figure that rises is a slower server.

A round trip is one call of the connection, whatever its bindings and however many queries it sends together; the opening
and the end of a transaction count too.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench.material.logs import endless_log
from tests.support.round_trips import RoundTrips, spell_counts
from tests.support.sizes import some

import everfold
from everfold import Everfold, Session
from everfold.core.primitives.json_values import JsonObject
from everfold.testing.kit.builders import assistant, user

KINDS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "plain": {"recall": {"enabled": False}},
    "quiet": {"recall": {"enabled": False}, "memory": {"system": "structured"}},
    "structured": {"memory": {"system": "structured"}},
}
"""Without memory and recall, with memory that stays as it was, and with memory that changes and recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """An engine, over a kind of store, that knows nothing yet of the session that another one has left."""

    store: str
    kind: str
    engine: Everfold
    session_id: str


@pytest.fixture
def trips() -> Iterator[RoundTrips]:
    """The round trips of every store."""
    with pytest.MonkeyPatch.context() as patch:
        yield RoundTrips(patch)


pytestmark = pytest.mark.usefixtures("nothing_put_off")

MOST = {
    "sqlite": {"plain window": 3, "quiet window": 6, "structured window": 13, "add": 7, "erase": 29}
    | {"append": 6, "append of a branch": 8, "lookup": 1, "lookup of hashes": 3, "retract": 18},
    "postgresql": {"plain window": 3, "quiet window": 6, "structured window": 10, "add": 8, "erase": 28}
    | {"append": 5, "append of a branch": 7, "lookup": 1, "lookup of hashes": 3, "retract": 19},
}
"""How much of each there may be. PostgreSQL locks the user; SQLite notes in its file
that an erase is through. What a connection looks up once, a session, user or agent or whether its server crashed, is not
counted: of several connections each does so, and which of them serves is chance."""
LEARNT = {"find_agent", "find_keys", "find_user", "read_server_life"}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/everfold.db"
    found: str = request.getfixturevalue("database_url")
    return found


async def fill(engine: Everfold, *, remembers: bool) -> str:
    """A session that has compacted many times, whose last message asks for something."""
    session = await engine.session(user="ada", limit=some(8_000, 1_600))
    for entry in endless_log(2, messages_count=some(160, 80)):
        await session.append(entry.wire)
        await session.window()
    assert (await session.inspect.state()).compactions_count > 8
    if remembers:
        memory = await engine.memory(user="ada")
        await memory.add("Ada has a dog.")
        await memory.dream()
    else:
        await session.compact()
        await session.window()  # shows what memory has, and nothing changes it after that
    await session.append(user("What did we say about the harbour?"))
    return session.id


@pytest.fixture(params=[pytest.param("plain", marks=pytest.mark.slow), "structured"])
async def reopened(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Reopened]:
    """An engine that was opened over what another one has left, without memory and with it."""
    kind, settings = request.param, KINDS[request.param]
    async with everfold.open(url, settings=settings) as engine:
        session_id = await fill(engine, remembers=kind == "structured")
    async with everfold.open(url, settings=settings) as engine:
        await engine.list_sessions()
        yield Reopened(store=url.partition(":")[0], kind=kind, engine=engine, session_id=session_id)


@pytest.mark.parametrize("reopened", KINDS, indirect=True)
async def test_a_cold_window(reopened: Reopened, trips: RoundTrips) -> None:
    """The first window of a session that another process has left; with recall and memory it takes what these ask for.

    What is bounded is round trips, which a server's distance multiplies: statements that are sent together count once.
    """
    session = await reopened.engine.session(id=reopened.session_id)
    trips.take()
    await session.window()
    asked = [name for name in trips.take() if name not in LEARNT]
    assert len(asked) <= MOST[reopened.store][f"{reopened.kind} window"], spell_counts(asked)


async def test_a_memory(reopened: Reopened, trips: RoundTrips) -> None:
    """An item that is added is looked up, decided and written."""
    memory = await reopened.engine.memory(user="ada")
    await memory.add("Ada has a cat called Miez.")
    trips.take()
    await memory.add("Ada has a bird called Hansi.")
    asked = [name for name in trips.take() if name not in LEARNT]
    assert len(asked) <= MOST[reopened.store]["add"], spell_counts(asked)


async def test_an_erase(reopened: Reopened, trips: RoundTrips) -> None:
    """An erase takes no more for a message that many compactions have read."""
    session = await reopened.engine.session(id=reopened.session_id)
    await session.append([user("I see."), assistant("Good.")])
    await session.erase(11)
    trips.take()
    await session.erase(20)
    asked = [name for name in trips.take() if name not in LEARNT]
    assert len(asked) <= MOST[reopened.store]["erase"], spell_counts(asked)


NAMED_COUNT = 200
"""How many messages carry client ids: as many as a framework's list has after some days."""


def name_messages(first: int, count: int) -> tuple[list[JsonObject], list[str]]:
    """Messages with their client ids, which have numbers."""
    numbers = range(first, first + count)
    wires = [user(f"{number}?") if number % 2 else assistant(f"{number}.") for number in numbers]
    return wires, [f"id-{number}" for number in numbers]


@pytest.fixture
async def named(url: str) -> AsyncIterator[Session]:
    """A session whose messages carry client ids."""
    async with everfold.open(url, settings=KINDS["plain"]) as engine:
        session = await engine.session(user="ada", limit=200_000)
        wires, ids = name_messages(1, NAMED_COUNT)
        await session.append(wires, client_ids=ids)
        yield session


async def ask(session: Session, kind: str) -> None:
    """Carry out one kind of request over all of the client ids."""
    wires, ids = name_messages(NAMED_COUNT // 2, NAMED_COUNT)
    match kind:
        case "append":
            assert len(await session.append(wires, client_ids=ids)) == NAMED_COUNT
        case "lookup":
            assert len(await session.integration.lookup(ids)) == NAMED_COUNT // 2 + 1
        case "lookup of hashes":
            notes = await session.messages(1, NAMED_COUNT)
            assert len(await session.integration.lookup(hashes=[note.content_hash for note in notes])) == NAMED_COUNT
        case _:
            assert len((await session.retract(30)).seqs) == 30


@pytest.mark.parametrize("is_branch", [False, True], ids=["root", "branch"])
@pytest.mark.parametrize("kind", ["append", "lookup", "lookup of hashes", "retract"])
async def test_ids_of_many_messages(named: Session, url: str, trips: RoundTrips, kind: str, *, is_branch: bool) -> None:
    """However many messages it is for, and from a branch too, an append, a lookup or a retraction takes the same few requests."""
    session = named
    if is_branch:
        session = await named.branch(NAMED_COUNT)
        await session.append([user("So?"), assistant("So.")] * 20)
    trips.take()
    await ask(session, kind)
    asked = [name for name in trips.take() if name not in LEARNT]
    most = MOST[url.partition(":")[0]][f"{kind} of a branch" if is_branch and kind == "append" else kind]
    assert len(asked) <= most, spell_counts(asked)
