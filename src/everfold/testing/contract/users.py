"""What every store holds to about users. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.access.users import Binding, User
from everfold.core.primitives.ids import UserId
from everfold.errors import ConflictError, NotFoundError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, minute, open_session, session_record

HERE = Binding(channel="name", own_id="ilse")
CHAT = Binding(channel="telegram", own_id="12:45")
MAIL = Binding(channel="mail", own_id="ilse@fennel.example \N{OLD ITALIC LETTER A}")
NOBODY = UserId("00000000-0000-4000-8000-000000000000")


def person(digit: int, *bindings: Binding, name: str = "Ilse", at: int = 0, is_default: bool = False) -> User:
    """A user who became known so many minutes after the start."""
    id_ = UserId(f"{digit:08x}-0000-4000-8000-000000000000")
    return User(id=id_, name=name, bindings=tuple(sorted(bindings)), is_default=is_default, created_at=minute(at))


class UserContract:
    """A user is stored once and reads back equal; a binding and the default are of one user each."""

    async def test_a_user_reads_back_equal(self, store: Store) -> None:
        """Every field of a user is what it was, found by id, by each binding, and as the default one."""
        one, two = person(9, CHAT, HERE, MAIL), person(2, name="", is_default=True)
        for user in (one, two):
            await store.add_user(user)
        assert await store.find_user(one.id) == one
        assert [await store.find_bound(binding) for binding in (HERE, CHAT, MAIL)] == [one, one, one]
        assert await store.find_user(two.id) == await store.find_default() == two

    async def test_nobody_is_none(self, store: Store) -> None:
        """Who was never stored is None, by id, by binding and as the default user, and not changed."""
        await store.add_user(person(1, HERE))
        assert await store.find_user(NOBODY) is None
        assert await store.find_bound(CHAT) is None
        assert await store.find_bound(replace(HERE, channel="mail")) is None
        assert await store.find_default() is None
        with pytest.raises(NotFoundError):
            await store.change_user(person(2), expected=person(2))
        with pytest.raises(NotFoundError):
            await store.list_users(after=NOBODY, limit_count=9)

    @pytest.mark.parametrize(
        "second",
        [person(1, name="Ben"), person(2, HERE, CHAT), person(2, MAIL, CHAT), person(2, MAIL, is_default=True)],
        ids=["id", "binding", "one of two bindings", "default"],
    )
    async def test_what_is_taken_stays(self, store: Store, second: User) -> None:
        """A second user with the id, a binding or the place of the first is refused, and nothing of them is stored."""
        first = person(1, HERE, CHAT, is_default=True)
        await store.add_user(first)
        with pytest.raises(ConflictError):
            await store.add_user(second)
        assert await store.list_users(after=None, limit_count=9) == [first]
        assert await store.find_bound(MAIL) is None
        assert await store.find_bound(CHAT) == first

    async def test_a_change_replaces_name_and_bindings(self, store: Store) -> None:
        """Name and bindings are what the change says, a binding that was given up is free; the rest stays."""
        first = person(1, HERE, CHAT, is_default=True)
        await store.add_user(first)
        wanted = replace(first, name="Ilse B.", bindings=(MAIL, HERE))
        await store.change_user(replace(wanted, is_default=False, created_at=minute(9)), expected=first)
        assert await store.find_default() == await store.find_bound(MAIL) == wanted
        await store.add_user(person(2, CHAT))

    async def test_a_stale_change_is_a_conflict(self, store: Store) -> None:
        """Of two changes of one user the second is refused and changes nothing."""
        first = person(1, HERE)
        await store.add_user(first)
        changed = replace(first, name="Ilse B.")
        await store.change_user(changed, expected=first)
        with pytest.raises(ConflictError):
            await store.change_user(replace(first, bindings=(CHAT,)), expected=first)
        assert await store.list_users(after=None, limit_count=9) == [changed]

    async def test_a_change_takes_no_binding_away(self, store: Store) -> None:
        """A binding of another user is refused, and name and bindings of both stay."""
        users = [person(1, HERE, CHAT), person(2, MAIL)]
        for user in users:
            await store.add_user(user)
        with pytest.raises(ConflictError):
            await store.change_user(replace(users[1], name="Ben", bindings=(CHAT,)), expected=users[1])
        assert await store.list_users(after=None, limit_count=9) == users

    async def test_users_are_listed_in_order_and_page_by_page(self, store: Store) -> None:
        """Pages after a cursor give every user once, in the order in which they became known, with their bindings."""
        users = [person(digit, Binding(channel="name", own_id=f"u{digit}")) for digit in (3, 1, 5, 2, 4)]
        for user in users:
            await store.add_user(user)
        listed: list[User] = []
        while page := await store.list_users(after=listed[-1].id if listed else None, limit_count=2):
            assert len(page) <= 2
            listed += page
        assert listed == users

    async def test_users_are_found_by_their_names(self, store: Store) -> None:
        """Whose name begins with a text comes before whose name has it inside, whatever the case; pages give each once."""
        names = ("Bella ANNA", "anna", "Joanna", "Ben", "", "\u00c5NN", "A%N_", "Annalise")
        users = [person(digit, name=name) for digit, name in enumerate(names, 1)]
        for user in users:
            await store.add_user(user)
        listed: list[User] = []
        while page := await store.list_users_named("ANN", after=listed[-1].id if listed else None, limit_count=2):
            assert len(page) <= 2
            listed += page
        assert [user.name for user in listed] == ["anna", "Annalise", "Bella ANNA", "Joanna"]
        assert await store.list_users_named("a\u030ann", after=None, limit_count=9) == [users[5]]
        assert await store.list_users_named("%n_", after=None, limit_count=9) == [users[6]]
        assert await store.list_users_named("", after=None, limit_count=9) == users
        assert await store.list_users_named("nobody", after=None, limit_count=9) == []
        with pytest.raises(NotFoundError):
            await store.list_users_named("ANN", after=NOBODY, limit_count=9)

    async def test_a_session_makes_its_user_known(self, store: Store) -> None:
        """A session of a person whom the store does not know stores them without a name; who is known stays as they are."""
        known = person(1, HERE)
        await store.add_user(known)
        await open_session(store, session_record("ses_1", user_id=known.id, created_at=minute(5)))
        await open_session(store, session_record("ses_2", created_at=minute(7)))
        await open_session(store, session_record("ses_3", created_at=minute(8), is_current=False))
        assert await store.list_users(after=None, limit_count=9) == [
            known,
            User(id=ADA, name="", created_at=minute(7)),
        ]

    async def test_a_closed_store_knows_nobody(self, store: Store) -> None:
        """After closing, asking for a user is refused as unavailable."""
        await store.close()
        with pytest.raises(StoreUnavailableError):
            await store.find_default()
