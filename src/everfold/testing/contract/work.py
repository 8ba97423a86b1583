"""What every store holds to about compactions as work. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta

import pytest

from everfold.core.compaction.certificate import check_never_neither
from everfold.core.compaction.folding import Fold, fold
from everfold.core.compaction.late_digests import fold_late_digest, plan_late_digest
from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.digests.drafts import Draft
from everfold.core.log.sessions import SessionRecord
from everfold.core.log.state import Awaited, SessionState
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.testing.contract.compaction import LATER, list_all
from everfold.testing.kit.builders import (
    LEASE_SECS,
    RUN_OUT_SECS,
    Compacting,
    append_wires,
    branch_session,
    minute,
    open_session,
    plan_bare_erasure,
    plan_next_compaction,
    session_record,
    talk,
    user,
)

DONE = Outcome(state="done", digest="done")
DEGRADED = Outcome(state="degraded", digest="failed", extraction="failed", problem="the model was silent")
LONG_AGO = minute(-1)
TICK = timedelta(microseconds=1)


def draft_of(text: str = "## A model's digest \ud83d\ude00", *, epoch: int = 0) -> Draft:
    """A digest that a model wrote."""
    return Draft(text=text, tokens=9, elided=(2,), faults=("empty: it was empty",), epoch=epoch, digest_secs=1.5)


async def begin(
    store: Store, session_id: SessionId, compaction_id: str, *, digest: str = "pending", extraction: str = "off"
) -> Compacting:
    """A compaction that was begun and waits for a model's digest."""
    planned = await plan_next_compaction(store, session_id, compaction_id)
    compaction = replace(planned.compaction, digest=digest, extraction=extraction)  # type: ignore[arg-type]  # as the test says
    await store.begin_compaction(compaction, planned.begun, expected_revision=planned.before.revision)
    return replace(planned, compaction=compaction)


def awaited(begun: Compacting) -> SessionState:
    """The state in which the compaction's range stands under a continuity note."""
    plan = begun.compaction.plan
    one = Awaited(begun.compaction.id, plan.first_seq, plan.last_seq)
    return replace(begun.after, pending_compactions=(), awaited=(one,))


async def commit_early(store: Store, begun: Compacting, *, done: Fold | None = None) -> SessionState:
    """Put a compaction's layout in force while its digest is still to come."""
    state = awaited(begun)
    await store.commit_compaction(
        begun.compaction.id,
        done or begun.fold,
        state,
        expected_revision=begun.begun.revision,
        committed_at=LATER,
        outcome=None,
    )
    return state


def of_another(session_id: str) -> SessionRecord:
    """The record of a session of a user of its own."""
    return session_record(session_id, user_id=UserId(f"usr_{session_id}"))


async def open_and_begin(store: Store, *, extraction: str = "off") -> tuple[SessionRecord, Compacting]:
    """A session with one compaction that waits for a worker."""
    record = await open_session(store, None, *talk(8))
    return record, await begin(store, record.id, "evt_1", extraction=extraction)


def revise(begun: Compacting, state: SessionState, revision_id: str = "evt_9") -> tuple[Compaction, Fold]:
    """What a revision of a compaction that was committed early stores."""
    layout = begun.fold.layout
    plan = plan_late_digest(begun.compaction.plan, layout, tokens_before=900)
    before = begun.fold.digests[0]
    done = fold_late_digest(plan, layout, draft_of(), before, begun.fold.certificate, compaction_id=revision_id)
    revision = Compaction(
        id=CompactionId(revision_id),
        session_id=begun.compaction.session_id,
        ordinal=state.compactions_count + 1,
        state="done",
        plan=plan,
        begun_at=minute(700),
        ended_at=minute(700),
        digest="done",
        revises=begun.compaction.id,
    )
    return revision, done


def after_revision(state: SessionState, revision: Compaction) -> SessionState:
    """The state that a revision of the only awaited compaction commits."""
    return replace(
        state, revision=state.revision + 1, compaction_id=revision.id, compactions_count=revision.ordinal, awaited=()
    )


async def refused(store: Store, session_id: SessionId, attempt: Awaitable[object]) -> None:
    """An attempt raises a conflict and has changed neither compactions nor state."""
    before = await list_all(store, session_id), await store.read_state(session_id)
    with pytest.raises(ConflictError):
        await attempt
    assert (await list_all(store, session_id), await store.read_state(session_id)) == before


class WorkContract:
    """One worker has a compaction at a time; what it made is kept, committed once, and never from before an erase."""

    # --- committed before it has ended

    async def test_a_commit_without_an_outcome_leaves_the_event_open(self, store: Store) -> None:
        """The layout is in force, certificate and report are there, and the compaction is still to be worked on."""
        record, begun = await open_and_begin(store, extraction="pending")
        state = await commit_early(store, begun)
        (compaction,) = await list_all(store, record.id)
        assert compaction == replace(begun.compaction, certificate=begun.fold.certificate, report=begun.fold.report)
        assert (compaction.is_committed, compaction.has_ended, compaction.digest) == (True, False, "pending")
        assert await store.read_layout(compaction.id) == begun.fold.layout
        assert await store.read_state(record.id) == state
        claimed = await store.claim_compaction(compaction.id, secs=LEASE_SECS)
        assert claimed == replace(compaction, state="running", attempts=1, lease_until=claimed.lease_until)

    async def test_a_running_event_stays_its_workers_when_it_is_committed_early(self, store: Store) -> None:
        """An overflow that commits a claimed compaction takes neither the lease nor the attempt from its worker."""
        record, begun = await open_and_begin(store)
        claimed = await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await commit_early(store, begun)
        (compaction,) = await list_all(store, record.id)
        assert compaction == replace(claimed, certificate=begun.fold.certificate, report=begun.fold.report)
        await store.keep_draft(compaction.id, draft_of(), attempt=1, extraction="off")
        assert (await store.get_compaction(compaction.id)).state == "ready"

    async def test_a_models_digest_settles_the_digest_part(self, store: Store) -> None:
        """After a model's digest without an outcome the compaction is pending for its extraction, and has no draft."""
        record, begun = await open_and_begin(store, extraction="pending")
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.keep_draft(begun.compaction.id, draft_of(), attempt=1, extraction="pending")
        notes = await store.read_notes(record.id, range(1, begun.before.last_seq + 1))
        written = fold(
            begun.compaction.plan,
            EMPTY_LAYOUT,
            {note.seq: note for note in notes},
            None,
            compaction_id=begun.compaction.id,
            draft=draft_of(),
        )
        await commit_early(store, begun, done=written)
        compaction = await store.get_compaction(begun.compaction.id)
        assert (compaction.state, compaction.digest, compaction.extraction, compaction.draft) == (
            "pending",
            "done",
            "pending",
            None,
        )
        assert (await store.read_digests([written.digests[0].id]))[written.digests[0].id].generator == "abstractive"

    async def test_an_event_is_committed_early_once(self, store: Store) -> None:
        """A second commit of a layout is refused and changes nothing, whatever state it expects."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        again = replace(begun, begun=state, after=replace(state, revision=state.revision + 1))
        await refused(store, record.id, commit_early(store, again))
        await refused(store, record.id, commit_early(store, begun))

    # --- revisions

    async def test_a_revision_is_an_event_of_its_own(self, store: Store) -> None:
        """It is stored as done, names what it revises, and shows its digest; the revised digest is done."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        revision, done = revise(begun, state)
        after = after_revision(state, revision)
        await store.revise_compaction(
            begun.compaction.id, revision, done, after, expected_revision=state.revision, outcome=DONE
        )
        revised, stored = await list_all(store, record.id)
        assert stored == replace(revision, certificate=done.certificate, report=done.report)
        assert (revised.state, revised.digest, revised.ended_at) == ("done", "done", minute(700))
        assert (revised.certificate, revised.plan) == (begun.fold.certificate, begun.compaction.plan)
        assert await store.read_layout(revised.id) == begun.fold.layout
        assert await store.read_layout(stored.id) == done.layout != begun.fold.layout
        assert await store.read_state(record.id) == after
        digests = await store.read_digests([shown.digest_id for shown in done.layout.ranges])
        assert [digest.generator for digest in digests.values()] == ["abstractive"]
        certificates = [begun.fold.certificate, done.certificate]
        assert check_never_neither(done.layout, certificates, compaction_id=stored.id, last_seq=after.last_seq) == []

    async def test_a_revision_without_an_outcome_leaves_the_extraction(self, store: Store) -> None:
        """The revised compaction's digest is done and it is pending for its extraction; its draft is used up."""
        _, begun = await open_and_begin(store, extraction="pending")
        state = await commit_early(store, begun)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.keep_draft(begun.compaction.id, draft_of(), attempt=1, extraction="pending")
        revision, done = revise(begun, state)
        after = replace(after_revision(state, revision), awaited=state.awaited)
        await store.revise_compaction(
            begun.compaction.id, revision, done, after, expected_revision=state.revision, outcome=None
        )
        revised = await store.get_compaction(begun.compaction.id)
        assert (revised.state, revised.digest, revised.extraction) == ("pending", "done", "pending")
        assert (revised.draft, revised.ended_at) == (None, None)

    async def test_held_events_move_up_behind_a_revision(self, store: Store) -> None:
        """A revision takes the next ordinal; pending compactions of the session, and no others, come one later."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        other = await open_session(store, of_another("ses_other"), *talk(8))
        apart = await begin(store, other.id, "evt_other")
        child = await branch_session(store, record, "ses_child", state=state)
        await append_wires(store, child.id, *talk(6, first=60))
        its_own = await begin(store, child.id, "evt_child")
        held = replace(begun.compaction, id=CompactionId("evt_2"), ordinal=2, begun_at=minute(600))
        after_hold = replace(state, revision=state.revision + 1, pending_compactions=("evt_2",))
        await store.begin_compaction(held, after_hold, expected_revision=state.revision)
        revision, done = revise(begun, state)
        await store.revise_compaction(
            begun.compaction.id,
            revision,
            done,
            after_revision(after_hold, revision),
            expected_revision=after_hold.revision,
            outcome=DONE,
        )
        ordinals = [(compaction.ordinal, compaction.id) for compaction in await list_all(store, record.id)]
        assert ordinals == [(1, "evt_1"), (2, "evt_9"), (3, "evt_2")]
        assert (await store.get_compaction(apart.compaction.id)).ordinal == 1
        assert (await store.get_compaction(its_own.compaction.id)).ordinal == 2

    async def test_what_cannot_be_revised(self, store: Store) -> None:
        """A pending compaction, one that has ended and another state are conflicts, and nothing of the revision is stored."""
        record, begun = await open_and_begin(store)
        revision, done = revise(begun, begun.before)

        def revising(state: SessionState) -> Awaitable[None]:
            after = after_revision(state, revision)
            return store.revise_compaction(
                begun.compaction.id, revision, done, after, expected_revision=state.revision, outcome=DONE
            )

        await refused(store, record.id, revising(begun.begun))
        state = await commit_early(store, begun)
        await append_wires(store, record.id, user("one more"))
        await refused(store, record.id, revising(state))
        state = await store.read_state(record.id)
        settled = replace(state, revision=state.revision + 1, awaited=())
        await store.end_compaction(
            begun.compaction.id, DEGRADED, settled, expected_revision=state.revision, ended_at=LATER
        )
        await refused(store, record.id, revising(settled))
        assert await store.read_digests([done.digests[0].id]) == {}

    # --- ends and retries

    async def test_a_committed_event_is_settled(self, store: Store) -> None:
        """It ends with its outcome, its state is written in the same breath, and what it committed stays in force."""
        record, begun = await open_and_begin(store, extraction="pending")
        state = await commit_early(store, begun)
        settled = replace(state, revision=state.revision + 1, awaited=())
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.end_compaction(
            begun.compaction.id, DEGRADED, settled, expected_revision=state.revision, ended_at=LATER
        )
        (compaction,) = await list_all(store, record.id)
        assert (compaction.state, compaction.digest, compaction.extraction) == ("degraded", "failed", "failed")
        assert (compaction.problem, compaction.ended_at, compaction.lease_until) == (
            "the model was silent",
            LATER,
            None,
        )
        assert compaction.certificate == begun.fold.certificate
        assert await store.read_state(record.id) == settled
        assert await store.read_layout(compaction.id) == begun.fold.layout

    async def test_an_end_over_another_state_changes_nothing(self, store: Store) -> None:
        """When the log has moved on, the compaction is still open."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        await append_wires(store, record.id, user("one more"))
        settled = replace(state, revision=state.revision + 1, awaited=())
        ending = store.end_compaction(
            begun.compaction.id, DONE, settled, expected_revision=state.revision, ended_at=LATER
        )
        await refused(store, record.id, ending)

    @pytest.mark.parametrize(("extraction", "reopened"), [("failed", "pending"), ("done", "done"), ("off", "off")])
    async def test_a_degraded_event_is_reopened(self, store: Store, extraction: str, reopened: str) -> None:
        """It is pending for what had failed, as if it had never been tried, and may be claimed at once."""
        record, begun = await open_and_begin(store, extraction="pending")
        state = await commit_early(store, begun)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        settled = replace(state, revision=state.revision + 1, awaited=())
        outcome = replace(DEGRADED, extraction=extraction)  # type: ignore[arg-type]  # parametrised
        await store.end_compaction(
            begun.compaction.id, outcome, settled, expected_revision=state.revision, ended_at=LATER
        )
        again = replace(settled, revision=settled.revision + 1, awaited=state.awaited)
        await store.reopen_compaction(begun.compaction.id, again, expected_revision=settled.revision)
        compaction = await store.get_compaction(begun.compaction.id)
        assert (compaction.state, compaction.digest, compaction.extraction) == ("pending", "pending", reopened)
        assert (compaction.attempts, compaction.ended_at, compaction.problem, compaction.draft) == (0, None, "", None)
        assert compaction.certificate == begun.fold.certificate
        assert await store.read_state(record.id) == again
        assert (await store.claim_compaction(compaction.id, secs=LEASE_SECS)).attempts == 1

    async def test_only_a_degraded_event_is_reopened(self, store: Store) -> None:
        """One on its way, one that is done, and a degraded one over another state are conflicts that change nothing."""
        record, begun = await open_and_begin(store)

        def reopening(state: SessionState) -> Awaitable[None]:
            after = replace(state, revision=state.revision + 1)
            return store.reopen_compaction(begun.compaction.id, after, expected_revision=state.revision)

        await refused(store, record.id, reopening(begun.begun))
        state = await commit_early(store, begun)
        settled = replace(state, revision=state.revision + 1, awaited=())
        await store.end_compaction(begun.compaction.id, DONE, settled, expected_revision=state.revision, ended_at=LATER)
        await refused(store, record.id, reopening(settled))
        following = await begin(store, (await open_session(store, of_another("ses_2"), *talk(8))).id, "evt_2")
        state = await commit_early(store, following)
        settled = replace(state, revision=state.revision + 1, awaited=())
        await store.end_compaction(
            CompactionId("evt_2"), DEGRADED, settled, expected_revision=state.revision, ended_at=LATER
        )
        after = replace(state, revision=state.revision + 1)
        reopening_late = store.reopen_compaction(CompactionId("evt_2"), after, expected_revision=state.revision)
        await refused(store, following.compaction.session_id, reopening_late)

    # --- workers

    async def test_a_released_event_waits(self, store: Store) -> None:
        """It is pending with its problem, and is not to be claimed before so long is over."""
        _, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.release_compaction(begun.compaction.id, attempt=1, problem="no route", wait_secs=LEASE_SECS)
        compaction = await store.get_compaction(begun.compaction.id)
        assert (compaction.state, compaction.problem, compaction.attempts) == ("pending", "no route", 1)
        with pytest.raises(ConflictError):
            await store.claim_compaction(compaction.id, secs=LEASE_SECS)

    async def test_a_problem_is_told_in_whole_characters(self, store: Store) -> None:
        """Of what another program said, NUL and halves of characters are replaced, and neither stops a release or an ending."""
        record, begun = await open_and_begin(store)
        compaction_id = begun.compaction.id
        await store.claim_compaction(compaction_id, secs=LEASE_SECS)
        problem, told = (
            'cannot parse "party \ud83d" in \0\udfff, \U0001f389',
            'cannot parse "party \ufffd" in \ufffd\ufffd, \U0001f389',
        )
        await store.release_compaction(compaction_id, attempt=1, problem=problem, wait_secs=None)
        assert (await store.get_compaction(compaction_id)).problem == told
        state = await commit_early(store, begun)
        settled = replace(state, revision=state.revision + 1, awaited=())
        outcome = replace(DEGRADED, problem=problem)
        await store.end_compaction(compaction_id, outcome, settled, expected_revision=state.revision, ended_at=LATER)
        [compaction] = await store.list_compactions(record.id, after_ordinal=0, limit_count=9)
        assert (compaction.state, compaction.problem) == ("degraded", told)

    async def test_a_released_event_has_waited(self, store: Store) -> None:
        """After that it is claimed again, and its problem is still told."""
        _, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.release_compaction(begun.compaction.id, attempt=1, problem="no route", wait_secs=RUN_OUT_SECS)
        claimed = await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        assert (claimed.state, claimed.attempts, claimed.problem) == ("running", 2, "no route")

    async def test_an_event_released_for_no_time_is_due_at_once(self, store: Store) -> None:
        """Its lease is gone: the next worker need not wait for its end."""
        _, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.release_compaction(begun.compaction.id, attempt=1, problem="", wait_secs=None)
        assert (await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)).attempts == 2

    async def test_a_renewed_lease_holds_for_longer(self, store: Store) -> None:
        """No other holder may claim the compaction until the new end of its lease."""
        _, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=RUN_OUT_SECS)
        await store.renew_compaction(begun.compaction.id, attempt=1, secs=LEASE_SECS)
        with pytest.raises(ConflictError):
            await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)

    async def test_a_worker_that_lost_its_event_can_do_nothing_to_it(self, store: Store) -> None:
        """Under an attempt that is over, a lease cannot be renewed, a draft not kept, the compaction not released."""
        record, begun = await open_and_begin(store)
        compaction_id = begun.compaction.id
        await store.claim_compaction(compaction_id, secs=RUN_OUT_SECS)
        await store.claim_compaction(compaction_id, secs=LEASE_SECS)
        for attempt in (
            store.renew_compaction(compaction_id, attempt=1, secs=LEASE_SECS),
            store.keep_draft(compaction_id, draft_of(), attempt=1, extraction="off"),
            store.release_compaction(compaction_id, attempt=1, problem="", wait_secs=None),
        ):
            await refused(store, record.id, attempt)

    async def test_what_nobody_runs_cannot_be_kept_or_released(self, store: Store) -> None:
        """The same holds for a compaction that is pending, ready or has ended, under the attempt that it is at."""
        record, begun = await open_and_begin(store)
        compaction_id = begun.compaction.id

        async def try_all(attempt: int) -> None:
            for trying in (
                store.renew_compaction(compaction_id, attempt=attempt, secs=LEASE_SECS),
                store.keep_draft(compaction_id, draft_of(), attempt=attempt, extraction="off"),
                store.release_compaction(compaction_id, attempt=attempt, problem="", wait_secs=None),
            ):
                await refused(store, record.id, trying)

        await try_all(0)
        await store.claim_compaction(compaction_id, secs=LEASE_SECS)
        await store.keep_draft(compaction_id, draft_of(), attempt=1, extraction="off")
        await try_all(1)
        await refused(store, record.id, store.claim_compaction(compaction_id, secs=LEASE_SECS))
        cancelled = replace(begun.before, revision=begun.begun.revision + 1)
        outcome = Outcome(state="cancelled", digest="off")
        await store.end_compaction(
            compaction_id, outcome, cancelled, expected_revision=begun.begun.revision, ended_at=LATER
        )
        await try_all(1)
        assert (await store.get_compaction(compaction_id)).draft is None

    async def test_a_kept_draft_reads_back_equal(self, store: Store) -> None:
        """The compaction is ready under its lease, and holds the draft with every code point and figure of it."""
        record, begun = await open_and_begin(store, extraction="pending")
        claimed = await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.keep_draft(
            begun.compaction.id, draft_of("\ud83d\ude00 \ude00\ud83d é"), attempt=1, extraction="done"
        )
        (compaction,) = await list_all(store, record.id)
        assert compaction == replace(
            begun.compaction,
            state="ready",
            attempts=1,
            lease_until=claimed.lease_until,
            draft=draft_of("\ud83d\ude00 \ude00\ud83d é"),
            extraction="done",
        )

    async def test_a_draft_from_before_an_erase_is_not_kept(self, store: Store) -> None:
        """When a message was erased since the draft's were read, it is refused and none of it is stored."""
        record, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.erase_message(await plan_bare_erasure(store, record.id, 3), erased_at=LATER)
        keeping = store.keep_draft(begun.compaction.id, draft_of(), attempt=1, extraction="off")
        await refused(store, record.id, keeping)
        await store.keep_draft(begun.compaction.id, draft_of(epoch=1), attempt=1, extraction="off")
        assert (await store.get_compaction(begun.compaction.id)).draft == draft_of(epoch=1)

    async def test_an_erase_drops_drafts(self, store: Store) -> None:
        """A draft that is not committed may hold the words: it is removed, and the compaction can be claimed again."""
        record, begun = await open_and_begin(store)
        await store.claim_compaction(begun.compaction.id, secs=LEASE_SECS)
        await store.keep_draft(begun.compaction.id, draft_of(), attempt=1, extraction="off")
        await store.erase_message(await plan_bare_erasure(store, record.id, 3), erased_at=LATER)
        compaction = await store.get_compaction(begun.compaction.id)
        assert (compaction.state, compaction.draft, compaction.attempts) == ("pending", None, 1)
        assert (await store.claim_compaction(compaction.id, secs=LEASE_SECS)).attempts == 2

    async def test_an_erase_leaves_the_drafts_of_other_sessions(self, store: Store) -> None:
        """Only the compactions of sessions that share the message lose what was written for them."""
        record, _ = await open_and_begin(store)
        other = await open_session(store, of_another("ses_other"), *talk(8))
        apart = await begin(store, other.id, "evt_other")
        await store.claim_compaction(apart.compaction.id, secs=LEASE_SECS)
        await store.keep_draft(apart.compaction.id, draft_of(), attempt=1, extraction="off")
        await store.erase_message(await plan_bare_erasure(store, record.id, 3), erased_at=LATER)
        assert (await store.get_compaction(apart.compaction.id)).draft == draft_of()

    # --- what waits

    async def test_what_waits_for_a_worker(self, store: Store) -> None:
        """Pending and due or lease run out, then ready, each by time of beginning; not what is leased, put off, or has ended."""
        begun: dict[str, Compacting] = {}
        for number, name in enumerate(["pending", "dead", "ready", "leased", "later", "ended"]):
            record = await open_session(store, of_another(f"ses_{name}"), *talk(8, first=number * 20))
            planned = await plan_next_compaction(store, record.id, f"evt_{name}")
            compaction = replace(planned.compaction, begun_at=minute(60 - number))
            await store.begin_compaction(compaction, planned.begun, expected_revision=planned.before.revision)
            begun[name] = planned
        ids = {name: planned.compaction.id for name, planned in begun.items()}
        await store.claim_compaction(ids["ready"], secs=LEASE_SECS)
        await store.keep_draft(ids["ready"], draft_of(), attempt=1, extraction="off")
        await store.claim_compaction(ids["dead"], secs=RUN_OUT_SECS)
        await store.claim_compaction(ids["leased"], secs=LEASE_SECS)
        await store.claim_compaction(ids["later"], secs=LEASE_SECS)
        await store.release_compaction(ids["later"], attempt=1, problem="", wait_secs=LEASE_SECS)
        ended = begun["ended"]
        outcome, state = Outcome(state="cancelled", digest="off"), replace(ended.before, revision=3)
        await store.end_compaction(ids["ended"], outcome, state, expected_revision=2, ended_at=LATER)

        async def list_ids(**options: object) -> list[str]:
            given = {"begun_after": LONG_AGO, "limit_count": 99} | options
            return [compaction.id for compaction in await store.list_waiting(**given)]  # type: ignore[arg-type]  # named above

        assert await list_ids() == ["evt_dead", "evt_pending", "evt_ready"]
        assert await list_ids(limit_count=2) == ["evt_dead", "evt_pending"]
        assert await list_ids(begun_after=minute(58)) == ["evt_dead", "evt_pending"]
        assert await list_ids(begun_after=minute(60)) == []

    async def test_a_committed_event_waits_for_its_digest(self, store: Store) -> None:
        """A compaction whose layout is in force already is work as long as it has not ended; a revision never is."""
        record, begun = await open_and_begin(store)
        state = await commit_early(store, begun)
        listed = await store.list_waiting(begun_after=LONG_AGO, limit_count=9)
        assert listed == await list_all(store, record.id)
        revision, done = revise(begun, state)
        await store.revise_compaction(
            begun.compaction.id,
            revision,
            done,
            after_revision(state, revision),
            expected_revision=state.revision,
            outcome=DONE,
        )
        assert await store.list_waiting(begun_after=LONG_AGO, limit_count=9) == []
