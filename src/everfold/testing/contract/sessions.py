"""What every store holds to about sessions. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.log.appending import plan_append
from everfold.core.log.budget import Policy
from everfold.core.log.prompts import Prompt
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import WHOLE_WINDOW, SessionState
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.errors import ConflictError, NotFoundError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    budget_of,
    incoming,
    minute,
    open_session,
    session_record,
    talk,
    user,
)

NOBODY = SessionId("ses_nobody")


class SessionContract:
    """Sessions are created once, one of them is current for each user and agent, and they are listed in order."""

    async def test_a_session_reads_back_equal(self, store: Store) -> None:
        """A record is given back as it was stored: settings, prompt, tool schemas and lineage too."""
        schema: JsonObject = {"type": "object", "z": 1, "a": [1.0, None, "\ud83d"]}
        tool: JsonObject = {"name": "look_up", "input_schema": schema}
        settings = SessionSettings(
            limit_tokens=9000,
            prompt=Prompt(system="Answer briefly. \udc00", tools=(tool,)),
            policy=Policy(trigger_ratio=0.85, answer_tokens=500, keep_recent=3),
        )
        record = session_record(settings=settings)
        await store.create_session(record, SessionState())
        stored = await store.get_session(record.id)
        assert stored == record
        assert [encode_json(kept) for kept in stored.settings.prompt.tools] == [encode_json(tool)]

    async def test_the_first_state_reads_back_equal(self, store: Store) -> None:
        """The state that a session is created with is its state, its revision included."""
        state = SessionState(revision=3, turns_count=2, said_before=("said",), closed_calls=("call_1",))
        await store.create_session(session_record(), state)
        assert await store.read_state(session_record().id) == state

    async def test_a_session_is_created_with_its_first_messages(self, store: Store) -> None:
        """Session, state and messages are stored together, or none of them where one is refused."""
        other = await open_session(store, session_record("ses_0"), *talk(2))
        before = await store.read_state(other.id)
        first = plan_append(
            SessionState(), [incoming(user("one"))], budget_of(other.settings, before), step={}, session=""
        )
        record = session_record("ses_1", user_id=BEN)
        await store.create_session(record, SessionState(), first=first)
        assert await store.read_state(record.id) == first.state
        assert [one.view.text for one in await store.read_messages(record.id, [1])] == ["one"]
        assert await store.find_current_session(BEN, GUIDE) == record
        twice = [incoming(user(text), client_id="a") for text in ("one", "two")]
        refused = plan_append(SessionState(), twice, budget_of(other.settings, before), step={}, session="")
        with pytest.raises(ConflictError):
            await store.create_session(session_record("ses_2", agent_id=CLERK), SessionState(), first=refused)
        assert await store.find_current_session(ADA, CLERK) is None
        assert await store.list_used([SessionId("ses_2")]) == {}

    async def test_an_id_is_used_once(self, store: Store) -> None:
        """A second session of the same id is refused, and the first one stays as it was."""
        record = await open_session(store, None, *talk(1))
        state = await store.read_state(record.id)
        again = session_record(user_id=BEN)
        with pytest.raises(ConflictError):
            await store.create_session(again, SessionState())
        assert await store.get_session(record.id) == record
        assert await store.read_state(record.id) == state
        assert await store.find_current_session(BEN, GUIDE) is None

    async def test_a_new_current_session_takes_the_place_of_its_parent(self, store: Store) -> None:
        """When a session becomes current, the one before is so no longer, at once."""
        first = await open_session(store)
        second = session_record("ses_2", parent=first)
        await store.create_session(second, SessionState())
        assert await store.find_current_session(ADA, GUIDE) == second
        assert await store.get_session(first.id) == replace(first, is_current=False)

    async def test_a_lost_current_session_is_a_conflict(self, store: Store) -> None:
        """Of two sessions that want to follow the same one, the second is refused and nothing of it is stored."""
        first = await open_session(store)
        await open_session(store, session_record("ses_2", parent=first))
        with pytest.raises(ConflictError):
            await store.create_session(session_record("ses_3", parent=first), SessionState())
        with pytest.raises(ConflictError):
            await store.create_session(session_record("ses_4"), SessionState())
        with pytest.raises(NotFoundError):
            await store.get_session(SessionId("ses_3"))
        current = await store.find_current_session(ADA, GUIDE)
        assert current is not None
        assert current.id == "ses_2"

    async def test_a_rewind_becomes_current(self, store: Store) -> None:
        """A rewind takes the place of the current session, also when it goes off from an older one."""
        first = await open_session(store, None, *talk(2))
        await open_session(store, session_record("ses_2", parent=first))
        rewind = session_record("ses_3", parent=first, branch_seq=2)
        await store.create_session(rewind, SessionState(last_seq=2))
        assert rewind.started_by == "rewind"
        assert await store.find_current_session(ADA, GUIDE) == rewind
        assert not (await store.get_session(SessionId("ses_2"))).is_current

    async def test_a_session_aside_leaves_the_current_one(self, store: Store) -> None:
        """A session that is not current changes nothing about which one is."""
        first = await open_session(store)
        await open_session(store, session_record("ses_2", parent=first, is_current=False))
        await open_session(store, session_record("ses_3", is_current=False))
        assert await store.find_current_session(ADA, GUIDE) == first
        assert not (await store.get_session(SessionId("ses_2"))).is_current

    async def test_current_sessions_are_apart(self, store: Store) -> None:
        """Each pair of user and agent has a current session of its own, or none."""
        one = await open_session(store, session_record("ses_1"))
        two = await open_session(store, session_record("ses_2", agent_id=CLERK))
        three = await open_session(store, session_record("ses_3", user_id=BEN))
        assert await store.find_current_session(ADA, GUIDE) == one
        assert await store.find_current_session(ADA, CLERK) == two
        assert await store.find_current_session(BEN, GUIDE) == three
        assert await store.find_current_session(BEN, CLERK) is None

    async def test_each_session_key_has_a_current_session(self, store: Store) -> None:
        """One user and agent have a current session under each key: what becomes current under one ends none of another."""
        bare = await open_session(store, session_record("ses_1"))
        inbox = await open_session(store, replace(session_record("ses_2"), session_key="inbox"))
        later = await open_session(store, session_record("ses_3", parent=inbox))
        assert later.session_key == "inbox"
        assert await store.find_current_session(ADA, GUIDE) == bare
        assert await store.find_current_session(ADA, GUIDE, "inbox") == later
        assert await store.find_current_session(ADA, GUIDE, "Inbox") is None
        with pytest.raises(ConflictError):
            await open_session(store, replace(session_record("ses_4"), session_key="inbox"))
        assert await store.make_current(inbox.id) == inbox
        assert await store.get_session(later.id) == replace(later, is_current=False)
        assert await store.get_session(bare.id) == bare

    async def test_an_older_session_can_become_current_again(self, store: Store) -> None:
        """Making a session current gives it and takes the mark from the other; doing it twice changes nothing."""
        first = await open_session(store)
        second = await open_session(store, session_record("ses_2", parent=first))
        for _ in range(2):
            assert await store.make_current(first.id) == first
        assert await store.find_current_session(ADA, GUIDE) == first
        assert await store.get_session(second.id) == replace(second, is_current=False)

    async def test_sessions_are_listed_in_order_and_page_by_page(self, store: Store) -> None:
        """Pages after a cursor give every session once, in the order of creation, whatever the ids are."""
        ids = ["ses_c", "ses_a", "ses_d", "ses_b", "ses_e"]
        for count, id_ in enumerate(ids):
            await open_session(store, session_record(id_, created_at=minute(count), is_current=False))
        listed: list[SessionId] = []
        for _ in ids:
            after = listed[-1] if listed else None
            page = await store.list_sessions(user_id=None, agent_id=None, after=after, limit_count=2)
            assert len(page) <= 2
            listed += [record.id for record in page]
        assert listed == ids

    async def test_sessions_of_one_moment_are_listed_once_each(self, store: Store) -> None:
        """Sessions that were created in the same moment keep one order from page to page."""
        ids = ["ses_2", "ses_1", "ses_3"]
        for id_ in ids:
            await open_session(store, session_record(id_, is_current=False))
        first = await store.list_sessions(user_id=ADA, agent_id=GUIDE, after=None, limit_count=2)
        rest = await store.list_sessions(user_id=ADA, agent_id=GUIDE, after=first[-1].id, limit_count=2)
        assert [record.id for record in (*first, *rest)] == ids

    async def test_listing_keeps_users_and_agents_apart(self, store: Store) -> None:
        """A listing for a user, an agent or both gives theirs alone, after a cursor too."""
        await open_session(store, session_record("ses_1"))
        await open_session(store, session_record("ses_2", user_id=BEN))
        await open_session(store, session_record("ses_3", agent_id=CLERK))

        async def list_ids(**asked: str | None) -> list[str]:
            scope = {"user_id": None, "agent_id": None, "after": None} | asked
            return [record.id for record in await store.list_sessions(**scope, limit_count=9)]  # type: ignore[arg-type]  # by name

        assert await list_ids(user_id=ADA) == ["ses_1", "ses_3"]
        assert await list_ids(user_id=ADA, after="ses_1") == ["ses_3"]
        assert await list_ids(agent_id=GUIDE) == ["ses_1", "ses_2"]
        assert await list_ids(user_id=BEN, agent_id=CLERK) == []
        assert await list_ids(user_id="usr_nobody") == []

    async def test_settings_are_replaced_whole(self, store: Store) -> None:
        """Changed settings read back equal, with the state that was given; else nothing changes."""
        record = await open_session(store, None, *talk(1))
        state = await store.read_state(record.id)
        settings = SessionSettings(limit_tokens=7000, prompt=Prompt(system="Be kind."))
        changed = replace(state.with_cache_break("prompt", WHOLE_WINDOW), revision=state.revision + 1)
        await store.change_settings(record.id, settings, changed, expected_revision=state.revision)
        assert await store.get_session(record.id) == replace(record, settings=settings)
        assert await store.read_state(record.id) == changed

    async def test_settings_change_only_over_the_expected_state(self, store: Store) -> None:
        """Settings that come with a state of an old revision are refused; neither settings nor state change."""
        record = await open_session(store, None, *talk(1))
        state = await store.read_state(record.id)
        await store.set_title(record.id, "Berths")
        before, settings = await store.get_session(record.id), SessionSettings(limit_tokens=7000)
        with pytest.raises(ConflictError):
            await store.change_settings(
                record.id, settings, replace(state, revision=state.revision + 1), expected_revision=state.revision
            )
        assert await store.get_session(record.id) == before
        assert await store.read_state(record.id) == replace(state, revision=state.revision + 1)

    async def test_a_title_is_replaced_alone(self, store: Store) -> None:
        """A changed title reads back equal; else only the revision of the state changes, which rises by one."""
        record = await open_session(store, replace(session_record(), title="Berths"), *talk(1))
        assert (await store.get_session(record.id)).title == "Berths"
        state = await store.read_state(record.id)
        await store.set_title(record.id, "Cranes \u00e4")
        assert await store.get_session(record.id) == replace(record, title="Cranes \u00e4")
        assert await store.read_state(record.id) == replace(state, revision=state.revision + 1)

    async def test_changing_a_given_tool_schema_changes_nothing_stored(self, store: Store) -> None:
        """What a caller does to tool schemas, before or after they were stored, stays the caller's own."""
        tool: JsonObject = {"name": "look_up"}
        settings = SessionSettings(prompt=Prompt(tools=(tool,)))
        record = await open_session(store, session_record(settings=settings))
        tool["name"] = "changed"
        given = (await store.get_session(record.id)).settings.prompt.tools[0]
        assert isinstance(given, dict)
        assert given == {"name": "look_up"}
        given.clear()
        assert (await store.get_session(record.id)).settings.prompt.tools == ({"name": "look_up"},)

    async def test_an_unknown_session_is_not_found(self, store: Store) -> None:
        """Each method that names a session by id refuses one that was never created."""
        await open_session(store)
        for asking in (
            store.get_session(NOBODY),
            store.make_current(NOBODY),
            store.change_settings(NOBODY, SessionSettings(), SessionState(revision=1), expected_revision=0),
            store.set_title(NOBODY, "Berths"),
            store.list_sessions(user_id=None, agent_id=None, after=NOBODY, limit_count=1),
        ):
            with pytest.raises(NotFoundError):
                await asking
        assert (await store.get_session(session_record().id)).is_current

    async def test_a_closed_store_serves_nothing(self, store: Store) -> None:
        """After closing, calls of every part are refused as unavailable, and closing again does nothing."""
        record = await open_session(store)
        await store.close()
        await store.close()
        for asking in (
            store.get_session(record.id),
            store.read_state(record.id),
            store.read_digests(["evt_1.digest"]),
            store.check_integrity(),
        ):
            with pytest.raises(StoreUnavailableError):
                await asking
