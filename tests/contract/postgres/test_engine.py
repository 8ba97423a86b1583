"""An engine over PostgreSQL: opened by its url, and the same after it was opened again."""

import asyncio
import os
from contextlib import suppress
from random import Random

import psycopg
import pytest
from bench.material.logs import endless_log
from tests.support.sizes import some
from tests.support.waiting import until

import everfold
from everfold.adapters.postgres.connections import MOST_CONNECTIONS
from everfold.adapters.postgres.store import PostgresStore
from everfold.errors import CorruptStoreError, InvalidInputError, SchemaError, StoreUnavailableError

REMEMBERING = {"memory": {"system": "structured"}, "embed": {"model": "hash:64"}}
TALK = list(endless_log(5, messages_count=some(160, 100)))


async def test_a_talk_folds_and_is_found_after_opening_again(database_url: str) -> None:
    """A log that compacts while it grows verifies, keeps its window over an opening, and is searched and erased."""
    async with everfold.open(database_url) as engine:
        session = await engine.session(user="ada", limit=8_000)
        for entry in TALK:
            await session.append(entry.wire)
            window = await session.window()
        await session.append({"role": "user", "content": "The harbour master keeps a heron."})
        assert (await session.inspect.state()).compactions_count > 1
        before = (await session.window(preview=True)).render("openai")
    async with everfold.open(database_url) as engine:
        session = await engine.session(user="ada")
        assert (await session.window(preview=True)).render("openai") == before
        hits = await session.search("heron of the harbour master")
        assert hits[0].seq == len(TALK) + 1
        assert window.report is not None
        assert (await session.verify()).is_sound
        await session.erase(hits[0].seq)
        assert all(hit.seq != len(TALK) + 1 for hit in await session.search("heron"))
        assert (await session.verify()).is_sound


async def test_what_sqlite_shows_postgres_shows(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same log gives the same request on both stores, message by message."""
    file = tmp_path_factory.mktemp("both") / "log.db"
    shown: list[list[object]] = []
    for url in (f"sqlite:///{file}", database_url):
        async with everfold.open(url, settings={"recall": {"enabled": False}}) as engine:
            session = await engine.session(limit=8_000)
            requests: list[object] = []
            for entry in TALK:
                await session.append(entry.wire, said_at=entry.said_at)
                requests.append((await session.window()).render("openai"))
            shown.append(requests)
    assert shown[0] == shown[1]


async def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    """The error names the database and what to look at, and no secret of the url."""
    with pytest.raises(StoreUnavailableError, match="is the server running") as raised:
        async with everfold.open("postgresql://ada:geheim@127.0.0.1:9/shop"):
            pass
    assert "geheim" not in str(raised.value)
    assert "127.0.0.1:9/shop" in str(raised.value)


async def test_an_embedder_s_vectors_come_and_go_with_the_messages(database_url: str, server_url: str) -> None:
    """With an embedder messages get vectors beside the turns, and an erase takes the vector."""

    def count() -> int:
        with psycopg.connect(server_url) as connection:
            [(found,)] = connection.execute("SELECT count(*) FROM vectors").fetchall()
        return int(found)

    async with everfold.open(database_url, settings=REMEMBERING) as engine:
        session = await engine.session()
        await session.append(
            [{"role": "user", "content": text} for text in ("The harbour opens at six.", "Cats sleep.")]
        )
        await until(lambda: count() == 2)
        assert (await session.search("harbour"))[0].seq == 1
        await session.erase(1)
        assert count() == 1


@pytest.mark.parametrize(
    "letters",
    [
        pytest.param("abcdefghijklmnopqrstuvwxyz", id="latin", marks=pytest.mark.slow),
        pytest.param("東京都渋谷区神南港町", id="cjk"),
        pytest.param("𐌰𐌱𐌲𐌳𐌴𐌵𐌶𐌷𐌸𐌹", id="gothic", marks=pytest.mark.slow),
    ],
)
async def test_a_message_of_many_words_is_stored_and_found(database_url: str, letters: str) -> None:
    """A message of a million characters, by day of 400,000, all its words different, is stored whole and found by its first words."""
    draw = Random(7)
    words = ["".join(draw.choices(letters, k=9)) for _ in range(some(100_000, 40_000))]
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": " ".join(words)})
        await session.append({"role": "assistant", "content": "Noted."})
        [message] = await session.messages(1, 1)
        assert message.wire["content"] == " ".join(words)
        assert (await session.search(" ".join(words[:3])))[0].seq == 1


async def test_a_database_of_a_newer_release_is_refused(database_url: str, server_url: str) -> None:
    """A migration that is not known stops the opening, and so does one that is another than the one that ran."""
    async with everfold.open(database_url):
        pass
    for change, told in (
        ("INSERT INTO migrations (name, checksum) VALUES ('9999_later.sql', 'x')", "newer Everfold"),
        ("UPDATE migrations SET checksum = 'x'", "is not the one of this database"),
    ):
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("DELETE FROM migrations WHERE name LIKE '9999%'")
            connection.execute(change)
        with pytest.raises(SchemaError, match=told):
            async with everfold.open(database_url):
                pass


async def test_a_damaged_row_is_told(database_url: str, server_url: str) -> None:
    """A state that cannot be read is damage, and says so."""
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": "hello"})
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("UPDATE session_states SET state = 'nonsense', revision = 99")
        with pytest.raises(CorruptStoreError, match="damaged"):
            await (await engine.session(id=session.id)).window()


async def test_a_fork_is_refused(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was forked from the one that opened the store speaks on none of its sockets."""
    store = await PostgresStore.open(database_url)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(StoreUnavailableError, match="was forked"):
            await store.list_agents()
    assert await store.list_agents() == []
    await store.close()
    with pytest.raises(StoreUnavailableError, match="was closed"):
        await store.list_agents()


async def test_a_lost_connection_costs_one_call(database_url: str, server_url: str) -> None:
    """When the server ends its connections the call at work says so, and later ones have new connections."""
    store = await PostgresStore.open(database_url)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    for _ in range(MOST_CONNECTIONS):
        with suppress(StoreUnavailableError):
            await store.list_agents()
    assert await store.list_agents() == []
    await store.close()


async def test_several_open_a_new_database_at_once(bare_database_url: str) -> None:
    """One of them makes the tables, and the others wait for it and find them."""
    stores = await asyncio.gather(*(PostgresStore.open(bare_database_url) for _ in range(4)))
    assert [await store.list_agents() for store in stores] == [[]] * 4
    for store in stores:
        await store.close()


async def test_a_text_that_postgres_cannot_hold_is_refused(database_url: str) -> None:
    """A null character in a column of text is the caller's fault, and one in a message is kept as it is."""
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": "a\0b \ud800"})
        [message] = await session.messages(1, 1)
        assert message.wire == {"role": "user", "content": "a\0b \ud800"}
        with pytest.raises(InvalidInputError):
            await engine.session(id="ses_\0")
