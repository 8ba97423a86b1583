"""What is repeated when the way to the server breaks off: everything that left nothing behind, and nothing twice."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import psycopg
import pytest
from tests.support.cutting import Cutter, Place, cutting
from tests.support.postgres import crash, durable
from tests.support.waiting import until

import everfold
from everfold import Session
from everfold.adapters.postgres import repeating
from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.store import PostgresStore
from everfold.adapters.sql.copy_store import copy_store
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.primitives.ids import SessionId
from everfold.errors import OutcomeUnknownError, StoreUnavailableError
from everfold.testing.kit.builders import user

Names: TypeAlias = Sequence[str | None] | None
"""Client ids as an append is given them."""


@pytest.fixture
def cutter(database_url: str) -> Iterator[Cutter]:
    """A way to an empty database."""
    with tempfile.TemporaryDirectory() as folder, cutting(database_url, Path(folder)) as opened:
        yield opened


async def _read(session: Session) -> list[str]:
    """The texts of the log."""
    return [message.view.text for message in await session.messages()]


@pytest.mark.parametrize("place", ["begun", "unsent", "unanswered"])
async def test_an_append_over_a_lost_connection_is_stored_once(cutter: Cutter, place: Place) -> None:
    """Wherever the connection is lost, the append returns, and its message is in the log once."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = place
        assert await session.append(user("The second one.")) == [2]
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one."]
        assert (await session.verify()).is_sound


async def test_a_read_over_a_lost_connection_is_asked_again(cutter: Cutter) -> None:
    """A lost connection is not seen by who reads."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = "read"
        assert await _read(session) == ["The first one."]
        assert cutter.place is None


def _forget_transactions(patch: pytest.MonkeyPatch) -> None:
    """Have the server say of no transaction that has ended how it did."""
    ask = Database.read_transaction_status

    def forget(database: Database, transaction_id: int, server_life: int | None) -> str | None:
        status = ask(database, transaction_id, server_life)
        return status if status == "in progress" else None

    patch.setattr(Database, "read_transaction_status", forget)


NAMES: Final = [None, ["mine", "yours"], ["mine", None], [None, "yours"]]
"""The client ids of two messages: none, all, or of one of them."""


@pytest.mark.parametrize("place", ["unsent", "unanswered"])
@pytest.mark.parametrize("names", NAMES)
async def test_a_commit_that_the_server_does_not_know_of_is_settled_by_what_is_stored(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch, names: Names, place: Place
) -> None:
    """Where the server has forgotten how a transaction ended, an append is stored once, with client ids and without."""
    _forget_transactions(monkeypatch)
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = place
        two = [user("The second one."), user("The third one.")]
        assert await session.append(two, client_ids=names) == [2, 3]
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one.", "The third one."]
        assert (await session.verify()).is_sound


async def test_a_first_append_that_the_server_does_not_know_of_makes_one_session(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that is stored with its first message is there once, though the answer to its commit was lost."""
    _forget_transactions(monkeypatch)
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        cutter.place = "unanswered"
        assert await session.append(user("The first one.")) == [1]
        assert cutter.place is None
        assert [one.id for one in await engine.list_sessions()] == [session.id]
        assert await _read(session) == ["The first one."]


@pytest.mark.slow
async def test_a_commit_without_an_answer_before_an_outage_is_stored_once(cutter: Cutter) -> None:
    """An append whose commit was carried out right before the server went away for seconds returns when it is back."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place, cutter.before = "unanswered", lambda: cutter.go_down(6)
        assert await session.append(user("The second one.")) == [2]
        assert await _read(session) == ["The first one.", "The second one."]


@pytest.mark.slow
async def test_a_call_waits_for_a_server_that_is_restarted(cutter: Cutter) -> None:
    """A server that answers again within seconds costs no call, also where that takes longer than one connection may take."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.go_down(6)
        assert await session.append(user("The second one.")) == [2]


@pytest.mark.slow
async def test_a_server_is_found_at_once_after_a_long_outage(cutter: Cutter, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the server was away, the next call finds it, though it does not wait long."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.go_down(8)
        monkeypatch.setattr(repeating, "REPEAT_SECS", 4.0)
        with pytest.raises(StoreUnavailableError):
            await session.append(user("The second one."))
        await until(lambda: not cutter.is_down)
        assert await session.append(user("The second one.")) == [2]


async def test_a_commit_that_does_not_end_is_told_as_what_it_is(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where client ids make the same append safe again does the error ask for it."""
    monkeypatch.setattr(Database, "read_transaction_status", lambda *_: "in progress")
    monkeypatch.setattr(repeating, "REPEAT_SECS", 0.2)
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = "unanswered"
        with pytest.raises(StoreUnavailableError, match="same client ids"):
            await session.append(user("The second one."), client_id="mine")
        assert await session.append(user("The second one."), client_id="mine") == [2]
        cutter.place = "unanswered"
        with pytest.raises(OutcomeUnknownError, match="read what is stored") as unknown:
            await session.append(user("The third one."))
        assert not unknown.value.retryable


async def test_a_mark_is_nobodys_client_id(database_url: str, tmp_path: Path) -> None:
    """What tells an append apart in the store is not shown where a client gave no id, in a document or in a copied store."""
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        await session.append([user("The second one."), user("The third one.")], client_ids=[None, "mine"])
    with psycopg.connect(database_url) as connection:
        stored = connection.execute("SELECT client_id IS NULL FROM messages ORDER BY seq").fetchall()
    assert stored == [(False,), (False,), (False,)], "the first one of each append, and the named one"
    source, target = await PostgresStore.open(database_url), await SqliteStore.open(f"{tmp_path}/copy.db")
    await copy_store(source, target, lambda _what, _count: None)
    for store in (source, target):
        messages = await store.list_stored(SessionId(session.id), after_seq=0, limit_count=10)
        assert [message.client_id for message in messages] == [None, None, "mine"]
        await store.close()


@pytest.fixture
def lazy_url(database_url: str) -> Iterator[str]:
    """A durable database whose server writes its log when something is committed, and no sooner."""
    with durable(database_url):
        _set(database_url, "ALTER SYSTEM SET wal_writer_delay = '10s'")
        yield database_url
        _set(database_url, "ALTER SYSTEM RESET wal_writer_delay")


def _set(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
        connection.execute("SELECT pg_reload_conf()")


def _give_away(url: str, transaction_id: int) -> None:
    """Have transactions committed until one has had this id."""
    with psycopg.connect(url, autocommit=True) as connection:
        while (
            connection.execute("SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)").fetchall()[0][0]
            < transaction_id
        ):
            pass


@pytest.mark.parametrize("names", [None, ["mine"]])
@pytest.mark.parametrize("is_given_away", [False, True])
async def test_a_commit_that_a_crash_took_is_not_taken_for_another_one(
    cutter: Cutter, lazy_url: str, *, is_given_away: bool, names: Names
) -> None:
    """What was appended while the server crashed is in the log once, also where another transaction got its id."""

    def crash_and_go_on() -> None:
        with psycopg.connect(lazy_url) as connection:
            query = (
                "SELECT CAST(CAST(backend_xid AS TEXT) AS BIGINT) FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
            )
            [(transaction_id,)] = connection.execute(query).fetchall()
        crash(lazy_url)
        if is_given_away:
            _give_away(lazy_url, transaction_id)

    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place, cutter.before = "unsent", crash_and_go_on
        assert await session.append(user("The second one."), client_ids=names) == [2]
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one."]
        assert (await session.verify()).is_sound
