"""What every store holds to about browsing. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.log.search_filters import SessionFilter
from everfold.core.primitives.ids import SessionId
from everfold.errors import NotFoundError
from everfold.ports.browsing import SessionEnds, SessionFigures
from everfold.ports.stores import Store
from everfold.testing.contract.compaction import LATER
from everfold.testing.contract.work import after_revision, commit_early, open_and_begin, revise
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    branch_session,
    compact,
    incoming,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    talk,
    user,
)


class BrowsingContract:
    """What lists and pictures are made of says the same as the rows themselves."""

    async def test_newest_sessions_are_the_others_backwards(self, store: Store) -> None:
        """Page by page the newest sessions are those of the other listing in reverse, for every owner asked for."""
        for count, (user_id, agent_id) in enumerate([(ADA, GUIDE), (BEN, GUIDE), (ADA, CLERK), (ADA, GUIDE)]):
            await open_session(
                store, session_record(f"ses_{9 - count}", user_id=user_id, agent_id=agent_id, is_current=False)
            )
        for asked_user in (None, ADA, BEN):
            for asked_agent in (None, GUIDE, CLERK):
                oldest = await store.list_sessions(user_id=asked_user, agent_id=asked_agent, after=None, limit_count=9)
                listed: list[SessionId] = []
                while page := await store.list_newest_sessions(
                    user_id=asked_user, agent_id=asked_agent, before=listed[-1] if listed else None, limit_count=2
                ):
                    assert len(page) <= 2
                    listed += [record.id for record in page]
                assert listed == [record.id for record in reversed(oldest)]

    async def test_sessions_are_narrowed_by_title_and_time(self, store: Store) -> None:
        """Both lists give the sessions that a filter admits, and their pages go on behind the last one of them."""
        for number, title in enumerate(["Berths", "", "100% of BERTHS", "Crane_1", "Stra\u00dfe", "other berths"]):
            record = session_record(f"ses_{number}", created_at=minute(number), is_current=False)
            await open_session(store, replace(record, title=title))

        async def list_ids(only: SessionFilter, *, count: int = 9) -> list[str]:
            scope = {"user_id": ADA, "agent_id": GUIDE, "limit_count": count, "only": only}
            oldest, newest = list[SessionId](), list[SessionId]()
            while page := await store.list_sessions(after=oldest[-1] if oldest else None, **scope):  # type: ignore[arg-type]  # by name
                oldest += [record.id for record in page]
            while page := await store.list_newest_sessions(before=newest[-1] if newest else None, **scope):  # type: ignore[arg-type]  # by name
                newest += [record.id for record in page]
            assert newest == oldest[::-1]
            return [id_.removeprefix("ses_") for id_ in oldest]

        assert await list_ids(SessionFilter(title="BERTHS"), count=1) == ["0", "2", "5"]
        assert await list_ids(SessionFilter(title="STRASSE")) == ["4"]
        assert await list_ids(SessionFilter(title="0%")) == await list_ids(SessionFilter(title="% of")) == ["2"]
        assert await list_ids(SessionFilter(title="_")) == ["3"]
        assert await list_ids(SessionFilter(title="!")) == await list_ids(SessionFilter(title="nobody")) == []
        assert await list_ids(SessionFilter(since=minute(2), until=minute(4))) == ["2", "3"]
        assert await list_ids(SessionFilter(since=minute(1), title="berths")) == ["2", "5"]
        assert await list_ids(SessionFilter()) == ["0", "1", "2", "3", "4", "5"]

    async def test_pages_before_an_unknown_session_are_refused(self, store: Store) -> None:
        """A cursor that was never a session is an error, and no first page."""
        await open_session(store)
        with pytest.raises(NotFoundError):
            await store.list_newest_sessions(user_id=None, agent_id=None, before=SessionId("ses_nobody"), limit_count=1)

    async def test_figures_are_those_of_state_and_layout(self, store: Store) -> None:
        """What is told of a session is what its state and its layout say, before a compaction and after it."""
        plain = await open_session(store, session_record("ses_1", is_current=False), *talk(1))
        folded = await open_session(store, session_record("ses_2", is_current=False), *talk(8))
        compacting = await compact(store, folded.id, "evt_1")
        figures = await store.read_figures([plain.id, folded.id, SessionId("ses_nobody")])
        states = {record.id: await store.read_state(record.id) for record in (plain, folded)}
        assert figures == {
            id_: SessionFigures(
                last_seq=state.last_seq,
                watermark=compacting.fold.layout.watermark if state.compaction_id else 0,
                epoch=state.epoch,
                active_at=state.active_at,
            )
            for id_, state in states.items()
        }
        assert figures[folded.id].watermark > 0

    async def test_ends_are_the_first_and_newest_messages(self, store: Store) -> None:
        """A session's ends are its messages as they are read by number; erased and long ones are left out, also of a branch."""
        record = await open_session(store, session_record("ses_1"), *talk(3))
        branch = await branch_session(store, record, "ses_2", state=await store.read_state(record.id))
        state = await store.read_state(record.id)
        first, asked, newest = await store.read_messages(record.id, [state.head_seq, state.turn_seq, state.last_seq])
        expected = SessionEnds(first=first, newest=newest, asked=asked)
        found = await store.read_ends([record.id, branch.id, SessionId("ses_nobody")], most_bytes=9_000)
        assert found == {record.id: expected, branch.id: expected}
        none = SessionEnds(first=None, newest=None, asked=None)
        assert await store.read_ends([record.id], most_bytes=1) == {record.id: none}
        await store.erase_message(await plan_bare_erasure(store, record.id, state.last_seq), erased_at=LATER)
        found = await store.read_ends([branch.id], most_bytes=9_000)
        assert (found[branch.id].first, found[branch.id].newest) == (first, None)

    async def test_refreshes_are_found_along_the_lineage(self, store: Store) -> None:
        """The refreshes of a log are all its own and those that it shares, but none that is erased or came later."""
        record = await open_session(store)
        said = user("A ship came in.")
        for source in ("said", "refresh", "said", "refresh"):
            await append_wires(store, record.id, incoming(said, source=source))
        branch = await branch_session(store, record, "ses_2", state=await store.read_state(record.id))
        await append_wires(store, record.id, incoming(said, source="refresh"))
        await append_wires(store, branch.id, incoming(said), incoming(said, source="refresh"))
        assert await store.list_refreshes(record.id) == [2, 4, 5]
        assert await store.list_refreshes(branch.id) == [2, 4, 6]
        await store.erase_message(await plan_bare_erasure(store, record.id, 2), erased_at=LATER)
        assert await store.list_refreshes(branch.id) == [4, 6]
        assert await store.list_erased(branch.id) == await store.list_erased(record.id) == [2]
        assert await store.list_erased(record.id, retracted=True) == [2]

    async def test_the_revision_of_an_event_is_found(self, store: Store) -> None:
        """A compaction whose digest was replaced names the compaction that replaced it; any other names none."""
        _, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        assert await store.find_revision(begun.compaction.id) is None
        revision, done = revise(begun, state)
        await store.revise_compaction(
            begun.compaction.id,
            revision,
            done,
            after_revision(state, revision),
            expected_revision=state.revision,
            outcome=None,
        )
        found = await store.find_revision(begun.compaction.id)
        assert found == await store.get_compaction(revision.id)
        assert await store.find_revision(revision.id) is None
