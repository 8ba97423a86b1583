"""What every store holds to about erasing. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.forgetting.messages import (
    Erasure,
    NewRecord,
    NewSearchRow,
    erase_from_certificate,
    erase_from_layout,
    show_new_digests,
)
from everfold.core.log.retracting import Retraction, plan_retraction
from everfold.core.log.search_filters import SearchFilter
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.core.primitives.json_values import JsonObject
from everfold.core.text.searching import index_text
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.testing.contract.history import find, places
from everfold.testing.contract.work import DEGRADED, commit_early, open_and_begin
from everfold.testing.kit.builders import (
    LEASE_SECS,
    append_wires,
    assistant,
    branch_session,
    calls,
    compact,
    incoming,
    minute,
    open_session,
    plan_bare_erasure,
    result,
    session_record,
    talk,
    user,
)

ERASED_AT = minute(900)


async def plan_bare_retraction(store: Store, session_id: SessionId, first_seq: int) -> Retraction:
    """What retracts the messages from one on, of which nothing was made. Writes nothing."""
    notes = await store.read_notes(session_id, range(1, first_seq))
    return plan_retraction(
        await store.read_state(session_id),
        first_seq,
        notes,
        await store.read_messages(session_id, range(1, first_seq)),
        session_id=session_id,
        turn_tokens=notes[-1].tokens,
        fixed_tokens=0,
    )


async def erase(store: Store, session_id: SessionId, seq: int, *rows: NewSearchRow) -> Erasure:
    """Erase a message of which nothing was made but the given search rows of its neighbours."""
    erasure = await plan_bare_erasure(store, session_id, seq, *rows)
    await store.erase_message(erasure, erased_at=ERASED_AT)
    return erasure


class EraseContract:
    """An erase leaves a tombstone, replaces what its plan names, all or nothing, and only over the states it read."""

    async def test_an_erased_message_is_gone(self, store: Store) -> None:
        """Neither reads nor searches give it; what stays is a tombstone without bytes and hash."""
        record = await open_session(store, None, user("The alibi is false."), assistant("Hm."), user("Next."))
        await erase(store, record.id, 1)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2, 3])] == [2, 3]
        assert (record.id, 1) not in places(await find(store, "alibi false"))
        first, *rest = await store.read_contents(record.id, 1, 3)
        assert (first.seq, first.content, first.content_hash, first.is_erased) == (1, b"", "", True)
        assert [(one.seq, one.is_erased) for one in rest] == [(2, False), (3, False)]

    async def test_an_erase_takes_the_titles_away(self, store: Store) -> None:
        """No session that holds an erased message keeps its title; one that does not hold the message keeps its own."""
        first = await open_session(store, None, user("The alibi is false."), assistant("Hm."))
        branch = await branch_session(store, first, "ses_branch", state=await store.read_state(first.id))
        other = await open_session(store, session_record("ses_other", is_current=False), user("Hi."))
        for record in (first, branch, other):
            await store.set_title(record.id, "Alibi")
        await erase(store, first.id, 1)
        titles = [(await store.get_session(record.id)).title for record in (first, branch, other)]
        assert titles == ["", "", "Alibi"]

    async def test_an_erase_takes_the_problems_of_compactions_away(self, store: Store) -> None:
        """No compaction of a session that holds an erased message tells a problem, ended or not: it may quote the message."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        ended = replace(state, revision=state.revision + 1, awaited=())
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.end_compaction(
            begun.compaction.id, DEGRADED, ended, expected_revision=state.revision, ended_at=minute(800)
        )
        await erase(store, record.id, 8)
        after = await store.get_compaction(begun.compaction.id)
        assert (after.state, after.digest, after.problem) == ("degraded", "failed", "")

    async def test_a_tombstones_note_holds_its_place_only(self, store: Store) -> None:
        """The note of an erased message keeps number, time and sizes, so that sums still hold, and none of its words."""
        named: JsonObject = {"role": "user", "name": "Zoe", "content": "Never say that the alibi is false."}
        record = await open_session(store, None, named, calls("c1", name="alibi"), result("c1", "alibi"))
        before = await store.read_notes(record.id, [1, 2, 3])
        assert any(note.lines for note in before)
        for seq in (1, 2, 3):
            await erase(store, record.id, seq)
        after = await store.read_notes(record.id, [1, 2, 3])
        assert after == [replace(note, name=None, content_hash="", calls=(), lines=()) for note in before]
        assert all(note.is_erased for note in after)

    async def test_an_erase_rewrites_its_neighbours_rows(self, store: Store) -> None:
        """After an erase with its neighbours, no row of the index leads anywhere by the erased words."""
        record = await open_session(
            store, None, user("The alibi is false."), assistant("Hm, noted."), user("Thanks, friend.")
        )
        assert places(await find(store, "alibi")) == {(record.id, 1), (record.id, 2), (record.id, 3)}
        noted = index_text("Hm, noted.", speaker="assistant", said_at=minute(2))
        thanks = index_text("Thanks, friend.", speaker="user", said_at=minute(3), before=["Hm, noted."])
        await erase(
            store,
            record.id,
            1,
            NewSearchRow(session_id=record.id, seq=2, text=noted),
            NewSearchRow(session_id=record.id, seq=3, text=thanks),
        )
        assert await find(store, "alibi false") == []
        assert await find(store, "alibi false", only=SearchFilter(roles=frozenset({"user"}))) == []
        assert places(await find(store, "noted")) == {(record.id, 2), (record.id, 3)}

    async def test_an_erase_leaves_the_rest_of_the_log(self, store: Store) -> None:
        """The other messages and the boundaries are as they were, the state is the plan's; the log goes on behind it."""
        record = await open_session(store, None, user("a"), calls("c1"), result("c1", "secret"), user("b"))
        before = await store.read_messages(record.id, [1, 2, 4])
        state = await store.read_state(record.id)
        boundaries = [await store.find_boundary(record.id, seq) for seq in range(1, 5)]
        await erase(store, record.id, 3)
        assert await store.read_messages(record.id, [1, 2, 3, 4]) == before
        assert await store.read_state(record.id) == replace(state, revision=state.revision + 1, epoch=state.epoch + 1)
        assert [await store.find_boundary(record.id, seq) for seq in range(1, 5)] == boundaries
        await append_wires(store, record.id, user("c"))
        assert [one.seq for one in await store.read_messages(record.id, range(1, 9))] == [1, 2, 4, 5]

    async def test_every_session_that_shares_a_message_is_listed(self, store: Store) -> None:
        """Parent, branch and a branch of the branch share what came before both points; their own numbers are their own."""
        parent = await open_session(store, None, user("p1"), user("p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("p3"))
        await append_wires(store, child.id, user("c3"))
        grandchild = await branch_session(store, child, "ses_grandchild", state=await store.read_state(child.id))
        await open_session(store, session_record("ses_other", parent=parent), user("o1"))

        async def list_ids(session_id: SessionId, seq: int) -> list[str]:
            return [record.id for record in await store.list_sharing(session_id, seq)]

        for id_ in (parent.id, child.id, grandchild.id):
            assert await list_ids(id_, 2) == [parent.id, child.id, grandchild.id]
        assert await list_ids(parent.id, 3) == [parent.id]
        assert await list_ids(grandchild.id, 3) == await list_ids(child.id, 3) == [child.id, grandchild.id]
        with pytest.raises(NotFoundError):
            await store.list_sharing(SessionId("ses_nobody"), 1)

    async def test_an_erase_of_a_shared_message_reaches_every_branch(self, store: Store) -> None:
        """Erased through a branch, the message is gone from its parent too; the branch's own numbers stay its own."""
        parent = await open_session(store, None, user("alibi p1"), user("alibi p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("alibi p3"))
        await append_wires(store, child.id, user("alibi c3"))
        await erase(store, child.id, 1)
        await erase(store, child.id, 3)
        assert [one.seq for one in await store.read_messages(parent.id, [1, 2, 3])] == [2, 3]
        assert [one.seq for one in await store.read_messages(child.id, [1, 2, 3])] == [2]
        assert {(parent.id, 2), (parent.id, 3)} == places(await find(store, "p2 p3"))
        assert [(await store.read_state(id_)).epoch for id_ in (parent.id, child.id)] == [1, 2]

    async def test_an_erase_is_of_the_states_that_it_was_planned_in(self, store: Store) -> None:
        """When one of the sessions that share the message has moved on, nothing at all is erased."""
        parent = await open_session(store, None, user("alibi p1"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        for session_id in (parent.id, child.id):
            erasure = await plan_bare_erasure(store, parent.id, 1)
            await append_wires(store, session_id, user("one more"))
            states = [await store.read_state(id_) for id_ in (parent.id, child.id)]
            with pytest.raises(ConflictError):
                await store.erase_message(erasure, erased_at=ERASED_AT)
            assert [await store.read_state(id_) for id_ in (parent.id, child.id)] == states
            assert len(await store.read_messages(parent.id, [1])) == 1
            assert (parent.id, 1) in places(await find(store, "alibi"))

    async def test_a_branch_made_meanwhile_is_not_forgotten(self, store: Store) -> None:
        """A branch that began after the plan makes it void: its state still holds the words."""
        parent = await open_session(store, None, user("alibi p1"))
        erasure = await plan_bare_erasure(store, parent.id, 1)
        await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        with pytest.raises(ConflictError):
            await store.erase_message(erasure, erased_at=ERASED_AT)
        assert len(await store.read_messages(parent.id, [1])) == 1

    async def test_a_branch_of_a_state_before_an_erase_is_refused(self, store: Store) -> None:
        """A state that was read before the erase cannot become a branch's first one; a fresh one can."""
        parent = await open_session(store, None, user("alibi p1"), user("p2"))
        state = await store.read_state(parent.id)
        await erase(store, parent.id, 1)
        with pytest.raises(ConflictError):
            await branch_session(store, parent, "ses_child", state=state)
        with pytest.raises(NotFoundError):
            await store.get_session(SessionId("ses_child"))
        await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))

    async def test_an_append_planned_before_an_erase_is_refused(self, store: Store) -> None:
        """A state that remembers the erased words is not written over the one that has forgotten them."""
        record = await open_session(store, None, user("alibi"))
        state = await store.read_state(record.id)
        await erase(store, record.id, 1)
        with pytest.raises(ConflictError):
            await store.write_state(
                record.id, replace(state, revision=state.revision + 1), expected_revision=state.revision
            )

    async def test_what_an_erase_makes_again_is_in_force(self, store: Store) -> None:
        """New digests, layouts and certificates are what is read from then on; nothing else of a compaction changes."""
        record = await open_session(store, None, *talk(8))
        made = await compact(store, record.id, "evt_1")
        fold = made.fold
        (compaction,) = await store.list_compactions(record.id, after_ordinal=0, limit_count=9)
        seq = fold.digests[0].reads[0]
        digest = replace(fold.digests[0], text="less", tokens=1, content_hash="00", reads=fold.digests[0].reads[1:])
        again = NewRecord(
            compaction_id=CompactionId("evt_1"),
            layout=show_new_digests(erase_from_layout(fold.layout, seq), {digest.id: digest}),
            certificate=erase_from_certificate(fold.certificate, seq, {digest.id: digest}),
        )
        bare = await plan_bare_erasure(store, record.id, seq)
        await store.erase_message(replace(bare, digests=(digest,), records=(again,)), erased_at=ERASED_AT)
        assert await store.read_digests([digest.id]) == {digest.id: digest}
        assert await store.read_layout(CompactionId("evt_1")) == again.layout != fold.layout
        (after,) = await store.list_compactions(record.id, after_ordinal=0, limit_count=9)
        assert after == replace(compaction, certificate=again.certificate)

    async def test_an_erase_can_be_repeated(self, store: Store) -> None:
        """A second erase of a message finds a tombstone and leaves it."""
        record = await open_session(store, None, user("alibi one"), user("two"))
        for _ in range(2):
            await erase(store, record.id, 1)
            assert [one.seq for one in await store.read_messages(record.id, [1, 2])] == [2]
            assert [one.is_erased for one in await store.read_contents(record.id, 1, 2)] == [True, False]
        assert (record.id, 1) not in places(await find(store, "alibi"))

    async def test_an_erased_neighbour_does_not_come_back(self, store: Store) -> None:
        """Of two erases side by side, the later one writes no search row for the message that the earlier one took."""
        record = await open_session(store, None, user("alibi one"), user("alibi two"), user("three"))
        await erase(store, record.id, 2)
        texts = {
            seq: index_text(text, speaker="user", said_at=minute(seq)) for seq, text in ((2, "alibi"), (3, "three"))
        }
        rows = [NewSearchRow(session_id=record.id, seq=seq, text=text) for seq, text in texts.items()]
        await erase(store, record.id, 1, *rows)
        assert await find(store, "alibi") == []
        assert await store.check_integrity() == []

    async def test_a_client_id_outlives_an_erase(self, store: Store) -> None:
        """A repeated append of an erased message is still known, so that it cannot come back; its hash is gone."""
        record = await open_session(store, None, incoming(user("alibi"), client_id="id-1"))
        await erase(store, record.id, 1)
        assert await store.find_client_ids(record.id, ["id-1"]) == {"id-1": (1, "")}
        assert await store.find_hashes(record.id, [incoming(user("alibi")).content_hash]) == {}
        with pytest.raises(ConflictError):
            await append_wires(store, record.id, incoming(user("alibi"), client_id="id-1"))

    async def test_a_retracted_message_counts_for_nothing(self, store: Store) -> None:
        """Only who asks for it reads it; its note has no words and the sizes that it is given, and no search finds it."""
        record = await open_session(store, None, user("one"), incoming(assistant("The alibi."), client_id="b"))
        retraction = await plan_bare_retraction(store, record.id, 2)
        await store.retract_messages(retraction)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2])] == [1]
        _, message = await store.read_messages(record.id, [1, 2], retracted=True)
        assert (message.kind, message.view.text, message.tokens, message.lines) == ("retracted", "The alibi.", 0, ())
        first, note = await store.read_notes(record.id, [1, 2])
        assert (note.kind, note.is_erased, note.tokens, note.calls, note.lines) == ("retracted", True, 0, (), ())
        assert (note.sum_tokens, note.turn_seq, note.turns_count) == (first.sum_tokens, 1, 1)
        assert await find(store, "alibi") == []
        assert await store.read_state(record.id) == retraction.state
        content = (await store.read_contents(record.id, 2, 2))[0]
        assert (content.is_retracted, content.is_erased, content.content_hash) == (True, False, message.content_hash)
        assert await store.find_client_ids(record.id, ["b"]) == {"b": (2, message.content_hash)}
        assert await store.find_hashes(record.id, [message.content_hash]) == {}
        assert [one.kind for one in await store.list_stored(record.id, after_seq=0, limit_count=9)] == [
            "user",
            "retracted",
        ]
        assert await store.check_integrity() == []

    async def test_only_the_expected_state_is_retracted_from(self, store: Store) -> None:
        """A retraction that was planned from another state, or of what a branch shares, is refused whole."""
        record = await open_session(store, None, user("one"), assistant("two"))
        late = await plan_bare_retraction(store, record.id, 2)
        await append_wires(store, record.id, user("three"))
        with pytest.raises(ConflictError):
            await store.retract_messages(late)
        retraction = await plan_bare_retraction(store, record.id, 3)
        await branch_session(store, record, "ses_2", state=await store.read_state(record.id))
        with pytest.raises(ConflictError):
            await store.retract_messages(retraction)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2, 3])] == [1, 2, 3]

    async def test_no_message_that_a_branch_shares_is_retracted(self, store: Store) -> None:
        """A retraction that was planned before a branch is refused whole, also where the branch shares only its first message."""
        record = await open_session(store, None, user("one"), assistant("two"))
        shared = await store.read_state(record.id)
        await append_wires(store, record.id, user("three"))
        retraction = await plan_bare_retraction(store, record.id, 2)
        await branch_session(store, record, "ses_2", state=shared)
        with pytest.raises(ConflictError):
            await store.retract_messages(retraction)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2, 3])] == [1, 2, 3]

    async def test_a_retracted_message_can_be_erased(self, store: Store) -> None:
        """An erase leaves a tombstone of it, which is never read."""
        record = await open_session(store, None, user("one"), assistant("The alibi."))
        await store.retract_messages(await plan_bare_retraction(store, record.id, 2))
        await erase(store, record.id, 2)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2], retracted=True)] == [1]
        content = (await store.read_contents(record.id, 2, 2))[0]
        assert (content.is_erased, content.content) == (True, b"")
        assert await store.check_integrity() == []

    async def test_nothing_is_erased_that_is_not_there(self, store: Store) -> None:
        """An unknown message, neighbour or compaction is not found, and then nothing has changed."""
        record = await open_session(store, None, *talk(6))
        made = await compact(store, record.id, "evt_1")
        bare = await plan_bare_erasure(store, record.id, 1)
        text = index_text("x", speaker="user", said_at=minute(1))
        stray = NewRecord(
            compaction_id=CompactionId("evt_none"), layout=made.fold.layout, certificate=made.fold.certificate
        )
        state = await store.read_state(record.id)
        for erasure in (
            replace(bare, seq=99),
            replace(bare, seq=0),
            replace(bare, search_rows=(NewSearchRow(session_id=record.id, seq=99, text=text),)),
            replace(bare, records=(stray,)),
        ):
            with pytest.raises(NotFoundError):
                await store.erase_message(erasure, erased_at=ERASED_AT)
        assert [one.seq for one in await store.read_messages(record.id, [1, 2])] == [1, 2]
        assert (record.id, 1) in places(await find(store, "berth"))
        assert await store.read_state(record.id) == state

    async def test_a_store_that_erased_is_sound(self, store: Store) -> None:
        """After an erase the store finds no problem in itself."""
        record = await open_session(store, None, user("a"), user("b"))
        await branch_session(store, record, "ses_child", state=await store.read_state(record.id))
        await erase(store, record.id, 1)
        assert await store.check_integrity() == []
