"""Compactions in memory: compactions, digests, layouts and certificates."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from everfold.adapters.inmemory.log import check_next_revision
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.record import Compaction, Outcome, find_next_state
from everfold.core.compaction.transitions import (
    COMPACTION,
    Cause,
    CompactionState,
    WorkState,
    move_digest,
    move_extraction,
)
from everfold.core.digests.drafts import Draft
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import ConflictError, InvalidInputError, NotFoundError


class InMemoryCompactions(TablesHolder):
    """The compaction store's methods; see `everfold.ports.stores.CompactionStore`."""

    async def begin_compaction(self, compaction: Compaction, state: SessionState, *, expected_revision: int) -> None:
        """Store a compaction, and the state that names it among its pending ones."""
        tables = self._tables
        if compaction.state != COMPACTION["begin"][None]:
            raise InvalidInputError(
                f"compaction {compaction.id} begins as {compaction.state!r}, expected 'pending'",
                compaction=compaction.id,
            )
        if compaction.id in tables.compactions:
            raise ConflictError(
                f"compaction {compaction.id} exists already; give the new one an id of its own",
                compaction=compaction.id,
            )
        _write_state(tables, compaction.session_id, state, expected_revision)
        tables.compactions[compaction.id] = compaction

    async def commit_compaction(
        self,
        compaction_id: CompactionId,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        committed_at: datetime,
        outcome: Outcome | None,
    ) -> None:
        """Write digests, layout, certificate and report, and put the layout in force."""
        tables = self._tables
        compaction = _move(tables.get_compaction(compaction_id), "commit")
        if state.compaction_id != compaction_id:
            raise InvalidInputError(
                f"compaction {compaction_id}: the state to commit names {state.compaction_id!r} as in force; "
                f"expected {compaction_id!r}",
                compaction=compaction_id,
            )
        _check_new_digests(tables, fold)
        _write_state(tables, compaction.session_id, state, expected_revision)
        _put_fold(tables, compaction, fold)
        if outcome is not None:
            _end(tables, compaction_id, outcome, committed_at)
        elif any(digest.generator == "abstractive" for digest in fold.digests):
            tables.compactions[compaction_id] = _settle_digest(tables.compactions[compaction_id])

    async def revise_compaction(
        self,
        revised_id: CompactionId,
        revision: Compaction,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        outcome: Outcome | None,
    ) -> None:
        """Store a revision, a compaction that is done, with what it commits. Held compactions move up behind it."""
        tables = self._tables
        revised = _settle_digest(tables.get_compaction(revised_id))
        _check_new_digests(tables, fold)
        _write_state(tables, revision.session_id, state, expected_revision)
        for held in list(tables.compactions.values()):
            if held.session_id == revision.session_id and not (held.has_ended or held.is_committed):
                tables.compactions[held.id] = replace(held, ordinal=held.ordinal + 1)
        ended_at = revision.ended_at or revision.begun_at
        _put_fold(tables, replace(revision, ended_at=ended_at, digest="done", revises=revised_id), fold)
        tables.compactions[revised_id] = revised
        if outcome is not None:
            _end(tables, revised_id, outcome, ended_at)

    async def end_compaction(
        self,
        compaction_id: CompactionId,
        outcome: Outcome,
        state: SessionState,
        *,
        expected_revision: int,
        ended_at: datetime,
    ) -> None:
        """End a compaction and write a state, without a layout."""
        tables = self._tables
        compaction = tables.get_compaction(compaction_id)
        _require_next(compaction, outcome.state)
        _write_state(tables, compaction.session_id, state, expected_revision)
        _end(tables, compaction_id, outcome, ended_at)

    async def reopen_compaction(
        self, compaction_id: CompactionId, state: SessionState, *, expected_revision: int
    ) -> None:
        """Make a degraded compaction pending again, its attempts not counted, and write a state."""
        tables = self._tables
        compaction = _move(tables.get_compaction(compaction_id), "reopen")
        _write_state(tables, compaction.session_id, state, expected_revision)
        digest, extraction = move_digest(compaction.digest, "reopen"), move_extraction(compaction.extraction, "reopen")
        tables.compactions[compaction_id] = replace(
            compaction, ended_at=None, attempts=0, digest=digest, extraction=extraction, problem=""
        )

    async def list_compactions(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[Compaction]:
        """Compactions of the session's lineage by ordinal."""
        tables = self._tables
        last_ordinals = {part.session_id: part.last_ordinal for part in tables.get_session(session_id).lineage}
        compactions = [
            compaction
            for compaction in tables.compactions.values()
            if compaction.session_id in last_ordinals
            and after_ordinal < compaction.ordinal
            and ((last := last_ordinals[compaction.session_id]) is None or compaction.ordinal <= last)
        ]
        compactions.sort(key=lambda compaction: compaction.ordinal)
        return compactions[: max(limit_count, 0)]

    async def read_layout(self, compaction_id: CompactionId) -> Layout:
        """The layout that a compaction committed."""
        tables = self._tables
        compaction = tables.get_compaction(compaction_id)
        layout = tables.layouts.get(compaction_id)
        if layout is None:
            raise NotFoundError(
                f"compaction {compaction_id} is {compaction.state} and committed no layout; read that of a done compaction",
                compaction=compaction_id,
            )
        return layout

    async def read_digests(self, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """Digests by id; unknown ones are left out. The pool comes with coarse ones."""
        digests = self._tables.digests
        return {id_: digests[id_] for id_ in digest_ids if id_ in digests}


class InMemoryWork(TablesHolder):
    """The work store's methods; see `everfold.ports.compactions.WorkStore`."""

    async def get_compaction(self, compaction_id: CompactionId) -> Compaction:
        """The compaction with this id."""
        return self._tables.get_compaction(compaction_id)

    async def claim_compaction(
        self, compaction_id: CompactionId, *, now: datetime, lease_until: datetime
    ) -> Compaction:
        """Make a compaction running that no worker has claimed; counts the attempt."""
        tables = self._tables
        compaction = tables.get_compaction(compaction_id)
        if not _is_due(compaction, now):
            raise ConflictError(
                f"compaction {compaction_id} is {compaction.state} and cannot be claimed before {compaction.lease_until}",
                compaction=compaction_id,
            )
        claimed = replace(_move(compaction, "claim"), attempts=compaction.attempts + 1, lease_until=lease_until)
        tables.compactions[compaction_id] = claimed
        return claimed

    async def renew_lease(self, compaction_id: CompactionId, *, attempt: int, lease_until: datetime) -> None:
        """Have a compaction for longer."""
        tables = self._tables
        compaction = _move_attempt(tables, compaction_id, attempt, "renew")
        tables.compactions[compaction_id] = replace(compaction, lease_until=lease_until)

    async def keep_draft(
        self, compaction_id: CompactionId, draft: Draft, *, attempt: int, extraction: WorkState
    ) -> None:
        """Make a running compaction ready: its digest is written and waits for its turn, its extraction is as given."""
        tables = self._tables
        compaction = _move_attempt(tables, compaction_id, attempt, "keep draft")
        if tables.states[compaction.session_id].epoch != draft.epoch:
            raise ConflictError(
                f"compaction {compaction_id}: a message was erased while its digest was written; write it again",
                compaction=compaction_id,
            )
        tables.compactions[compaction_id] = replace(compaction, draft=draft, extraction=extraction, problem="")

    async def release_compaction(
        self, compaction_id: CompactionId, *, attempt: int, problem: str, not_before: datetime | None
    ) -> None:
        """Make a running compaction pending again, to be claimed from a moment on."""
        tables = self._tables
        compaction = _move_attempt(tables, compaction_id, attempt, "release")
        tables.compactions[compaction_id] = replace(compaction, lease_until=not_before, problem=problem)

    async def list_waiting(self, *, now: datetime, begun_after: datetime, limit_count: int) -> list[Compaction]:
        """Compactions without a worker that can be claimed or committed, oldest first."""
        waiting = [
            compaction
            for compaction in self._tables.compactions.values()
            if not compaction.has_ended
            and compaction.begun_at > begun_after
            and (compaction.state == "ready" or _is_due(compaction, now))
        ]
        return sorted(waiting, key=lambda compaction: compaction.begun_at)[: max(limit_count, 0)]


def drop_drafts(tables: Tables, session_id: SessionId) -> None:
    """Forget what was written of compactions that have not ended: it may hold words of an erased message."""
    for compaction in list(tables.compactions.values()):
        if compaction.session_id == session_id and not compaction.has_ended:
            forgotten = replace(_move(compaction, "erase"), draft=None)
            has_moved = forgotten.state != compaction.state
            tables.compactions[compaction.id] = replace(forgotten, lease_until=None) if has_moved else forgotten


def _is_due(compaction: Compaction, now: datetime) -> bool:
    return compaction.lease_until is None or compaction.lease_until < now


def _move(compaction: Compaction, cause: Cause) -> Compaction:
    """The compaction in its next state."""
    return replace(compaction, state=_require_next(compaction, cause))


def _require_next(compaction: Compaction, cause: Cause) -> CompactionState:
    state = find_next_state(compaction, cause)
    if state is None:
        is_shown = "committed" if compaction.is_committed else "held"
        raise ConflictError(
            f"compaction {compaction.id} is {compaction.state}, {is_shown}, and cannot take {cause!r}; read it again",
            compaction=compaction.id,
        )
    return state


def _move_attempt(tables: Tables, compaction_id: CompactionId, attempt: int, cause: Cause) -> Compaction:
    compaction = _move(tables.get_compaction(compaction_id), cause)
    if compaction.attempts != attempt:
        raise ConflictError(
            f"compaction {compaction_id} is at attempt {compaction.attempts}, expected attempt {attempt}; another worker has it",
            compaction=compaction_id,
        )
    return compaction


def _settle_digest(compaction: Compaction) -> Compaction:
    return replace(_move(compaction, "digest"), digest=move_digest(compaction.digest, "succeed"), draft=None)


def _write_state(tables: Tables, session_id: SessionId, state: SessionState, expected_revision: int) -> None:
    tables.check_revision(session_id, expected_revision)
    check_next_revision(session_id, state, expected_revision)
    tables.states[session_id] = state


def _put_fold(tables: Tables, compaction: Compaction, fold: Fold) -> None:
    tables.digests.update({digest.id: digest for digest in fold.digests})
    tables.layouts[compaction.id] = fold.layout
    tables.compactions[compaction.id] = replace(compaction, certificate=fold.certificate, report=fold.report)


def _end(tables: Tables, compaction_id: CompactionId, outcome: Outcome, ended_at: datetime) -> None:
    tables.compactions[compaction_id] = replace(
        _move(tables.compactions[compaction_id], outcome.state),
        ended_at=ended_at,
        lease_until=None,
        digest=outcome.digest,
        extraction=outcome.extraction,
        problem=outcome.problem,
        draft=None,
    )


def _check_new_digests(tables: Tables, fold: Fold) -> None:
    for digest in fold.digests:
        if digest.id in tables.digests:
            raise ConflictError(
                f"digest {digest.id!r} exists already and never changes; make the ids of digests from their compaction",
                digest=digest.id,
            )
