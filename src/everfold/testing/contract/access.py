"""What every store holds to about keys and known writes. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from everfold.core.access.api_keys import ADMIN, ApiKey, ApiKeyId, Scope, hash_secret
from everfold.core.access.repeats import IdempotencyKey, KeptAnswer, KnownRequest
from everfold.core.memory.records import AuditEntry
from everfold.errors import ConflictError, NotFoundError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.ports.writing import watch_writes
from everfold.testing.kit.builders import (
    ADA,
    append_wires,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    user,
)

LONG_AGO = minute(-10_000)
ANSWER = KeptAnswer(
    status=201, body=b'{"a": "\xff\x00"}', content_type="application/json", location="/api/x/1", etag='"1"'
)


def key(digit: int, *, name: str = "", scope: Scope = ADMIN) -> ApiKey:
    """A key that was made so many minutes after the start."""
    return ApiKey(
        id=ApiKeyId(f"key_{digit}"),
        name=name or f"k{digit}",
        scope=scope,
        secret_hash=hash_secret(f"ef_{digit}"),
        created_at=minute(digit),
    )


def request(name: str = "r1", *, key_id: str = "key_1", request_hash: str = "h1", at: int = 0) -> KnownRequest:
    """A write whose place is taken so many minutes after the start."""
    return KnownRequest(key=IdempotencyKey(ApiKeyId(key_id), name), request_hash=request_hash, made_at=minute(at))


async def begin(store: Store, wanted: KnownRequest) -> KnownRequest | None:
    """Take the place of a write, where nothing is old."""
    return await store.begin_request(wanted, kept_since=LONG_AGO)


class AccessContract:
    """A key reads back equal and ends once; a write has one place and one answer."""

    @pytest.mark.parametrize(
        "scope",
        [ADMIN, Scope(kind="user", name=ADA), Scope(kind="agent", name="gu:ide \N{SNOWMAN}", is_read_only=True)],
        ids=str,
    )
    async def test_a_key_reads_back_equal(self, store: Store, scope: Scope) -> None:
        """Every field of a key is what it was, found by the hash of its secret."""
        wanted = replace(
            key(1, name="desk \N{OLD ITALIC LETTER A}", scope=scope),
            expires_at=minute(90) + timedelta(microseconds=1),
            last_used_at=minute(3),
        )
        await store.add_api_key(wanted)
        assert await store.find_api_key(wanted.secret_hash) == wanted
        assert await store.list_api_keys(after=None, limit_count=9) == [wanted]

    async def test_no_key_is_none(self, store: Store) -> None:
        """A hash that no key has finds nothing, an id that none has is refused, and a use of it changes nothing."""
        await store.add_api_key(key(1))
        assert await store.find_api_key(hash_secret("ef_2")) is None
        with pytest.raises(NotFoundError):
            await store.list_api_keys(after=ApiKeyId("key_2"), limit_count=9)
        with pytest.raises(NotFoundError):
            await store.revoke_api_key(ApiKeyId("key_2"), revoked_at=minute(1))
        await store.touch_api_key(ApiKeyId("key_2"), used_at=minute(1))
        assert await store.list_api_keys(after=None, limit_count=9) == [key(1)]

    @pytest.mark.parametrize(
        "second",
        [replace(key(2), id=key(1).id), replace(key(2), secret_hash=key(1).secret_hash), key(2, name="k1")],
        ids=["id", "hash", "name"],
    )
    async def test_what_a_key_has_is_its_own(self, store: Store, second: ApiKey) -> None:
        """An id, a hash and a name that a key has are refused for another one, and nothing of that is stored."""
        await store.add_api_key(key(1))
        with pytest.raises(ConflictError):
            await store.add_api_key(second)
        assert await store.list_api_keys(after=None, limit_count=9) == [key(1)]

    async def test_a_name_is_free_when_its_key_is_revoked(self, store: Store) -> None:
        """A revoked key stays to be seen, and its name is another one's; an expired one keeps its name."""
        await store.add_api_key(key(1, name="desk"))
        await store.revoke_api_key(key(1).id, revoked_at=minute(5))
        second = replace(key(2, name="desk"), expires_at=minute(6))
        await store.add_api_key(second)
        with pytest.raises(ConflictError):
            await store.add_api_key(key(3, name="desk"))
        first = replace(key(1, name="desk"), revoked_at=minute(5))
        assert await store.list_api_keys(after=None, limit_count=9) == [first, second]
        assert await store.find_api_key(first.secret_hash) == first

    async def test_a_key_is_revoked_once(self, store: Store) -> None:
        """The first time at which a key was revoked stays, and each call gives the key."""
        await store.add_api_key(key(1))
        revoked = replace(key(1), revoked_at=minute(5))
        assert await store.revoke_api_key(key(1).id, revoked_at=minute(5)) == revoked
        assert await store.revoke_api_key(key(1).id, revoked_at=minute(7)) == revoked
        assert await store.find_api_key(key(1).secret_hash) == revoked

    async def test_the_last_admin_is_kept_where_that_is_asked_for(self, store: Store) -> None:
        """Neither a key of less power, nor one that is over by then, stands in for the last that may do everything."""
        await store.add_api_key(key(1))
        await store.add_api_key(key(2, scope=Scope(kind="admin", is_read_only=True)))
        await store.add_api_key(key(3, scope=Scope(kind="agent", name="guide")))
        await store.add_api_key(replace(key(4), expires_at=minute(5)))
        with pytest.raises(ConflictError, match=key(1).name):
            await store.revoke_api_key(key(1).id, revoked_at=minute(5), keeps_admin=True)
        assert await store.find_api_key(key(1).secret_hash) == key(1)
        for digit in (2, 3, 4):
            await store.revoke_api_key(key(digit).id, revoked_at=minute(6), keeps_admin=True)
        await store.add_api_key(replace(key(5), expires_at=minute(99)))
        first = await store.revoke_api_key(key(1).id, revoked_at=minute(7), keeps_admin=True)
        assert await store.revoke_api_key(key(1).id, revoked_at=minute(8), keeps_admin=True) == first
        assert (await store.revoke_api_key(key(5).id, revoked_at=minute(8))).revoked_at == minute(8)

    async def test_the_last_use_only_grows(self, store: Store) -> None:
        """The latest use is kept, in whatever order uses are noted, and only of the key that was used."""
        for digit in (1, 2):
            await store.add_api_key(key(digit))
        for at in (4, 9, 6):
            await store.touch_api_key(key(1).id, used_at=minute(at))
        assert await store.list_api_keys(after=None, limit_count=9) == [replace(key(1), last_used_at=minute(9)), key(2)]

    async def test_keys_are_listed_in_order_and_page_by_page(self, store: Store) -> None:
        """Pages after a cursor give every key once, in the order in which they were stored."""
        keys = [key(digit) for digit in (3, 1, 5, 2, 4)]
        for one in keys:
            await store.add_api_key(one)
        listed: list[ApiKey] = []
        while page := await store.list_api_keys(after=listed[-1].id if listed else None, limit_count=2):
            assert len(page) <= 2
            listed += page
        assert listed == keys

    async def test_two_keys_of_one_name_at_once_are_one(self, store: Store) -> None:
        """Of several that store a key under one name at once, one does."""
        done = await asyncio.gather(
            *(store.add_api_key(key(digit, name="first")) for digit in range(4)), return_exceptions=True
        )
        assert sum(it is None for it in done) == 1
        assert all(it is None or isinstance(it, ConflictError) for it in done)
        assert len(await store.list_api_keys(after=None, limit_count=9)) == 1

    async def test_a_place_is_taken_once(self, store: Store) -> None:
        """The first takes the place of a write; a later caller is given the holder, with its answer when there is one."""
        first = request()
        assert await begin(store, first) is None
        assert await begin(store, request(request_hash="h2", at=1)) == first
        await store.finish_request(first, ANSWER)
        answered = replace(first, answer=ANSWER)
        assert await begin(store, request(at=2)) == answered
        assert await begin(store, request(request_hash="h2", at=3)) == answered

    async def test_places_are_apart(self, store: Store) -> None:
        """The same name by another access key, and another name, are other places."""
        assert [
            await begin(store, it) for it in (request(), request(key_id="key_2"), request("r2"), request("R1"))
        ] == [None] * 4
        await store.finish_request(request(), ANSWER)
        assert await begin(store, request("r2", at=1)) == request("r2")

    async def test_several_at_once_take_one_place(self, store: Store) -> None:
        """Of several that begin one write at once, one is to carry it out."""
        found = await asyncio.gather(*(begin(store, request(at=at)) for at in range(5)))
        assert sum(it is None for it in found) == 1
        assert len({it.made_at for it in found if it is not None}) == 1

    async def test_a_place_is_given_back(self, store: Store) -> None:
        """A write that was given up is begun anew; one that was answered cannot be given up or answered again."""
        await begin(store, request())
        await store.finish_request(request(), None)
        assert await begin(store, request(at=1)) is None
        await store.finish_request(request(at=1), ANSWER)
        await store.finish_request(request(at=1), None)
        await store.finish_request(request(at=1), replace(ANSWER, status=500))
        assert await begin(store, request(at=2)) == replace(request(at=1), answer=ANSWER)

    async def test_a_place_is_never_taken_over(self, store: Store) -> None:
        """A place without an answer stays who took it's, however old it is, and no one else fills it or gives it back."""
        await begin(store, request())
        late = request(at=20)
        assert await store.begin_request(late, kept_since=minute(0)) == request()
        await store.finish_request(late, ANSWER)
        await store.finish_request(late, None)
        assert await begin(store, request(at=21)) == request()
        await store.finish_request(request(), ANSWER)
        assert await begin(store, request(at=22)) == replace(request(), answer=ANSWER)

    async def test_commits_are_told(self, store: Store) -> None:
        """Where a store tells its writes, every commit is counted, and neither what is refused nor what is noted."""
        with watch_writes() as written:
            await begin(store, request())
            assert not written.commits_count
            await store.add_api_key(key(1, name="first"))
            assert bool(written.commits_count) == store.tells_writes
            with pytest.raises(ConflictError), watch_writes() as refused:
                await store.add_api_key(key(2, name="first"))
            assert not refused.commits_count

    async def test_old_places_are_forgotten(self, store: Store) -> None:
        """Beginning any write removes every place that was taken too long ago, answered or not."""
        for at, name in enumerate(("r1", "r2", "r3")):
            await begin(store, request(name, at=at))
            await store.finish_request(request(name, at=at), ANSWER)
        new = request("r4", key_id="key_2", at=9)
        await store.begin_request(new, kept_since=minute(2))
        assert await begin(store, request("r3", at=10)) == replace(request("r3", at=2), answer=ANSWER)
        assert [await begin(store, request(name, at=10)) for name in ("r1", "r2")] == [None, None]

    async def test_an_erase_takes_the_bodies_of_answers(self, store: Store) -> None:
        """After an erase no answer has a body, one whose write ran meanwhile included; what was begun since has one."""
        record = await open_session(store, session_record("ses_1"))
        await append_wires(store, record.id, user("The gate code is 4711."))
        for name in ("r1", "r2"):
            await begin(store, request(name))
        await store.finish_request(request("r1"), ANSWER)
        await store.erase_message(await plan_bare_erasure(store, record.id, 1), erased_at=minute(5))
        await begin(store, request("r3"))
        for name in ("r2", "r3"):
            await store.finish_request(request(name), ANSWER)
        found = [await begin(store, request(name, at=1)) for name in ("r1", "r2", "r3")]
        assert [it and it.answer for it in found] == [
            replace(ANSWER, body=None),
            replace(ANSWER, body=None),
            ANSWER,
        ]

    async def test_a_wipe_leaves_keys(self, store: Store) -> None:
        """A wipe of a user takes the bodies of answers, and no key: theirs opens what they say from then on."""
        await open_session(store, session_record("ses_1"))
        mine = key(1, scope=Scope(kind="user", name=ADA))
        await store.add_api_key(mine)
        await begin(store, request())
        await store.finish_request(request(), ANSWER)
        version = await store.read_memory_version(ADA)
        entry = AuditEntry(user_id=ADA, agent_id=None, actor="desk", action="wipe", at=minute(5))
        await store.wipe_user(ADA, expected=version, entry=entry)
        assert await store.list_api_keys(after=None, limit_count=9) == [mine]
        assert await begin(store, request(at=6)) == replace(request(), answer=replace(ANSWER, body=None))

    async def test_a_closed_store_knows_no_key(self, store: Store) -> None:
        """After closing, asking for a key is refused as unavailable."""
        await store.close()
        with pytest.raises(StoreUnavailableError):
            await store.find_api_key(key(1).secret_hash)
