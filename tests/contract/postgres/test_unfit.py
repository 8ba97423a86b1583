"""What PostgreSQL cannot hold is the caller's fault, by the name of what does not fit; and every character reaches it."""

from random import Random

import psycopg
import pytest

import everfold
from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.store import PostgresStore
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import append_wires, incoming, open_session, user

FAR = 10**19
TEXT = "The price is 5 € in 東京."


@pytest.mark.parametrize("seq", [FAR, 2**63])
async def test_a_number_that_no_log_reaches_is_not_called_damage(database_url: str, seq: int) -> None:
    """A message is asked for by a number of more than 64 bits: the number is named, alone and among others."""
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append(user("one"))
        with pytest.raises(InvalidInputError, match=str(seq)):
            await session.read(seq)


async def test_the_longest_ids_fit_whatever_their_letters(database_url: str) -> None:
    """Ids of 512 characters of four bytes, which no index can press together, are held."""
    draw = Random(5)
    name = "".join(chr(draw.randrange(0x20000, 0x2A000)) for _ in range(512))
    async with everfold.open(database_url) as engine:
        session = await engine.session(user=name, agent=name, session_key=name)
        assert await session.append([user("one"), user("two")], client_id=name) == [1, 2]
        assert await session.append([user("one"), user("two")], client_id=name) == [1, 2]


async def test_an_id_that_is_too_long_for_an_index_is_invalid(store: PostgresStore) -> None:
    """What the server refuses as too long is the caller's fault; the server is not said to be out of reach."""
    record = await open_session(store, None)
    draw = Random(5)
    name = "".join(chr(draw.randrange(0x20000, 0x2A000)) for _ in range(3_000))
    with pytest.raises(InvalidInputError, match="index row"):
        await append_wires(store, record.id, incoming(user("a"), client_id=name))


def test_the_value_that_does_not_fit_is_named(database_url: str) -> None:
    """Of several rows, and of several queries that are sent at once, the one with the value that does not fit is told."""
    with psycopg.connect(database_url, autocommit=True, client_encoding="UTF8") as connection:
        database, fit = Database(connection, "here"), {"xid": 0, "id": 0, "limit_count": 1}
        for rows in ([("a", b""), ("b\0", b"")], [("a", b""), ("b\ud800", b"")]):
            with pytest.raises(InvalidInputError, match="tell_others: value 1 is 'b") as told, database.transaction():
                database.run_each("tell_others", rows)
            assert told.value.ids["query"] == "tell_others"
        with pytest.raises(InvalidInputError, match=f"list_told: id is {FAR}"):
            database.rows_all([("list_told", fit), ("list_told", {**fit, "id": FAR}), ("list_told", fit)])
        assert database.rows("list_told", xid=0, id=0, limit_count=1) == []


async def test_texts_of_every_character_are_stored_whatever_the_client_s_encoding(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An encoding of the environment that lacks characters does not change what is stored, shown and found."""
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    async with everfold.open(database_url) as engine:
        session = await engine.session(user="東京", session_key="東京")
        await session.append(user(TEXT))
        await session.integration.set_title("東京")
        assert [hit.seq for hit in await session.search("東京")] == [1]
        assert (await session.messages())[0].view.text == TEXT
        assert (await engine.session(user="東京", session_key="東京")).id == session.id
