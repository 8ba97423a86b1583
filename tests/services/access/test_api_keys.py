"""API keys: a secret opens what its scope says until it is expired or revoked, and a new store has one key."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import everfold
from everfold import Everfold
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.access.api_keys import ADMIN, ApiKeyId, Scope
from everfold.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreUnavailableError,
    UnauthenticatedError,
)
from everfold.ports.stores import Store
from everfold.services.access.api_keys import TOUCH_SECS, ApiKeys
from everfold.services.access.users import Users
from everfold.testing.kit.fakes import STARTED_AT, CountingIds, CountingSecrets, FakeClock

OWN = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"


class WatchedStore(SqliteStore):
    """A store that counts the uses that are written, and can refuse them."""

    touched_count = 0
    is_full = False

    async def touch_api_key(self, key_id: ApiKeyId, *, used_at: datetime) -> None:
        """See the port."""
        self.touched_count += 1
        if self.is_full:
            raise StoreUnavailableError("the disk is full")
        await super().touch_api_key(key_id, used_at=used_at)


def keys_of(store: Store, clock: FakeClock) -> ApiKeys:
    """The keys of a store, as one process sees them."""
    ids = CountingIds()
    return ApiKeys(
        store=store, clock=clock, ids=ids, secrets=CountingSecrets(), users=Users(store=store, clock=clock, ids=ids)
    )


@pytest.fixture
def store() -> WatchedStore:
    """An empty store."""
    return WatchedStore(IN_MEMORY)


@pytest.fixture
def keys(store: WatchedStore, clock: FakeClock) -> ApiKeys:
    """The keys of the store."""
    return keys_of(store, clock)


@pytest.fixture
async def engines(file_url: str) -> AsyncIterator[list[Everfold]]:
    """Four engines over one file, as four processes have it."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(everfold.open(file_url)) for _ in range(4)]


async def test_a_secret_opens_its_key(engine: Everfold) -> None:
    """The secret of a new key gives that key with its scope, and the secret of another one gives the other."""
    desk = await engine.admin.api_keys.make("desk", "agent:guide", is_read_only=True)
    boss = await engine.admin.api_keys.make("boss")
    assert desk.secret != boss.secret
    assert desk.api_key.scope == Scope(kind="agent", name="guide", is_read_only=True)
    assert boss.api_key.scope == ADMIN
    for made in (desk, boss):
        assert (await engine.admin.api_keys.check(made.secret)).id == made.api_key.id
    assert [key.name for key in await engine.admin.api_keys.list_api_keys()] == ["desk", "boss"]
    assert [key.name for key in await engine.admin.api_keys.list_api_keys(after=desk.api_key.id, limit=1)] == ["boss"]


async def test_no_secret_is_stored_or_shown(engine: Everfold) -> None:
    """Neither the stored key nor what is printed of a new one holds the secret."""
    made = await engine.admin.api_keys.make("desk")
    assert made.secret not in repr(made)
    for key in await engine.admin.api_keys.list_api_keys():
        assert made.secret not in {key.id, key.name, key.secret_hash}
        assert key.secret_hash not in repr(key)


async def test_no_secret_is_in_the_file(file_url: str) -> None:
    """The files of a store hold the secret of no key."""
    async with everfold.open(file_url) as engine:
        made = await engine.admin.api_keys.make("desk")
    stored = Path(file_url.removeprefix("sqlite:///")).read_bytes()  # noqa: ASYNC240 - a small file of the test's own
    assert made.api_key.secret_hash.encode() in stored
    assert made.secret.encode() not in stored


async def test_a_scope_names_its_user(engine: Everfold) -> None:
    """A user is named by name, as the default one, or by an id that is still to come; the key has the id."""
    ada, default = await engine.add_user("ada"), await engine.get_user()
    for at, (text, id_) in enumerate((("ada", ada.id), ("default", default.id), (OWN.upper(), OWN))):
        made = await engine.admin.api_keys.make(f"k{at}", f"user:{text}")
        assert made.api_key.scope == Scope(kind="user", name=id_)
    with pytest.raises(NotFoundError, match="nobody"):
        await engine.admin.api_keys.make("lost", Scope(kind="user", name="nobody"))
    assert len(await engine.admin.api_keys.list_api_keys()) == 3


async def test_an_unknown_secret_is_refused(keys: ApiKeys) -> None:
    """A secret that no key has is refused in the same words whether it is near to one or far, and is not repeated."""
    made = await keys.make("desk")
    texts = {
        made.secret[:-1],
        made.secret + "0",
        made.secret.upper(),
        made.api_key.secret_hash,
        made.api_key.id,
        "",
        "\ud800",
    }
    told = set()
    for text in texts:
        with pytest.raises(UnauthenticatedError) as caught:
            await keys.check(text)
        told.add((str(caught.value), *caught.value.ids))
    assert len(told) == 1
    assert not any(text and text in str(told) for text in texts)


async def test_an_expired_key_is_refused(keys: ApiKeys, clock: FakeClock) -> None:
    """A key works until the moment of its expiry and not from it on, however the expiry was given."""
    made = [
        await keys.make("a", lifetime=timedelta(days=2)),
        await keys.make("b", expires_at=STARTED_AT + timedelta(days=2)),
    ]
    endless = await keys.make("c")
    clock.advance(timedelta(days=2, microseconds=-1))
    for one in made:
        assert (await keys.check(one.secret)).name == one.api_key.name
    clock.advance(timedelta(microseconds=1))
    for one in made:
        with pytest.raises(UnauthenticatedError, match="expired at 2031-03-05 08:00 UTC"):
            await keys.check(one.secret)
    clock.advance(timedelta(days=36_500))
    assert (await keys.check(endless.secret)).name == "c"


@pytest.mark.parametrize(
    "expiry",
    [
        {"expires_at": STARTED_AT},
        {"expires_at": datetime(2032, 1, 1)},  # noqa: DTZ001 - a time without a zone is what is refused
        {"lifetime": timedelta(0)},
        {"lifetime": timedelta.max},
        {"lifetime": timedelta(1), "expires_at": datetime(2032, 1, 1, tzinfo=UTC)},
    ],
    ids=["past", "no zone", "no time", "beyond the calendar", "both"],
)
async def test_an_expiry_must_come(keys: ApiKeys, expiry: dict[str, object]) -> None:
    """An expiry that is over, that cannot be placed, or that is given twice makes no key."""
    with pytest.raises(InvalidInputError):
        await keys.make("desk", **expiry)  # type: ignore[arg-type]  # what it takes is the point
    assert await keys.list_api_keys() == []


@pytest.mark.parametrize("name", ["", " ", "key_1", "a\nb", "x" * 101, "\ud800"])
async def test_a_name_must_be_one(keys: ApiKeys, name: str) -> None:
    """A name that cannot be read, or that could be an id, makes no key."""
    with pytest.raises(InvalidInputError, match="name of an API key"):
        await keys.make(name)
    assert await keys.list_api_keys() == []


async def test_a_revoked_key_is_refused_for_ever(engine: Everfold) -> None:
    """A key is revoked by id or by name, once; its secret is refused at once, and its name is free."""
    await engine.admin.api_keys.make("kept")
    by_id, by_name = await engine.admin.api_keys.make("a"), await engine.admin.api_keys.make("b")
    revoked = [await engine.admin.api_keys.revoke(by_id.api_key.id), await engine.admin.api_keys.revoke("b")]
    assert all(key.revoked_at is not None for key in revoked)
    for made in (by_id, by_name):
        with pytest.raises(UnauthenticatedError, match="revoked"):
            await engine.admin.api_keys.check(made.secret)
    assert await engine.admin.api_keys.revoke(by_id.api_key.id) == revoked[0]
    with pytest.raises(NotFoundError, match="'b'"):
        await engine.admin.api_keys.revoke("b")
    again = await engine.admin.api_keys.make("b")
    assert (
        (await engine.admin.api_keys.get("b")).id
        == (await engine.admin.api_keys.check(again.secret)).id
        == again.api_key.id
    )
    assert await engine.admin.api_keys.list_api_keys() != revoked


async def test_a_key_that_another_process_revokes_is_refused_at_once(tmp_path: Path) -> None:
    """A store that has just found a key finds it revoked as soon as another one over the same file has revoked it."""
    async with AsyncExitStack() as opened:
        server, other = [
            await opened.enter_async_context(everfold.open(f"sqlite:///{tmp_path / 'a.db'}")) for _ in range(2)
        ]
        made = await other.admin.api_keys.make("phone")
        assert (await server.admin.api_keys.check(made.secret)).id == made.api_key.id
        await other.admin.api_keys.revoke("phone", even_last=True)
        with pytest.raises(UnauthenticatedError, match="revoked"):
            await server.admin.api_keys.check(made.secret)


async def test_the_last_admin_is_not_revoked(engine: Everfold) -> None:
    """The last key that may do everything is refused with what to do, two at once keep one, and who means it may."""
    first, second = await engine.admin.api_keys.make("first"), await engine.admin.api_keys.make("second")
    ended = await asyncio.gather(*map(engine.admin.api_keys.revoke, ("first", "second")), return_exceptions=True)
    (refused,) = [one for one in ended if isinstance(one, ConflictError)]
    assert "keys add" in str(refused)
    left = next(made.api_key for made in (first, second) if made.api_key.id == refused.ids["api_key"])
    assert (await engine.admin.api_keys.get(left.name)).revoked_at is None
    with pytest.raises(ConflictError):
        await engine.admin.api_keys.revoke(left.id)
    assert (await engine.admin.api_keys.revoke(left.id, even_last=True)).revoked_at is not None


async def test_a_name_is_of_one_key(engine: Everfold) -> None:
    """A second key of the name of one that is not revoked is refused, and the first one goes on working."""
    made = await engine.admin.api_keys.make("desk")
    with pytest.raises(ConflictError, match=made.api_key.id):
        await engine.admin.api_keys.make("desk", "agent:guide")
    assert [key.id for key in await engine.admin.api_keys.list_api_keys()] == [
        (await engine.admin.api_keys.check(made.secret)).id
    ]


async def test_the_last_use_is_written_once_a_minute(keys: ApiKeys, store: WatchedStore, clock: FakeClock) -> None:
    """Many uses within a minute, some at once, write one; the next minute writes the next one, in another process too."""
    made = await keys.make("desk")
    await asyncio.gather(*(keys.check(made.secret) for _ in range(20)))
    clock.advance(timedelta(seconds=TOUCH_SECS - 1))
    await keys.check(made.secret)
    await keys_of(store, clock).check(made.secret)
    assert store.touched_count == 1
    assert (await keys.get("desk")).last_used_at == STARTED_AT
    clock.advance(timedelta(seconds=1))
    used = await keys.check(made.secret)
    assert store.touched_count == 2
    assert await keys.get("desk") == used
    assert used.last_used_at == STARTED_AT + timedelta(seconds=TOUCH_SECS)


async def test_a_refused_use_is_not_written(keys: ApiKeys, store: WatchedStore, clock: FakeClock) -> None:
    """Who is refused leaves no last use."""
    made = await keys.make("desk", lifetime=timedelta(seconds=1))
    clock.advance(timedelta(seconds=1))
    with pytest.raises(UnauthenticatedError):
        await keys.check(made.secret)
    assert store.touched_count == 0


async def test_a_full_disk_keeps_nobody_out(keys: ApiKeys, store: WatchedStore, clock: FakeClock) -> None:
    """A use that cannot be written does not refuse the key, and is tried again a minute later."""
    made = await keys.make("desk")
    store.is_full = True
    for _ in range(3):
        assert (await keys.check(made.secret)).id == made.api_key.id
    assert store.touched_count == 1
    store.is_full = False
    clock.advance(timedelta(seconds=TOUCH_SECS))
    await keys.check(made.secret)
    assert (await keys.get("desk")).last_used_at == clock.now()


async def test_a_new_store_gets_one_admin(engine: Everfold) -> None:
    """The first start makes an admin key, and no later one does while it works."""
    made = await engine.admin.api_keys.ensure_first()
    assert made is not None
    assert (made.api_key.name, made.api_key.scope) == ("first", ADMIN)
    assert (await engine.admin.api_keys.check(made.secret)).id == made.api_key.id
    assert await engine.admin.api_keys.ensure_first() is None
    assert len(await engine.admin.api_keys.list_api_keys()) == 1


async def test_who_cannot_administer_is_no_admin(keys: ApiKeys, clock: FakeClock) -> None:
    """API keys of less power, read-only, expired and revoked ones are not enough, whatever they are named."""
    await keys.make("first", "agent:guide")
    await keys.make("first-2", is_read_only=True)
    await keys.make("old", lifetime=timedelta(seconds=1))
    await keys.make("gone")
    await keys.revoke("gone", even_last=True)
    clock.advance(timedelta(seconds=1))
    made = await keys.ensure_first()
    assert made is not None
    assert (made.api_key.name, made.api_key.scope) == ("first-3", ADMIN)
    assert await keys.ensure_first() is None


async def test_an_admin_far_down_the_list_is_found(keys: ApiKeys) -> None:
    """An admin key behind pages of others is enough."""
    for at in range(205):
        await keys.make(f"k{at}", "agent:guide")
    await keys.make("boss")
    assert await keys.ensure_first() is None


async def test_processes_at_once_make_one_admin(engines: list[Everfold]) -> None:
    """Of four processes that start on one new file at once, one makes the first key and the others none."""
    made = await asyncio.gather(*(engine.admin.api_keys.ensure_first() for engine in engines))
    assert sum(it is not None for it in made) == 1
    assert len(await engines[0].admin.api_keys.list_api_keys()) == 1


async def test_processes_at_once_make_one_admin_beside_others(engines: list[Everfold]) -> None:
    """The same where the name of the first key is taken by a key of less power."""
    await engines[0].admin.api_keys.make("first", "agent:guide")
    made = await asyncio.gather(*(engine.admin.api_keys.ensure_first() for engine in engines))
    assert sum(it is not None for it in made) == 1
    assert [key.name for key in await engines[0].admin.api_keys.list_api_keys()] == ["first", "first-2"]


async def test_a_key_outlives_a_restart_and_a_wipe(file_url: str) -> None:
    """A user's key works after the process was started anew, and after that user was wiped."""
    async with everfold.open(file_url) as engine:
        await engine.session(user="ada")
        made = await engine.admin.api_keys.make("ada's", "user:ada")
    async with everfold.open(file_url) as engine:
        await engine.wipe("ada", transcripts=True)
        assert (await engine.admin.api_keys.check(made.secret)).scope == made.api_key.scope


async def test_no_secret_is_logged(engine: Everfold, caplog: pytest.LogCaptureFixture) -> None:
    """Making, using and refusing keys writes no secret to a log."""
    with caplog.at_level(logging.DEBUG):
        made = await engine.admin.api_keys.make("desk")
        await engine.admin.api_keys.check(made.secret)
        with pytest.raises(UnauthenticatedError):
            await engine.admin.api_keys.check(made.secret[:-1])
    assert made.secret[:-1] not in caplog.text


async def test_a_locked_file_is_told_apart_from_a_wrong_key(file_url: str) -> None:
    """A store that is closed is unavailable, and says nothing about the key."""
    store = await SqliteStore.open(file_url.removeprefix("sqlite:///"))
    keys = keys_of(store, FakeClock())
    made = await keys.make("desk")
    await store.close()
    with pytest.raises(StoreUnavailableError):
        await keys.check(made.secret)
