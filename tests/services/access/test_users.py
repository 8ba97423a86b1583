"""Users: one default user for ever, a user for each name, and those of the settings."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack

import pytest

import everfold
from everfold import Everfold
from everfold.adapters.transcripts.reading import parse_transcript
from everfold.core.access.users import UserEntry, parse_binding, plan_users
from everfold.core.primitives.ids import UserId
from everfold.errors import BudgetUnsatisfiableError, ConflictError, InvalidInputError, NotFoundError
from everfold.services.access import users as users_module
from everfold.services.access.users import Users
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

OWN = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"
NIL = "00000000-0000-0000-0000-000000000000"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


async def names(engine: Everfold) -> list[str]:
    """What a person reads for each user."""
    return [it.shown_name for it in await engine.list_users()]


async def test_a_name_is_one_user(engine: Everfold) -> None:
    """A name is one user with a UUID, whichever session asks first and however often, and each name is another one."""
    ids = [(await engine.session(user=name, agent=agent)).record.user_id for name in ("ada", "ben") for agent in "xyx"]
    assert len(set(ids)) == 2
    assert all(UUID.fullmatch(it) for it in ids)
    assert (await engine.get_user("ada")).id == ids[0]
    assert await engine.get_user(ids[0].upper()) == await engine.get_user("ada")
    assert [record.user_id for record in await engine.list_sessions(user="ada")] == ids[:2]
    assert await engine.list_sessions(user=ids[0]) == await engine.list_sessions(user="ada")
    assert await names(engine) == ["ada", "ben"]


async def test_the_default_user_is_one(engine: Everfold) -> None:
    """The default user is there when asked for, is the same under `default` and under the id, and is no "test"."""
    default = await engine.get_user()
    session = await engine.session()
    assert session.record.user_id == default.id
    assert (await engine.session(user=default.id)).id == session.id
    assert (default.name, default.is_default, default.bindings) == ("default", True, ())
    assert (await engine.session(user="test")).record.user_id != default.id
    assert sum(it.is_default for it in await engine.list_users()) == 1


async def test_ids_persist(file_url: str) -> None:
    """The default user and a named one have the same ids after a restart."""
    seen = []
    for _ in range(3):
        async with everfold.open(file_url) as engine:
            seen.append([(await engine.session(user=name)).record.user_id for name in ("default", "ada")])
    assert seen[0] == seen[1] == seen[2]


async def test_two_engines_at_once_make_one_user_each(file_url: str) -> None:
    """Engines on one file that ask for the same new users at once all get the same ones, whichever was first."""
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(everfold.open(file_url)) for _ in range(4)]
        texts = ["default", "ada", "ben", "default"]
        found = await asyncio.gather(
            *(engine.session(user=text, agent=f"a{at}") for at, engine in enumerate(engines) for text in texts)
        )
        ids = [session.record.user_id for session in found]
        assert len(set(ids)) == 3
        assert ids == ids[:4] * 4
        assert len(await engines[0].list_users()) == 3


async def test_an_application_brings_its_own_ids(engine: Everfold) -> None:
    """A UUID is the user's id as it is, in lower case, stored with the first session and unknown before."""
    with pytest.raises(NotFoundError, match=OWN):
        await engine.get_user(OWN)
    assert await engine.list_sessions(user=OWN) == []
    session = await engine.session(user=OWN.upper())
    assert session.record.user_id == OWN
    found = await engine.get_user(OWN)
    assert (found.name, found.shown_name, found.bindings) == ("", OWN, ())


async def test_asking_stores_nobody(engine: Everfold) -> None:
    """Searching and listing for a name that no user has gives nothing and makes no user known."""
    for text in ("nobody", "default", OWN):
        assert await engine.search("boats", user=text) == []
        assert await engine.list_sessions(user=text) == []
    with pytest.raises(NotFoundError, match="nobody"):
        await engine.get_user("nobody")
    assert await engine.find_bound_user("telegram:12") is None
    assert await engine.list_users() == []
    session = await engine.session(user="nobody")
    await session.append([user("The boats are in."), assistant("Good.")])
    assert await engine.search("boats", user="nobody")


@pytest.mark.parametrize("text", ["", " ", NIL], ids=repr)
async def test_what_names_nobody_is_refused(engine: Everfold, text: str) -> None:
    """An empty name and the nil UUID are invalid wherever a user is named, and nothing is stored."""
    transcript = parse_transcript(b'[{"role": "user", "content": "hi"}]', name="talk")
    for call in (
        lambda: engine.session(user=text),
        lambda: engine.session(beside=True, user=text),
        lambda: engine.search("boats", user=text),
        lambda: engine.list_sessions(user=text),
        lambda: engine.get_user(text),
        lambda: engine.add_user(text),
        lambda: engine.change_user(text, name="x"),
    ):
        with pytest.raises(InvalidInputError):
            await call()
    with pytest.raises(InvalidInputError):
        engine.import_transcript(transcript, user=text)
    assert await engine.list_users() == []


async def test_what_cannot_be_opened_makes_nobody(engine: Everfold) -> None:
    """A session that is refused leaves no user behind."""
    for opening in (engine.session(user="ada", limit=10), engine.session(beside=True, user="ada", limit=10)):
        with pytest.raises(BudgetUnsatisfiableError):
            await opening
    assert await engine.list_users() == []


async def test_an_import_makes_its_user(engine: Everfold) -> None:
    """A transcript is stored for the user with that name, who is made where there was none."""
    transcript = parse_transcript(b'[{"role": "user", "content": "The boats are in."}]', name="talk")
    async for _ in engine.import_transcript(transcript, user="ada"):
        pass
    assert [it.user_id for it in await engine.list_sessions()] == [(await engine.get_user("ada")).id]


async def test_a_user_is_reached_wherever_they_are_bound(engine: Everfold) -> None:
    """A user who was added is found by name, by id and at each binding, and a second claim on any is a conflict."""
    ilse = await engine.add_user("Ilse", bindings=["telegram:12:45", "mail:ilse@example.org", "name:il"])
    assert [str(it) for it in ilse.bindings] == ["mail:ilse@example.org", "name:Ilse", "name:il", "telegram:12:45"]
    for found in (
        await engine.get_user("Ilse"),
        await engine.get_user("il"),
        await engine.find_bound_user("telegram:12:45"),
    ):
        assert found == ilse
    assert (await engine.session(user="il")).record.user_id == ilse.id
    for name, bindings in (("Ilse", []), ("ben", ["telegram:12:45"]), ("il", ["mail:b@example.org"])):
        with pytest.raises(ConflictError, match="Ilse"):
            await engine.add_user(name, bindings=bindings)
    assert await engine.list_users() == [ilse]


async def test_a_change_keeps_every_name(engine: Everfold) -> None:
    """A new name and new bindings take the place of the old ones, but the old names still reach the user."""
    ilse = await engine.add_user("Ilse", bindings=["telegram:12"])
    await engine.session(user="Ilse")
    changed = await engine.change_user("Ilse", name="Ilse B.", bindings=["mail:i@example.org"])
    assert (changed.id, changed.name) == (ilse.id, "Ilse B.")
    assert [str(it) for it in changed.bindings] == ["mail:i@example.org", "name:Ilse", "name:Ilse B."]
    assert await engine.get_user("Ilse") == await engine.get_user("Ilse B.") == changed
    assert await engine.find_bound_user("telegram:12") is None
    assert await engine.change_user("Ilse") == changed
    assert await engine.change_user("Ilse", bindings=[]) != changed


async def test_a_change_that_cannot_be_changes_nothing(engine: Everfold) -> None:
    """Another user's name or binding, and a name that means a user already, are refused and leave all as it was."""
    await engine.add_user("Ilse", bindings=["telegram:12"])
    await engine.add_user("ben")
    before = await engine.list_users()
    for name, bindings in (("Ilse", None), (None, ["telegram:12"]), ("x", ["name:Ilse"])):
        with pytest.raises(ConflictError, match="Ilse"):
            await engine.change_user("ben", name=name, bindings=bindings)
    for name in ("default", OWN, ""):
        with pytest.raises(InvalidInputError):
            await engine.change_user("ben", name=name)
    with pytest.raises(InvalidInputError, match="list"):
        await engine.change_user("ben", bindings="telegram:13")
    with pytest.raises(NotFoundError):
        await engine.change_user("eve", name="Eve")
    assert await engine.list_users() == before


async def test_changes_at_once_are_all_kept(file_url: str) -> None:
    """Of changes that two engines make to one user at once none is lost: names pile up, and one display name stands."""
    async with everfold.open(file_url) as one, everfold.open(file_url) as two:
        await one.add_user("Ilse")
        wanted = [f"Ilse {number}" for number in range(8)]
        await asyncio.gather(
            *((one if at % 2 else two).change_user("Ilse", name=name) for at, name in enumerate(wanted))
        )
        found = await one.get_user("Ilse")
        assert {it.own_id for it in found.bindings} == {"Ilse", *wanted}
        assert found.name in wanted


async def test_users_are_paged(engine: Everfold) -> None:
    """Pages after a cursor join to the whole list."""
    for name in "edcba":
        await engine.add_user(name)
    pages: list[str] = []
    last = None
    while page := await engine.list_users(after=last, limit=2):
        pages += [it.name for it in page]
        last = page[-1].id
    assert pages == list("edcba")


async def test_the_default_user_has_the_name_of_the_settings(file_url: str) -> None:
    """The marked user of the settings, or the first, is the default user, who keeps their id, sessions and names."""
    async with everfold.open(file_url) as engine:
        session = await engine.session()
    entries: list[Mapping[str, object]] = [
        {"name": "ben"},
        {"name": "Ilse", "bindings": ["telegram:12"], "is_default": True},
    ]
    for _ in range(2):
        async with everfold.open(file_url, settings={"users": entries}) as engine:
            default, ben = await engine.list_users()
            assert (default.id, default.name, default.is_default) == (session.record.user_id, "Ilse", True)
            assert (ben.name, ben.is_default) == ("ben", False)
            assert (await engine.session(user="Ilse")).id == session.id
            assert await engine.find_bound_user("telegram:12") == default
    async with everfold.open(file_url, settings={"users": [{"name": "Ilse B."}]}) as engine:
        assert await names(engine) == ["Ilse B.", "ben"]
        assert (await engine.get_user("Ilse")).id == session.record.user_id


async def test_no_users_in_the_settings_change_nothing(file_url: str) -> None:
    """Without users in the settings an opening stores no user, and leaves those that are there."""
    async with everfold.open(file_url) as engine:
        assert await engine.list_users() == []
        await engine.add_user("ada")
        before = await engine.list_users()
    async with everfold.open(file_url, settings={"users": []}) as engine:
        assert await engine.list_users() == before


async def test_openings_at_once_agree(file_url: str) -> None:
    """Engines that open with the same users at once store each once."""
    entries: list[Mapping[str, object]] = [
        {"name": "Ilse", "bindings": ["telegram:12"]},
        {"name": "ben", "bindings": ["mail:b@example.org"]},
    ]

    async def look() -> list[str]:
        async with everfold.open(file_url, settings={"users": entries}) as engine:
            return [it.id for it in await engine.list_users()]

    async with everfold.open(file_url):
        seen = await asyncio.gather(*(look() for _ in range(4)))
    assert len(seen[0]) == 2
    assert seen == seen[:1] * 4


async def test_settings_that_contradict_the_store_are_refused(file_url: str) -> None:
    """A name or a binding of another user in the store ends the opening with words; the file can be opened again."""
    async with everfold.open(file_url) as engine:
        await engine.add_user("Ilse", bindings=["telegram:12"])
        before = await engine.list_users()
    claims: list[list[Mapping[str, object]]] = [
        [{"name": "ben"}, {"name": "eve", "bindings": ["telegram:12"]}],
        [{"name": "Ilse"}],
    ]
    for entries in claims:
        with pytest.raises(ConflictError, match="Ilse"):
            async with everfold.open(file_url, settings={"users": entries}):
                pass
    async with everfold.open(file_url) as engine:
        assert before[0] in await engine.list_users()


@pytest.fixture
def few_known(monkeypatch: pytest.MonkeyPatch) -> int:
    """An engine remembers so many names."""
    monkeypatch.setattr(users_module, "MOST_KNOWN", 3)
    return 3


async def test_memory_of_names_is_bounded(engine: Everfold, few_known: int) -> None:
    """However many names are asked for, an engine remembers few, and gives each its own user all the same.

    How many it remembers no caller can see: that is read from its own table.
    """
    ids = {name: (await engine.session(user=name)).record.user_id for name in "abcdefgh"}
    assert len(engine._users._known) <= few_known
    assert {name: (await engine.session(user=name)).record.user_id for name in "abcdefgh"} == ids
    assert len(set(ids.values())) == 8


async def test_an_id_that_is_taken_is_made_again(file_url: str) -> None:
    """A maker of ids that repeats itself after a restart gives no user the id of another."""
    for name in ("ada", "ben", "eve"):
        async with everfold.open(file_url, clock=FakeClock(), ids=CountingIds()) as engine:
            await engine.session(user=name)
            await engine.add_user(f"{name} again")
    async with everfold.open(file_url) as engine:
        assert len({it.id for it in await engine.list_users()}) == 6


async def test_applying_twice_writes_nothing(engine: Everfold, clock: FakeClock) -> None:
    """Users of the settings that are in the store already are left as they are, to the last field."""
    entries = plan_users([UserEntry(name="Ilse", bindings=(parse_binding("telegram:12"),)), UserEntry(name="ben")])
    users = Users(store=engine._store, clock=clock, ids=CountingIds())
    await users.apply(entries)
    before = await engine.list_users()
    await users.apply(entries)
    assert await engine.list_users() == before
    assert await users.find_id("Ilse") == UserId(before[0].id)


async def test_looking_into_memory_makes_nobody(engine: Everfold) -> None:
    """The memory of a name that no user has is refused, and no user has it afterwards; a UUID is taken as it is."""
    with pytest.raises(NotFoundError, match="eve"):
        await engine.memory(user="eve")
    await engine.memory(user="6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b")
    assert await engine.list_users() == []
