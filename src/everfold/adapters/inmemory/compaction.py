"""Compactions in memory: events, digests, layouts and certificates."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from everfold.adapters.inmemory.log import check_next_revision
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.drafts import Draft
from everfold.core.events import ENDED_STATES, CompactionEvent, Outcome, WorkState
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout
from everfold.core.sessions import EventId, SessionId
from everfold.core.state import SessionState
from everfold.errors import ConflictError, InvalidInputError, NotFoundError


class InMemoryCompactions(TablesHolder):
    """The compaction store's methods; see `everfold.ports.stores.CompactionStore`."""

    async def begin_compaction(self, event: CompactionEvent, state: SessionState, *, expected_revision: int) -> None:
        """Store a pending event, and the state that names it among its held events."""
        tables = self._tables
        if event.state != "pending":
            raise InvalidInputError(f"event {event.id} begins as {event.state!r}, expected 'pending'", event=event.id)
        if event.id in tables.events:
            raise ConflictError(f"event {event.id} exists already; give the new one an id of its own", event=event.id)
        _write_state(tables, event.session_id, state, expected_revision)
        tables.events[event.id] = event

    async def commit_compaction(
        self,
        event_id: EventId,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        committed_at: datetime,
        outcome: Outcome | None,
    ) -> None:
        """Write digests, layout, certificate and report, and put the layout in force."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        if event.is_committed:
            raise ConflictError(f"event {event_id} was committed already; read it again", event=event_id)
        if state.event_id != event_id:
            raise InvalidInputError(
                f"event {event_id}: the state to commit names {state.event_id!r} as the event in force; "
                f"expected {event_id!r}",
                event=event_id,
            )
        _check_new_digests(tables, fold)
        _write_state(tables, event.session_id, state, expected_revision)
        _put_fold(tables, event, fold)
        if outcome is not None:
            _end(tables, event_id, outcome, committed_at)
        elif any(digest.generator == "abstractive" for digest in fold.digests):
            tables.events[event_id] = replace(tables.events[event_id], state="pending", digest="done", draft=None)

    async def revise_compaction(
        self,
        revised_id: EventId,
        revision: CompactionEvent,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        outcome: Outcome | None,
    ) -> None:
        """Store a revision, an event that is done, with what it commits; events that are held move up behind it."""
        tables = self._tables
        revised = _get_open_event(tables, revised_id)
        if not revised.is_committed:
            raise ConflictError(f"event {revised_id} is not committed; commit it first", event=revised_id)
        _check_new_digests(tables, fold)
        _write_state(tables, revision.session_id, state, expected_revision)
        for held in list(tables.events.values()):
            if held.session_id == revision.session_id and not (held.has_ended or held.is_committed):
                tables.events[held.id] = replace(held, ordinal=held.ordinal + 1)
        ended_at = revision.ended_at or revision.begun_at
        _put_fold(tables, replace(revision, ended_at=ended_at, digest="done", revises=revised_id), fold)
        tables.events[revised_id] = replace(revised, state="pending", digest="done", draft=None)
        if outcome is not None:
            _end(tables, revised_id, outcome, ended_at)

    async def end_event(
        self, event_id: EventId, outcome: Outcome, state: SessionState, *, expected_revision: int, ended_at: datetime
    ) -> None:
        """End an event and write a state, without a layout."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        _write_state(tables, event.session_id, state, expected_revision)
        _end(tables, event_id, outcome, ended_at)

    async def reopen_event(self, event_id: EventId, state: SessionState, *, expected_revision: int) -> None:
        """Make a degraded event pending again, its attempts not counted, and write a state."""
        tables = self._tables
        event = tables.get_event(event_id)
        if event.state != "degraded":
            raise ConflictError(
                f"event {event_id} is {event.state}; only a degraded one can be tried again", event=event_id
            )
        _write_state(tables, event.session_id, state, expected_revision)
        extraction = "pending" if event.extraction == "failed" else event.extraction
        tables.events[event_id] = replace(
            event, state="pending", ended_at=None, attempts=0, digest="pending", extraction=extraction, problem=""
        )

    async def list_events(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[CompactionEvent]:
        """Events of the session's lineage by ordinal."""
        tables = self._tables
        last_ordinals = {part.session_id: part.last_ordinal for part in tables.get_session(session_id).lineage}
        events = [
            event
            for event in tables.events.values()
            if event.session_id in last_ordinals
            and after_ordinal < event.ordinal
            and ((last := last_ordinals[event.session_id]) is None or event.ordinal <= last)
        ]
        events.sort(key=lambda event: event.ordinal)
        return events[: max(limit_count, 0)]

    async def read_layout(self, event_id: EventId) -> Layout:
        """The layout that an event committed."""
        tables = self._tables
        event = tables.get_event(event_id)
        layout = tables.layouts.get(event_id)
        if layout is None:
            raise NotFoundError(
                f"event {event_id} is {event.state} and committed no layout; read that of a done event", event=event_id
            )
        return layout

    async def read_digests(self, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """Digests by id; unknown ones are left out. The pool comes with coarse ones."""
        digests = self._tables.digests
        return {id_: digests[id_] for id_ in digest_ids if id_ in digests}


class InMemoryWork(TablesHolder):
    """The work store's methods; see `everfold.ports.compactions.WorkStore`."""

    async def get_event(self, event_id: EventId) -> CompactionEvent:
        """The event with this id."""
        return self._tables.get_event(event_id)

    async def claim_event(self, event_id: EventId, *, now: datetime, lease_until: datetime) -> CompactionEvent:
        """Make an event running that nobody has; counts the attempt."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        if event.state == "ready" or not _is_due(event, now):
            raise ConflictError(
                f"event {event_id} is {event.state} and not to be claimed before {event.lease_until}; leave it alone",
                event=event_id,
            )
        claimed = replace(event, state="running", attempts=event.attempts + 1, lease_until=lease_until)
        tables.events[event_id] = claimed
        return claimed

    async def renew_lease(self, event_id: EventId, *, attempt: int, lease_until: datetime) -> None:
        """Have an event for longer."""
        tables = self._tables
        tables.events[event_id] = replace(_get_attempt(tables, event_id, attempt), lease_until=lease_until)

    async def keep_draft(self, event_id: EventId, draft: Draft, *, attempt: int, extraction: WorkState) -> None:
        """Make a running event ready: its digest is written and waits for its turn, its extraction is as given."""
        tables = self._tables
        event = _get_attempt(tables, event_id, attempt)
        if tables.states[event.session_id].epoch != draft.epoch:
            raise ConflictError(
                f"event {event_id}: a message was erased while its digest was written; write it again", event=event_id
            )
        tables.events[event_id] = replace(event, state="ready", draft=draft, extraction=extraction, problem="")

    async def release_event(
        self, event_id: EventId, *, attempt: int, problem: str, not_before: datetime | None
    ) -> None:
        """Make a running event pending again, to be claimed from a moment on."""
        tables = self._tables
        event = _get_attempt(tables, event_id, attempt)
        tables.events[event_id] = replace(event, state="pending", lease_until=not_before, problem=problem)

    async def list_waiting(self, *, now: datetime, begun_after: datetime, limit_count: int) -> list[CompactionEvent]:
        """Events that nobody works on and somebody could, oldest first."""
        waiting = [
            event
            for event in self._tables.events.values()
            if not event.has_ended and event.begun_at > begun_after and (event.state == "ready" or _is_due(event, now))
        ]
        return sorted(waiting, key=lambda event: event.begun_at)[: max(limit_count, 0)]


def drop_drafts(tables: Tables, session_id: SessionId) -> None:
    """Forget what was written of events that have not ended: it may hold words of an erased message."""
    for event in list(tables.events.values()):
        if event.session_id == session_id and not event.has_ended:
            forgotten = replace(event, draft=None)
            if event.state == "ready":
                forgotten = replace(forgotten, state="pending", lease_until=None)
            tables.events[event.id] = forgotten


def _is_due(event: CompactionEvent, now: datetime) -> bool:
    return event.lease_until is None or event.lease_until < now


def _get_attempt(tables: Tables, event_id: EventId, attempt: int) -> CompactionEvent:
    event = tables.get_event(event_id)
    if event.state != "running" or event.attempts != attempt:
        raise ConflictError(
            f"event {event_id} is {event.state} at attempt {event.attempts}, expected running at attempt {attempt}; "
            "another worker has it",
            event=event_id,
        )
    return event


def _write_state(tables: Tables, session_id: SessionId, state: SessionState, expected_revision: int) -> None:
    tables.check_revision(session_id, expected_revision)
    check_next_revision(session_id, state, expected_revision)
    tables.states[session_id] = state


def _put_fold(tables: Tables, event: CompactionEvent, fold: Fold) -> None:
    tables.digests.update({digest.id: digest for digest in fold.digests})
    tables.layouts[event.id] = fold.layout
    tables.events[event.id] = replace(event, certificate=fold.certificate, report=fold.report)


def _end(tables: Tables, event_id: EventId, outcome: Outcome, ended_at: datetime) -> None:
    tables.events[event_id] = replace(
        tables.events[event_id],
        state=outcome.state,
        ended_at=ended_at,
        lease_until=None,
        digest=outcome.digest,
        extraction=outcome.extraction,
        problem=outcome.problem,
        draft=None,
    )


def _get_open_event(tables: Tables, event_id: EventId) -> CompactionEvent:
    event = tables.get_event(event_id)
    if event.state in ENDED_STATES:
        raise ConflictError(
            f"event {event_id} has ended as {event.state}; read the session's events again", event=event_id
        )
    return event


def _check_new_digests(tables: Tables, fold: Fold) -> None:
    for digest in fold.digests:
        if digest.id in tables.digests:
            raise ConflictError(
                f"digest {digest.id!r} exists already and never changes; make the ids of digests from their event",
                digest=digest.id,
            )
