"""Compactions in memory: events, digests, layouts and certificates."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from everfold.adapters.inmemory.log import check_next_revision
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.events import ENDED_STATES, CompactionEvent, EventState
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout
from everfold.core.sessions import EventId, SessionId
from everfold.core.state import SessionState
from everfold.errors import ConflictError, InvalidInputError, NotFoundError


class InMemoryCompactions(TablesHolder):
    """The compaction store's methods; see `everfold.ports.stores.CompactionStore`."""

    async def begin_compaction(self, event: CompactionEvent, *, expected_revision: int) -> None:
        """Store a pending event. The session's state must be of the expected revision and stays as it is."""
        tables = self._tables
        tables.check_revision(event.session_id, expected_revision)
        if event.state != "pending":
            raise InvalidInputError(f"event {event.id} begins as {event.state!r}, expected 'pending'", event=event.id)
        if event.id in tables.events:
            raise ConflictError(f"event {event.id} exists already; give the new one an id of its own", event=event.id)
        for other in tables.events.values():
            if other.session_id == event.session_id and other.state not in ENDED_STATES:
                raise ConflictError(
                    f"session {event.session_id}: event {other.id} is {other.state}, so {event.id} cannot begin; "
                    "wait for it, or cancel it",
                    session=event.session_id,
                    event=other.id,
                )
        tables.events[event.id] = event

    async def claim_event(self, event_id: EventId, *, now: datetime, lease_until: datetime) -> CompactionEvent:
        """Make a pending event, or one whose lease has run out, running; counts the attempt."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        if event.state != "pending" and (event.lease_until is None or event.lease_until >= now):
            raise ConflictError(
                f"event {event_id} is {event.state} by a worker whose lease lasts until {event.lease_until}; "
                "leave it alone until then",
                event=event_id,
            )
        claimed = replace(event, state="running", attempts=event.attempts + 1, lease_until=lease_until)
        tables.events[event_id] = claimed
        return claimed

    async def commit_compaction(
        self, event_id: EventId, fold: Fold, state: SessionState, *, expected_revision: int, ended_at: datetime
    ) -> None:
        """Write digests, layout, certificate and report, end the event as done, and put the layout in force."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        tables.check_revision(event.session_id, expected_revision)
        check_next_revision(event.session_id, state, expected_revision)
        if state.event_id != event_id:
            raise InvalidInputError(
                f"event {event_id}: the state to commit names {state.event_id!r} as the event in force; "
                f"expected {event_id!r}",
                event=event_id,
            )
        _check_new_digests(tables, fold)
        tables.digests.update({digest.id: digest for digest in fold.digests})
        tables.layouts[event_id] = fold.layout
        tables.events[event_id] = replace(
            event,
            state="done",
            ended_at=ended_at,
            lease_until=None,
            certificate=fold.certificate,
            report=fold.report,
        )
        tables.states[event.session_id] = state

    async def end_event(self, event_id: EventId, *, state: EventState, ended_at: datetime) -> None:
        """End an event without a commit, as cancelled."""
        tables = self._tables
        event = _get_open_event(tables, event_id)
        if state not in ENDED_STATES or state == "done":
            raise InvalidInputError(
                f"event {event_id} cannot end as {state!r} without a commit; expected 'cancelled'", event=event_id
            )
        tables.events[event_id] = replace(event, state=state, ended_at=ended_at, lease_until=None)

    async def list_events(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[CompactionEvent]:
        """Events of the session's lineage by ordinal, those that have not ended last."""
        tables = self._tables
        last_ordinals = {part.session_id: part.last_ordinal for part in tables.get_session(session_id).lineage}
        events = [
            event
            for event in tables.events.values()
            if event.session_id in last_ordinals
            and after_ordinal < event.ordinal
            and ((last := last_ordinals[event.session_id]) is None or event.ordinal <= last)
        ]
        events.sort(key=lambda event: (event.state not in ENDED_STATES, event.ordinal))
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
