"""Compaction events, layouts and digests in SQLite."""

import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn, cast

from everfold.adapters.sqlite.codec import digest_values, read_digest, read_event, to_micros
from everfold.adapters.sqlite.connection import Database
from everfold.adapters.sqlite.log import read_state, write_state
from everfold.adapters.sqlite.places import Places
from everfold.core.certificate import certificate_to_text
from everfold.core.drafts import Draft, draft_to_bytes
from everfold.core.erasing import NewRecord
from everfold.core.events import CompactionEvent, Outcome, WorkState, plan_to_bytes, report_to_text
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout, layout_from_bytes, layout_to_bytes
from everfold.core.sessions import NO_END, EventId, SessionId
from everfold.core.state import SessionState
from everfold.errors import ConflictError, NotFoundError


def begin_compaction(
    database: Database, places: Places, event: CompactionEvent, state: SessionState, expected_revision: int
) -> None:
    """See `CompactionStore.begin_compaction`."""
    write_state(database, places, event.session_id, state, expected_revision)
    database.run(
        "insert_event",
        id=event.id,
        session_key=places.place(event.session_id).session_key,
        ordinal=event.ordinal,
        begun_at=to_micros(event.begun_at),
        plan=plan_to_bytes(event.plan),
        digest=event.digest,
        extraction=event.extraction,
    )


def get_event(database: Database, event_id: EventId) -> CompactionEvent:
    """See `WorkStore.get_event`."""
    row = database.row("find_event", event_id=event_id)
    if row is None:
        raise _unknown(event_id)
    return read_event(row)


def _session_of(database: Database, event_id: EventId) -> SessionId:
    """Whose event it is, without reading its plan."""
    row = database.row("find_event_session", event_id=event_id)
    if row is None:
        raise _unknown(event_id)
    return SessionId(cast("str", row[0]))


def _unknown(event_id: EventId) -> NotFoundError:
    return NotFoundError(f"there is no compaction event {event_id!r}", event=event_id)


def commit_compaction(
    database: Database,
    places: Places,
    event_id: EventId,
    fold: Fold,
    state: SessionState,
    expected_revision: int,
    committed_at: datetime,
    outcome: Outcome | None,
) -> None:
    """See `CompactionStore.commit_compaction`."""
    write_state(database, places, _session_of(database, event_id), state, expected_revision)
    if not database.run("commit_event", event_id=event_id, **_fold_values(fold)):
        event = get_event(database, event_id)
        raise ConflictError(f"event {event_id} was committed or has ended already: it is {event.state}", event=event_id)
    for digest in fold.digests:
        database.run("insert_digest", **digest_values(digest))
    if outcome is not None:
        _end(database, event_id, outcome, committed_at)
    elif any(digest.generator == "abstractive" for digest in fold.digests):
        database.run("settle_digest", event_id=event_id)


def _fold_values(fold: Fold) -> dict[str, str | bytes]:
    return {
        "certificate": certificate_to_text(fold.certificate),
        "report": report_to_text(fold.report),
        "layout": zlib.compress(layout_to_bytes(fold.layout), 1),
    }


def revise_compaction(
    database: Database,
    places: Places,
    revised_id: EventId,
    revision: CompactionEvent,
    fold: Fold,
    state: SessionState,
    expected_revision: int,
    outcome: Outcome | None,
) -> None:
    """See `CompactionStore.revise_compaction`."""
    write_state(database, places, revision.session_id, state, expected_revision)
    session_key = places.place(revision.session_id).session_key
    if not database.run("settle_digest", event_id=revised_id):
        raise ConflictError(
            f"event {revised_id} cannot be revised: it is {get_event(database, revised_id).state}", event=revised_id
        )
    database.run("move_up_held", session_key=session_key)
    ended_at = revision.ended_at or revision.begun_at
    database.run(
        "insert_revision",
        id=revision.id,
        session_key=session_key,
        ordinal=revision.ordinal,
        begun_at=to_micros(revision.begun_at),
        ended_at=to_micros(ended_at),
        plan=plan_to_bytes(revision.plan),
        revises=revised_id,
        **_fold_values(fold),
    )
    for digest in fold.digests:
        database.run("insert_digest", **digest_values(digest))
    if outcome is not None:
        _end(database, revised_id, outcome, ended_at)


def end_event(
    database: Database,
    places: Places,
    event_id: EventId,
    outcome: Outcome,
    state: SessionState,
    expected_revision: int,
    ended_at: datetime,
) -> None:
    """See `CompactionStore.end_event`."""
    write_state(database, places, _session_of(database, event_id), state, expected_revision)
    _end(database, event_id, outcome, ended_at)


def _end(database: Database, event_id: EventId, outcome: Outcome, ended_at: datetime) -> None:
    ended = database.run(
        "end_event",
        event_id=event_id,
        state=outcome.state,
        ended_at=to_micros(ended_at),
        digest=outcome.digest,
        extraction=outcome.extraction,
        problem=outcome.problem,
    )
    if not ended:
        event = get_event(database, event_id)
        raise ConflictError(f"event {event_id} has ended already: it is {event.state}", event=event_id)


def reopen_event(
    database: Database, places: Places, event_id: EventId, state: SessionState, expected_revision: int
) -> None:
    """See `CompactionStore.reopen_event`."""
    write_state(database, places, _session_of(database, event_id), state, expected_revision)
    if not database.run("reopen_event", event_id=event_id):
        event = get_event(database, event_id)
        raise ConflictError(
            f"event {event_id} is {event.state}; only a degraded one can be tried again", event=event_id
        )


def claim_event(database: Database, event_id: EventId, now: datetime, lease_until: datetime) -> CompactionEvent:
    """See `WorkStore.claim_event`."""
    claimed = database.run("claim_event", event_id=event_id, now=to_micros(now), lease_until=to_micros(lease_until))
    event = get_event(database, event_id)
    if not claimed:
        raise ConflictError(
            f"event {event_id} cannot be claimed: it is {event.state}, its lease ends at {event.lease_until}",
            event=event_id,
        )
    return event


def renew_lease(database: Database, event_id: EventId, attempt: int, lease_until: datetime) -> None:
    """See `WorkStore.renew_lease`."""
    if not database.run("renew_lease", event_id=event_id, attempt=attempt, lease_until=to_micros(lease_until)):
        _refuse_attempt(database, event_id, attempt)


def keep_draft(
    database: Database, places: Places, event_id: EventId, draft: Draft, attempt: int, extraction: WorkState
) -> None:
    """See `WorkStore.keep_draft`."""
    content = draft_to_bytes(draft)
    if not database.run("keep_draft", event_id=event_id, attempt=attempt, draft=content, extraction=extraction):
        _refuse_attempt(database, event_id, attempt)
    if read_state(database, places, _session_of(database, event_id)).epoch != draft.epoch:
        raise ConflictError(
            f"event {event_id}: a message was erased while its digest was written; write it again", event=event_id
        )


def release_event(
    database: Database, event_id: EventId, attempt: int, problem: str, not_before: datetime | None
) -> None:
    """See `WorkStore.release_event`."""
    moment = None if not_before is None else to_micros(not_before)
    if not database.run("release_event", event_id=event_id, attempt=attempt, problem=problem, not_before=moment):
        _refuse_attempt(database, event_id, attempt)


def _refuse_attempt(database: Database, event_id: EventId, attempt: int) -> NoReturn:
    event = get_event(database, event_id)
    raise ConflictError(
        f"event {event_id} is {event.state} at attempt {event.attempts}, expected running at attempt {attempt}; "
        "another worker has it",
        event=event_id,
    )


def list_waiting(database: Database, now: datetime, begun_after: datetime, limit_count: int) -> list[CompactionEvent]:
    """See `WorkStore.list_waiting`."""
    rows = database.rows(
        "list_waiting", now=to_micros(now), begun_after=to_micros(begun_after), limit_count=limit_count
    )
    return [read_event(row) for row in rows]


def drop_drafts(database: Database, places: Places, session_id: SessionId) -> None:
    """Forget what was written of events that have not ended: it may hold words of an erased message."""
    database.run("drop_drafts", session_key=places.place(session_id).session_key)


def replace_records(database: Database, records: Sequence[NewRecord], digests: Sequence[Digest]) -> None:
    """Put what an erase made again in the place of what events had committed."""
    for digest in digests:
        values = digest_values(digest)
        names = ("id", "generator", "tokens", "content_hash", "reads", "text", "pool")
        database.run("replace_digest", **{name: values[name] for name in names})
    for record in records:
        _session_of(database, record.event_id)
        database.run(
            "replace_record",
            event_id=record.event_id,
            certificate=certificate_to_text(record.certificate),
            layout=zlib.compress(layout_to_bytes(record.layout), 1),
        )


def list_events(
    database: Database, places: Places, session_id: SessionId, after_ordinal: int, limit_count: int
) -> list[CompactionEvent]:
    """See `CompactionStore.list_events`."""
    events: list[CompactionEvent] = []
    for segment in places.place(session_id).lineage:
        rows = database.rows(
            "list_events",
            session_id=segment.session_id,
            after_ordinal=after_ordinal,
            last_ordinal=NO_END if segment.last_ordinal is None else segment.last_ordinal,
            limit_count=limit_count - len(events),
        )
        events.extend(read_event(row) for row in rows)
        after_ordinal = max(after_ordinal, segment.last_ordinal or 0)
    return events


def read_layout(database: Database, event_id: EventId) -> Layout:
    """See `CompactionStore.read_layout`."""
    row = database.row("read_layout", event_id=event_id)
    if row is None or row[0] is None:
        raise NotFoundError(f"event {event_id!r} has committed no layout", event=event_id)
    return layout_from_bytes(zlib.decompress(cast("bytes", row[0])))


def read_digests(database: Database, digest_ids: Sequence[str]) -> dict[str, Digest]:
    """See `CompactionStore.read_digests`."""
    rows = (database.row("read_digest", digest_id=digest_id) for digest_id in digest_ids)
    return {digest.id: digest for row in rows if row is not None for digest in [read_digest(row)]}
