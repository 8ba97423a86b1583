"""Lists that are read on behind their last row, while another connection has drawn a lower key and commits after it was read."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Final

import psycopg
import pytest
from tests.services.memory.test_embed import TroubledEmbedder, make

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.replicas import PostgresReplicas
from everfold.adapters.postgres.store import PostgresStore
from everfold.adapters.sql import access, log, sessions, usage, users
from everfold.adapters.sql.places import Places
from everfold.core.access.api_keys import ADMIN, ApiKey, ApiKeyId
from everfold.core.access.users import User
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.recall.vectors import Space
from everfold.services.memory.embed import Filled
from everfold.testing.contract.usage import call
from everfold.testing.kit.builders import ADA, append_wires, minute, open_session, plan_wires, session_record, user

Write = Callable[[Database, str], None]
"""Writes a row under an id."""
Page = Callable[[PostgresStore, str | None], Awaitable[Sequence[str]]]
"""The ids that a list has behind one."""


def write_session(database: Database, id_: str) -> None:
    """A session of a user and an agent of its own."""
    record = session_record(id_, user_id=UserId(f"user {id_}"), agent_id=AgentId(f"agent {id_}"))
    sessions.create_session(database, record, SessionState())


def write_user(database: Database, id_: str) -> None:
    """A user with a name."""
    users.add_user(database, User(id=UserId(id_), name=f"Person {id_}", created_at=minute(0)))


def write_call(database: Database, id_: str) -> None:
    """A call of a model, on a day of its own: the calls of one day wait for each other."""
    usage.record_call(database, call(id_, at=1440 * int(id_[-1])))


def write_key(database: Database, id_: str) -> None:
    """An API key."""
    key = ApiKey(id=ApiKeyId(id_), name=id_, scope=ADMIN, secret_hash=id_, created_at=minute(0))
    access.add_api_key(database, key)


async def list_sessions(store: PostgresStore, after: str | None) -> list[str]:
    """Of all users."""
    given = None if after is None else SessionId(after)
    return [one.id for one in await store.list_sessions(user_id=None, agent_id=None, after=given, limit_count=9)]


async def list_users(store: PostgresStore, after: str | None) -> list[str]:
    """All of them."""
    given = None if after is None else UserId(after)
    return [one.id for one in await store.list_users(after=given, limit_count=9)]


async def list_users_named(store: PostgresStore, after: str | None) -> list[str]:
    """Those whose name has a text."""
    given = None if after is None else UserId(after)
    return [one.id for one in await store.list_users_named("person", after=given, limit_count=9)]


async def list_calls(store: PostgresStore, after: str | None) -> list[str]:
    """Of all users."""
    return [one.id for one in await store.list_calls(after=after, limit_count=9)]


async def list_keys(store: PostgresStore, after: str | None) -> list[str]:
    """All of them."""
    given = None if after is None else ApiKeyId(after)
    return [one.id for one in await store.list_api_keys(after=given, limit_count=9)]


LISTS: Final[dict[str, tuple[Write, Page]]] = {
    "sessions": (write_session, list_sessions),
    "users": (write_user, list_users),
    "users by name": (write_user, list_users_named),
    "calls": (write_call, list_calls),
    "keys": (write_key, list_keys),
}


@pytest.fixture
def other(store: PostgresStore, server_url: str) -> Iterator[Database]:
    """A connection of another process."""
    assert store
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield Database(connection, server_url)


@pytest.mark.parametrize("listed", LISTS)
async def test_a_row_that_is_committed_late_is_listed(
    store: PostgresStore, other: Database, server_url: str, listed: str
) -> None:
    """A reader that goes on behind a page's last row gets each row once, also one with a key drawn before that page."""
    write, page = LISTS[listed]
    with ExitStack() as late:
        late.enter_context(other.transaction())
        write(other, "row_1")
        with psycopg.connect(server_url, autocommit=True) as connection:
            quick = Database(connection, server_url)
            with quick.transaction():
                write(quick, "row_2")
        first = await page(store, None)
    rest = await page(store, first[-1] if first else None)
    assert [*first, *rest] == ["row_1", "row_2"]


@pytest.mark.parametrize("listed", LISTS)
async def test_what_is_given_up_holds_nothing_back(store: PostgresStore, other: Database, listed: str) -> None:
    """A row that was rolled back is waited for no longer, and what is committed is listed at once."""
    write, page = LISTS[listed]
    with other.transaction():
        write(other, "row_1")
        raise psycopg.Rollback
    with other.transaction():
        write(other, "row_2")
    assert await page(store, None) == ["row_2"]


async def test_what_is_told_late_is_heard(server_url: str, store: PostgresStore, other: Database) -> None:
    """A reader of the feed gets what was told first and committed last, behind what it has read before."""
    assert store
    replicas = PostgresReplicas(server_url)
    try:
        assert await replicas.hear(wait_secs=0) == []
        with other.transaction():
            other.run_each("tell_others", [("other", b"first")])
            with psycopg.connect(server_url, autocommit=True) as connection:
                Database(connection, server_url).run_each("tell_others", [("other", b"second")])
            heard = await replicas.hear(wait_secs=0)
        heard += await replicas.hear(wait_secs=5)
        assert heard == [b"first", b"second"]
    finally:
        await replicas.close()


async def test_a_message_that_is_committed_late_gets_a_vector(store: PostgresStore, other: Database) -> None:
    """A message whose number was drawn before those that are embedded, and that is committed later, is embedded too."""
    first = await open_session(store, None)
    second = await open_session(store, session_record("ses_2", parent=first))
    embedding, _ = make(store, TroubledEmbedder())
    await embedding.fill_user(ADA)
    plan, state = await plan_wires(store, first.id, [user("Late.")])
    with other.transaction():
        log.append(other, Places(other), first.id, plan, state.revision)
        for text in ("One.", "Two.", "Three."):
            await append_wires(store, second.id, user(text))
            assert await embedding.fill_user(ADA) == Filled(embedded_count=1)
    assert await embedding.fill_user(ADA) == Filled(embedded_count=1)
    assert await store.list_missing(ADA, "message", Space("hash:64", 64), limit_count=9) == []
