"""Users: what a text names, which texts are refused, and what settings may say of them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.access.users import (
    Binding,
    User,
    UserEntry,
    UserReference,
    bind_name,
    fold_name,
    join_bindings,
    parse_binding,
    parse_user_reference,
    plan_users,
    require_strict,
)
from everfold.core.primitives.ids import UserId
from everfold.errors import InvalidInputError

OWN = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"
NIL = "00000000-0000-0000-0000-000000000000"
ILSE = Binding(channel="name", own_id="Ilse")
CHAT = Binding(channel="telegram", own_id="12:45")


@pytest.mark.parametrize(
    ("text", "kind", "named"),
    [
        ("default", "default", "default"),
        (OWN, "id", OWN),
        (OWN.upper(), "id", OWN),
        ("Default", "name", "Default"),
        ("test", "name", "test"),
        ("ada", "name", "ada"),
        (" ada ", "name", " ada "),
        (OWN[:-1], "name", OWN[:-1]),
        (f"{{{OWN}}}", "name", f"{{{OWN}}}"),
        (f"{OWN}\n", "name", f"{OWN}\n"),
        ("Ås 𐌀 7", "name", "Ås 𐌀 7"),
    ],
)
def test_a_text_names_a_user(text: str, kind: str, named: str) -> None:
    """`default` and a UUID in either case mean themselves, and any other text is a name, exactly as it is."""
    reference = parse_user_reference(text)
    assert (reference.kind, reference.text) == (kind, named)


@pytest.mark.parametrize("text", ["", "  ", "\n", None, 7, b"ada", NIL, "half \ud83d"], ids=repr)
def test_what_names_nobody_is_refused(text: object) -> None:
    """Nothing, what is no text, the nil UUID and half a character name no user, wherever they come from."""
    with pytest.raises(InvalidInputError):
        parse_user_reference(text)
    with pytest.raises(InvalidInputError):
        require_strict(text)


@pytest.mark.parametrize("text", ["", " ", NIL, "test", "ada", OWN[:-1], "default ", "Default", None, 7], ids=repr)
def test_strict_takes_ids_only(text: object) -> None:
    """From a stranger only `default` and a UUID that is not nil are taken, and the error says so."""
    with pytest.raises(InvalidInputError, match=r"expected|must be"):
        require_strict(text)
    assert require_strict("default").kind == "default"
    assert require_strict(OWN.upper()) == UserReference(kind="id", text=OWN)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=400).filter(str.strip),
    st.from_regex(r"[a-z][a-z0-9_-]{0,60}", fullmatch=True),
)
def test_a_binding_reads_back_equal(own_id: str, channel: str) -> None:
    """What a binding is written as is read as the same binding, colons and all."""
    binding = Binding(channel=f"x{channel}", own_id=own_id)
    assert parse_binding(str(binding)) == binding


@pytest.mark.parametrize(
    "text",
    [
        "",
        "telegram",
        "telegram:",
        "telegram: ",
        ":12",
        "Telegram:12",
        "tele gram:12",
        "name:",
        "name:default",
        f"name:{OWN}",
    ],
)
def test_what_is_no_binding_is_refused(text: str) -> None:
    """A missing part, a channel that is no word in lower case, and a name that means another user are refused."""
    with pytest.raises(InvalidInputError):
        parse_binding(text)


def test_bindings_are_joined_once_and_in_order() -> None:
    """Bindings together stand each once, whatever order they came in."""
    assert join_bindings([CHAT, ILSE], [ILSE]) == join_bindings([ILSE, CHAT]) == (ILSE, CHAT)
    assert join_bindings() == ()


def test_one_entry_is_the_default_user() -> None:
    """The marked entry is the default user, or else the first one; each is reached by name too; none stay none."""
    ilse, ben = UserEntry(name="Ilse", bindings=(CHAT,)), UserEntry(name="ben")
    assert plan_users([]) == ()
    assert [it.is_default for it in plan_users([ilse, ben])] == [True, False]
    assert [it.is_default for it in plan_users([ilse, UserEntry(name="ben", is_default=True)])] == [False, True]
    assert plan_users([ilse])[0].bindings == (ILSE, CHAT)
    assert plan_users([UserEntry(name="default", bindings=(CHAT,))])[0].bindings == (CHAT,)
    assert plan_users([UserEntry(name="Ilse", bindings=(ILSE,))])[0].bindings == (ILSE,)


@pytest.mark.parametrize(
    "entries",
    [
        [UserEntry(name="Ilse", is_default=True), UserEntry(name="ben", is_default=True)],
        [UserEntry(name="Ilse"), UserEntry(name="Ilse")],
        [UserEntry(name="Ilse", bindings=(CHAT,)), UserEntry(name="ben", bindings=(CHAT,))],
        [UserEntry(name="Ilse"), UserEntry(name="ben", bindings=(ILSE,))],
        [UserEntry(name="Ilse"), UserEntry(name="default")],
        [UserEntry(name=OWN)],
        [UserEntry(name=" ")],
    ],
    ids=["two defaults", "one name", "one binding", "a name of another", "default", "a UUID", "empty"],
)
def test_entries_that_contradict_each_other_are_refused(entries: list[UserEntry]) -> None:
    """Two default users, two owners of one name or binding, and names that mean another user are refused."""
    with pytest.raises(InvalidInputError):
        plan_users(entries)


@pytest.mark.parametrize("name", ["default", OWN, NIL, ""])
def test_a_name_that_means_somebody_is_none(name: str) -> None:
    """What names a user by itself cannot be bound to another one."""
    with pytest.raises(InvalidInputError):
        bind_name(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [("ILSE", "ilse"), ("\u00c5nn", "a\u030aNN"), ("\uff21da", "Ada"), ("Stra\u00dfe", "STRASSE")],
)
def test_names_that_read_alike_are_searched_alike(one: str, other: str) -> None:
    """Case, composed letters, wide forms and the sharp s make no difference to a search."""
    assert fold_name(one) == fold_name(other)


def test_a_change_of_a_user_is_another_version() -> None:
    """Name and bindings make the version; who is the default and when they became known do not."""
    user = User(id=UserId(OWN), name="Ilse", bindings=(CHAT,), created_at=datetime(2031, 5, 1, tzinfo=UTC))
    assert user.version == replace(user, is_default=True, created_at=datetime(2032, 5, 1, tzinfo=UTC)).version
    others = {replace(user, name="Ben").version, replace(user, bindings=()).version, replace(user, name="").version}
    assert len(others | {user.version}) == 4
