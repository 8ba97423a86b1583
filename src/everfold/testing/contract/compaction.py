"""What every store holds to about compactions. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from contextlib import suppress
from dataclasses import replace

import anyio
import pytest

from everfold.core.compaction.certificate import check_certificate, check_never_neither, hash_text
from everfold.core.compaction.folding import Digest
from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.digests.drafts import Draft
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import (
    EXTRACTIVE,
    LEASE_SECS,
    RUN_OUT_SECS,
    Compacting,
    append_wires,
    assistant,
    branch_session,
    commit,
    compact,
    minute,
    open_session,
    plan_next_compaction,
    talk,
    user,
)

NOW = minute(500)
LATER = minute(503)
NO_EVENT = CompactionId("evt_none")


async def begin(store: Store, session_id: SessionId, compaction_id: str) -> Compacting:
    """A compaction that was begun and waits for a worker."""
    compacting = await plan_next_compaction(store, session_id, compaction_id)
    await store.begin_compaction(compacting.compaction, compacting.begun, expected_revision=compacting.before.revision)
    return compacting


async def finish(store: Store, compacting: Compacting) -> None:
    """Commit a compaction that was begun."""
    await store.commit_compaction(
        compacting.compaction.id,
        compacting.fold,
        compacting.after,
        expected_revision=compacting.begun.revision,
        committed_at=LATER,
        outcome=EXTRACTIVE,
    )


async def cancel(store: Store, compacting: Compacting) -> None:
    """Cancel a compaction that was begun."""
    await store.end_compaction(
        compacting.compaction.id,
        Outcome(state="cancelled", digest="off"),
        replace(compacting.before, revision=compacting.begun.revision + 1),
        expected_revision=compacting.begun.revision,
        ended_at=LATER,
    )


async def list_all(store: Store, session_id: SessionId) -> list[Compaction]:
    """Every compaction of a session's lineage."""
    return await store.list_compactions(session_id, after_ordinal=0, limit_count=1000)


class CompactionContract:
    """A compaction is begun once, claimed by one worker at a time, and committed or ended once; a commit is whole."""

    async def test_a_begun_event_is_pending(self, store: Store) -> None:
        """A begun compaction reads back equal, its plan included, and the session's state names it as held."""
        record = await open_session(store, None, *talk(6))
        planned = await plan_next_compaction(store, record.id, "evt_1", focus="berth \ud83d\ude00")
        await store.begin_compaction(planned.compaction, planned.begun, expected_revision=planned.before.revision)
        assert await list_all(store, record.id) == [planned.compaction]
        assert await store.get_compaction(planned.compaction.id) == planned.compaction
        assert await store.read_state(record.id) == planned.begun
        assert planned.begun.pending_compactions == ("evt_1",)

    async def test_an_event_begins_from_the_state_it_was_planned_in(self, store: Store) -> None:
        """When the log has moved on since the plan, the compaction is refused and not stored."""
        record = await open_session(store, None, *talk(6))
        planned = await plan_next_compaction(store, record.id, "evt_1")
        await append_wires(store, record.id, user("one more"))
        with pytest.raises(ConflictError):
            await store.begin_compaction(planned.compaction, planned.begun, expected_revision=planned.before.revision)
        assert await list_all(store, record.id) == []

    async def test_several_events_of_a_session_are_held_in_their_order(self, store: Store) -> None:
        """A compaction may begin while another is held; the state names both, in order, and both are pending."""
        record = await open_session(store, None, *talk(6))
        first = await begin(store, record.id, "evt_1")
        second = replace(first.compaction, id=CompactionId("evt_2"), ordinal=2)
        held = replace(first.begun, revision=first.begun.revision + 1, pending_compactions=("evt_1", "evt_2"))
        await store.begin_compaction(second, held, expected_revision=first.begun.revision)
        assert [compaction.id for compaction in await list_all(store, record.id)] == ["evt_1", "evt_2"]
        assert (await store.read_state(record.id)).pending_compactions == ("evt_1", "evt_2")

    async def test_a_claim_makes_an_event_running(self, store: Store) -> None:
        """The first claim counts one attempt, holds the lease, and is what later reads give."""
        record = await open_session(store, None, *talk(6))
        compaction = (await begin(store, record.id, "evt_1")).compaction
        claimed = await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        assert claimed.lease_until is not None
        assert claimed == replace(compaction, state="running", attempts=1, lease_until=claimed.lease_until)
        assert await list_all(store, record.id) == [claimed]

    async def test_a_living_worker_keeps_its_event(self, store: Store) -> None:
        """A second claim while the lease lasts is refused and changes nothing."""
        record = await open_session(store, None, *talk(6))
        compaction = (await begin(store, record.id, "evt_1")).compaction
        claimed = await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        with pytest.raises(ConflictError):
            await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        assert await list_all(store, record.id) == [claimed]

    async def test_of_many_claims_at_once_one_wins(self, store: Store) -> None:
        """However many workers want a compaction at the same moment, one has it, and one attempt is counted."""
        record = await open_session(store, None, *talk(6))
        compaction = (await begin(store, record.id, "evt_1")).compaction
        won: list[Compaction] = []

        async def claim() -> None:
            with suppress(ConflictError):
                won.append(await store.claim_compaction(compaction.id, secs=LEASE_SECS))

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(claim)
        assert [one.attempts for one in won] == [1]
        assert await list_all(store, record.id) == won

    async def test_a_dead_workers_event_is_claimed_again(self, store: Store) -> None:
        """When the lease has run out, the compaction gets a new one and another attempt is counted."""
        record = await open_session(store, None, *talk(6))
        compaction = (await begin(store, record.id, "evt_1")).compaction
        first = await store.claim_compaction(compaction.id, secs=RUN_OUT_SECS)
        again = await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        assert (again.state, again.attempts) == ("running", 2)
        assert first.lease_until is not None
        assert again.lease_until is not None
        assert again.lease_until > first.lease_until

    async def test_a_commit_puts_everything_in_force_at_once(self, store: Store) -> None:
        """After a commit the compaction is done; certificate, report, layout, digests and state are the fold's."""
        record = await open_session(store, None, *talk(8))
        compacting = await compact(store, record.id, "evt_1")
        fold = compacting.fold
        (compaction,) = await list_all(store, record.id)
        assert (compaction.state, compaction.attempts) == ("done", 1)
        assert compaction.ended_at is not None
        assert (compaction.plan, compaction.certificate, compaction.report) == (
            compacting.compaction.plan,
            fold.certificate,
            fold.report,
        )
        assert await store.read_layout(compaction.id) == fold.layout
        assert await store.read_digests([one.id for one in fold.digests]) == {one.id: one for one in fold.digests}
        state = await store.read_state(record.id)
        assert state == compacting.after
        assert state.compaction_id == "evt_1"

    async def test_an_event_may_be_committed_without_a_claim(self, store: Store) -> None:
        """An inline compaction commits the compaction that it has just begun."""
        record = await open_session(store, None, *talk(6))
        compacting = await begin(store, record.id, "evt_1")
        await finish(store, compacting)
        (compaction,) = await list_all(store, record.id)
        assert (compaction.state, compaction.attempts, compaction.ended_at) == ("done", 0, LATER)

    async def test_a_commit_over_another_state_writes_nothing(self, store: Store) -> None:
        """When the log has moved on, the commit is refused: no digest, no layout, and the compaction is still open."""
        record = await open_session(store, None, *talk(6))
        compacting = await begin(store, record.id, "evt_1")
        await append_wires(store, record.id, user("one more"))
        state = await store.read_state(record.id)
        with pytest.raises(ConflictError):
            await finish(store, compacting)
        assert await store.read_state(record.id) == state
        assert await list_all(store, record.id) == [compacting.compaction]
        assert await store.read_digests([digest.id for digest in compacting.fold.digests]) == {}
        with pytest.raises(NotFoundError):
            await store.read_layout(compacting.compaction.id)

    async def test_a_commit_after_messages_arrived_keeps_them(self, store: Store) -> None:
        """A fold may be committed over a newer state that it was carried over to: background compaction."""
        record = await open_session(store, None, *talk(6))
        compacting = await begin(store, record.id, "evt_1")
        await append_wires(store, record.id, user("one more"))
        state = await store.read_state(record.id)
        after = replace(
            state, revision=state.revision + 1, compaction_id="evt_1", compactions_count=1, pending_compactions=()
        )
        await store.commit_compaction(
            compacting.compaction.id,
            compacting.fold,
            after,
            expected_revision=state.revision,
            committed_at=LATER,
            outcome=EXTRACTIVE,
        )
        assert await store.read_state(record.id) == after
        assert len(await store.read_messages(record.id, range(1, 99))) == 13

    async def test_an_event_is_committed_once(self, store: Store) -> None:
        """A second commit, claim or end of a done compaction is refused and changes nothing."""
        record = await open_session(store, None, *talk(6))
        compacting = await compact(store, record.id, "evt_1")
        done = await list_all(store, record.id)
        again = replace(
            compacting,
            begun=compacting.after,
            after=replace(compacting.after, revision=compacting.after.revision + 1),
        )
        with pytest.raises(ConflictError):
            await finish(store, again)
        with pytest.raises(ConflictError):
            await store.claim_compaction(done[0].id, secs=LEASE_SECS)
        with pytest.raises(ConflictError):
            await cancel(store, again)
        assert await list_all(store, record.id) == done
        assert await store.read_state(record.id) == compacting.after

    @pytest.mark.parametrize("is_claimed", [False, True], ids=["pending", "running"])
    async def test_a_cancelled_event_has_ended(self, store: Store, is_claimed: bool) -> None:  # noqa: FBT001  # as above
        """A compaction that was cancelled commits nothing, cannot be taken up again, and makes room for the next."""
        record = await open_session(store, None, *talk(6))
        compacting = await begin(store, record.id, "evt_1")
        if is_claimed:
            await store.claim_compaction(compacting.compaction.id, secs=LEASE_SECS)
        await cancel(store, compacting)
        (compaction,) = await list_all(store, record.id)
        assert (compaction.state, compaction.ended_at, compaction.certificate) == ("cancelled", LATER, None)
        with pytest.raises(ConflictError):
            await finish(store, compacting)
        with pytest.raises(ConflictError):
            await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        with pytest.raises(ConflictError):
            await cancel(store, compacting)
        assert await store.read_state(record.id) == replace(compacting.before, revision=compacting.begun.revision + 1)
        with pytest.raises(NotFoundError):
            await store.read_layout(compaction.id)
        following = await begin(store, record.id, "evt_0")
        assert [one.state for one in await list_all(store, record.id)] == ["cancelled", "pending"]
        await finish(store, following)
        assert [one.state for one in await list_all(store, record.id)] == ["cancelled", "done"]

    async def test_events_are_listed_by_ordinal_page_by_page(self, store: Store) -> None:
        """Pages after an ordinal give each compaction once, the one that is on its way last."""
        record = await open_session(store)
        for number in range(1, 4):
            await append_wires(store, record.id, *talk(4, first=number * 10))
            await compact(store, record.id, f"evt_{9 - number}")
        await append_wires(store, record.id, *talk(4, first=40))
        await begin(store, record.id, "evt_0")
        first = await store.list_compactions(record.id, after_ordinal=0, limit_count=3)
        rest = await store.list_compactions(record.id, after_ordinal=first[-1].ordinal, limit_count=3)
        assert [compaction.id for compaction in first] == ["evt_8", "evt_7", "evt_6"]
        assert [(compaction.id, compaction.state) for compaction in rest] == [("evt_0", "pending")]
        assert await store.list_compactions(record.id, after_ordinal=4, limit_count=3) == []

    @pytest.mark.parametrize("limit_count", [1, 2, 3, 9])
    async def test_a_page_ends_with_an_ordinal(self, store: Store, limit_count: int) -> None:
        """Pages of any size after the last ordinal give each compaction once, also those that were cancelled before one."""
        record = await open_session(store)
        await append_wires(store, record.id, *talk(4))
        await cancel(store, await begin(store, record.id, "evt_1"))
        await compact(store, record.id, "evt_2")
        await append_wires(store, record.id, *talk(4, first=10))
        for number in (3, 4, 5):
            await cancel(store, await begin(store, record.id, f"evt_{number}"))
        await compact(store, record.id, "evt_6")
        branch = await branch_session(store, record, "ses_branch", state=await store.read_state(record.id))
        await append_wires(store, branch.id, *talk(4, first=20))
        await compact(store, branch.id, "evt_7")
        for session_id, ids in ((record.id, "123456"), (branch.id, "1234567")):
            found: list[Compaction] = []
            while page := await store.list_compactions(
                session_id, after_ordinal=found[-1].ordinal if found else 0, limit_count=limit_count
            ):
                found += page
            assert [one.id for one in found] == [f"evt_{id_}" for id_ in ids]
            assert [one.ordinal for one in found] == [1, 1, 2, 2, 2, 2, 3][: len(ids)]

    async def test_digests_with_their_pools_read_back_equal(self, store: Store) -> None:
        """Over many compactions every digest reads back equal: what it read, and the pool of a rollup."""
        record = await open_session(store)
        made: dict[str, Digest] = {}
        for number in range(1, 9):
            await append_wires(store, record.id, *talk(5, topic="pier \ud83d\ude00 é", first=number * 10))
            compacting = await compact(store, record.id, f"evt_{number}")
            made |= {digest.id: digest for digest in compacting.fold.digests}
        pools = [digest.pool for digest in made.values() if digest.kind == "rollup"]
        assert any(pool is not None and pool.list_lines() for pool in pools), "no rollup was made"
        assert any(digest.reads for digest in made.values())
        assert await store.read_digests([*made, "evt_none.digest"]) == made
        assert await store.read_digests([]) == {}

    async def test_what_is_stored_proves_the_certificates(self, store: Store) -> None:
        """From stored bytes and digests alone every certificate holds, and no message is neither shown nor read."""
        record = await open_session(store)
        for number in range(1, 9):
            await append_wires(store, record.id, *talk(5, first=number * 10))
            await compact(store, record.id, f"evt_{number}")
        state = await store.read_state(record.id)
        contents = await store.read_contents(record.id, 1, state.last_seq)
        hashes = {one.seq: hash_text(one.content.decode("utf-8", "surrogatepass")) for one in contents}
        certificates = [one.certificate for one in await list_all(store, record.id) if one.certificate]
        assert len(certificates) == 8
        expected_first_seq = 1
        for certificate in certificates:
            digests = await store.read_digests([id_ for id_, _ in certificate.digests])
            problems = check_certificate(
                certificate,
                expected_first_seq=expected_first_seq,
                message_hashes=hashes,
                digest_hashes={id_: hash_text(digest.text) for id_, digest in digests.items()},
            )
            assert problems == []
            expected_first_seq = certificate.last_seq + 1
        layout = await store.read_layout(CompactionId(state.compaction_id))
        assert (
            check_never_neither(layout, certificates, compaction_id=state.compaction_id, last_seq=state.last_seq) == []
        )

    async def test_standing_quotes_keep_every_code_point(self, store: Store) -> None:
        """A standing instruction of a folded message stays an exact quote in the stored layout, odd code points too."""
        record = await open_session(store)
        odd = "Never moor at berth \ud83d\ude00 \ude00\ud83d without a pilot."
        await append_wires(store, record.id, user("[[x]] " + "Long cargo list, nothing else. " * 80 + odd))
        for number in range(1, 7):
            await append_wires(store, record.id, *talk(5, first=number * 10))
        compacting = await compact(store, record.id, "evt_1")
        quotes = [line.quote for line in compacting.fold.layout.standing]
        assert any("\ud83d\ude00" in quote for quote in quotes), "the statement is not in the standing instructions"
        assert await store.read_layout(CompactionId("evt_1")) == compacting.fold.layout

    async def test_a_kept_answer_keeps_the_place_of_its_question(self, store: Store) -> None:
        """A kept message that answers a question names where it stands, in the stored plan and in the stored layout."""
        record = await open_session(store, None, *talk(2))
        question = "Which jacket shall I pack for Bergen?"
        await append_wires(store, record.id, assistant(f"Noted. {question}"), user("The blue one."), *talk(6, first=20))
        compacting = await compact(store, record.id, "evt_1")
        (asked,) = compacting.fold.layout.asked
        assert (asked.seq, asked.start, asked.length) == (5, len("Noted. "), len(question))
        assert await store.read_layout(CompactionId("evt_1")) == compacting.fold.layout
        assert (await store.get_compaction(CompactionId("evt_1"))).plan == compacting.compaction.plan

    async def test_a_branch_inherits_events_up_to_its_branch(self, store: Store) -> None:
        """A branch lists the compactions that it shares and its own, along two levels, and none that came later."""
        parent = await open_session(store, None, *talk(6))
        await compact(store, parent.id, "evt_p1")
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, *talk(6, first=20))
        await compact(store, parent.id, "evt_p2")
        await append_wires(store, child.id, *talk(6, first=40))
        await compact(store, child.id, "evt_c2")
        grandchild = await branch_session(store, child, "ses_grandchild", state=await store.read_state(child.id))
        await append_wires(store, child.id, *talk(6, first=60))
        await begin(store, child.id, "evt_c3")
        await append_wires(store, grandchild.id, *talk(6, first=80))
        await compact(store, grandchild.id, "evt_g3")

        async def list_ids(session_id: SessionId) -> list[tuple[int, str]]:
            return [(compaction.ordinal, compaction.id) for compaction in await list_all(store, session_id)]

        assert await list_ids(parent.id) == [(1, "evt_p1"), (2, "evt_p2")]
        assert await list_ids(child.id) == [(1, "evt_p1"), (2, "evt_c2"), (3, "evt_c3")]
        assert await list_ids(grandchild.id) == [(1, "evt_p1"), (2, "evt_c2"), (3, "evt_g3")]

    async def test_an_event_on_its_way_does_not_hold_up_a_branch(self, store: Store) -> None:
        """What the parent is compacting is no business of its branch: neither listed there nor in its way."""
        parent = await open_session(store, None, *talk(6))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await begin(store, parent.id, "evt_p1")
        assert await list_all(store, child.id) == []
        compacting = await compact(store, child.id, "evt_c1")
        assert await store.read_layout(CompactionId("evt_c1")) == compacting.fold.layout
        assert (await store.read_state(parent.id)).compaction_id == ""

    async def test_a_branch_reads_the_layout_that_it_inherits(self, store: Store) -> None:
        """The layout in force at the branch point is the parent's own, whatever the parent commits afterwards."""
        parent = await open_session(store, None, *talk(6))
        shared = await compact(store, parent.id, "evt_p1")
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, *talk(6, first=20))
        await compact(store, parent.id, "evt_p2")
        state = await store.read_state(child.id)
        assert await store.read_layout(CompactionId(state.compaction_id)) == shared.fold.layout
        digests = shared.fold.digests
        assert await store.read_digests([one.id for one in digests]) == {one.id: one for one in digests}

    async def test_unknown_events_and_sessions_are_not_found(self, store: Store) -> None:
        """Each method refuses a compaction or session that does not exist, and a layout that was not committed."""
        record = await open_session(store, None, *talk(6))
        planned = await plan_next_compaction(store, record.id, "evt_1")
        stray = replace(planned.compaction, session_id=SessionId("ses_nobody"))
        for asking in (
            store.begin_compaction(stray, planned.begun, expected_revision=planned.before.revision),
            store.claim_compaction(NO_EVENT, secs=LEASE_SECS),
            store.get_compaction(NO_EVENT),
            cancel(store, replace(planned, compaction=replace(planned.compaction, id=NO_EVENT))),
            finish(store, replace(planned, compaction=replace(planned.compaction, id=NO_EVENT))),
            store.renew_compaction(NO_EVENT, attempt=1, secs=LEASE_SECS),
            store.release_compaction(NO_EVENT, attempt=1, problem="", wait_secs=None),
            store.keep_draft(NO_EVENT, Draft(text="", tokens=0), attempt=1, extraction="off"),
            store.reopen_compaction(NO_EVENT, planned.begun, expected_revision=planned.before.revision),
            store.read_layout(NO_EVENT),
            store.list_compactions(SessionId("ses_nobody"), after_ordinal=0, limit_count=1),
        ):
            with pytest.raises(NotFoundError):
                await asking
        await commit(store, planned)
        assert [compaction.state for compaction in await list_all(store, record.id)] == ["done"]
