"""Whom a key speaks for, and what they may see and write."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.access.api_keys import (
    ADMIN,
    MOST_NAME_CHARS,
    ApiKey,
    ApiKeyId,
    Scope,
    hash_secret,
    judge,
    may_see_agent,
    may_see_session,
    may_see_user,
    may_write,
    parse_scope,
    require_name,
)
from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import InvalidInputError
from everfold.testing.kit.fakes import STARTED_AT

ADA, BEN = UserId("ada"), UserId("ben")
GUIDE, CLERK = AgentId("guide"), AgentId("clerk")
SCOPES = [ADMIN, Scope(kind="user", name=ADA), Scope(kind="agent", name=GUIDE)]
KEY = ApiKey(id=ApiKeyId("key_1"), name="desk", scope=ADMIN, secret_hash=hash_secret("ef_1"), created_at=STARTED_AT)


@given(st.sampled_from(["user", "agent"]), st.text(min_size=1), st.booleans())
def test_a_scope_reads_back_equal(kind: str, name: str, is_read_only: bool) -> None:  # noqa: FBT001 - drawn
    """The text of a scope is read as that scope, whatever its name holds; a name of blanks makes none."""
    text = f"{kind}:{name}"
    if name.strip():
        scope = parse_scope(text, is_read_only=is_read_only)
        assert (scope.kind, scope.name, scope.is_read_only, str(scope)) == (kind, name, is_read_only, text)
        assert parse_scope(str(scope), is_read_only=is_read_only) == scope
    else:
        with pytest.raises(InvalidInputError):
            parse_scope(text)


def test_an_admin_scope_reads_back_equal() -> None:
    """The text of an admin is `admin`, with or without the right to write, which a person is told."""
    assert parse_scope("admin") == ADMIN
    assert parse_scope("admin", is_read_only=True) == replace(ADMIN, is_read_only=True)
    assert [it.describe() for it in (ADMIN, replace(ADMIN, is_read_only=True))] == ["admin", "admin, read only"]


@pytest.mark.parametrize(
    "text", ["", "Admin", "admin:", "admin:x", "user", "user:", "agent: ", "root:x", ":x", "users:x"]
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    """A text of another form is refused with the forms that there are."""
    with pytest.raises(InvalidInputError, match="`admin`, `user:ID` or `agent:NAME`"):
        parse_scope(text)


@pytest.mark.parametrize("fields", [{"kind": "admin", "name": "x"}, {"kind": "user"}, {"kind": "root", "name": "x"}])
def test_no_wrong_scope_can_be_built(fields: dict[str, str]) -> None:
    """A scope of no kind, an admin with a name, and a user without one cannot be."""
    with pytest.raises(InvalidInputError):
        Scope(**fields)  # type: ignore[arg-type]  # what cannot be is the point


@pytest.mark.parametrize("is_read_only", [False, True])
def test_who_sees_what(is_read_only: bool) -> None:  # noqa: FBT001 - a parameter
    """An admin sees all; a user's key that user alone, with any agent; an agent's key that agent alone, with anybody."""
    admin, user, agent = (replace(scope, is_read_only=is_read_only) for scope in SCOPES)
    assert [may_see_user(it, who) for it in (admin, user, agent) for who in (ADA, BEN)] == [
        *(True, True),
        *(True, False),
        *(False, False),
    ]
    assert [may_see_agent(it, who) for it in (admin, user, agent) for who in (GUIDE, CLERK)] == [
        *(True, True),
        *(False, False),
        *(True, False),
    ]
    pairs = [(ADA, GUIDE), (ADA, CLERK), (BEN, GUIDE), (BEN, CLERK)]
    assert [may_see_session(it, *pair) for it in (admin, user, agent) for pair in pairs] == [
        *(True, True, True, True),
        *(True, True, False, False),
        *(True, False, True, False),
    ]


def test_a_user_is_no_agent_of_that_name() -> None:
    """A key of a user who is called as an agent is sees nothing of the agent, and the other way round."""
    assert not may_see_agent(Scope(kind="user", name="guide"), GUIDE)
    assert not may_see_user(Scope(kind="agent", name="ada"), ADA)


def test_who_reads_only_writes_nothing() -> None:
    """Every scope may write what it sees, unless it is read only."""
    assert [may_write(it) for it in SCOPES] == [True] * 3
    assert [may_write(replace(it, is_read_only=True)) for it in SCOPES] == [False] * 3


def test_a_key_works_until_its_end() -> None:
    """A key is refused from its expiry on, and from its revocation whatever the time; else never."""
    tick = timedelta(microseconds=1)
    expiring = replace(KEY, expires_at=STARTED_AT)
    assert [judge(expiring, STARTED_AT + it) for it in (-tick, 0 * tick, tick)] == [None, "expired", "expired"]
    assert judge(KEY, STARTED_AT + timedelta(days=100_000)) is None
    revoked = replace(KEY, revoked_at=STARTED_AT)
    assert [judge(revoked, STARTED_AT + it) for it in (-tick, tick)] == ["revoked"] * 2
    assert judge(replace(expiring, revoked_at=STARTED_AT), STARTED_AT + tick) == "revoked"


def test_a_hash_is_the_known_one() -> None:
    """The hash of a secret is its SHA-256, so that keys outlive a release; half a character has one too."""
    assert hash_secret("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hash_secret("\ud800") != hash_secret("?")


@pytest.mark.parametrize("name", ["desk", "Ilse's phone \N{SNOWMAN}", "x" * MOST_NAME_CHARS, "admin:x"])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    """What people may call a key is kept as they wrote it."""
    assert require_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "  ", "key_1", "a\tb", "a\x1b[0m", "\u202egnol", "x" * (MOST_NAME_CHARS + 1), "\ud800"]
)
def test_what_cannot_be_read_is_no_name(name: str) -> None:
    """A name that is empty, too long, an id, or changes what a terminal shows is refused, and not repeated at length."""
    with pytest.raises(InvalidInputError, match="name of an API key") as caught:
        require_name(name * 100 if len(name) > MOST_NAME_CHARS else name)
    assert len(str(caught.value)) < 5 * MOST_NAME_CHARS


def test_a_key_does_not_print_its_hash() -> None:
    """What is printed of a key, in a log for example, holds no hash."""
    assert KEY.secret_hash not in repr(KEY)
