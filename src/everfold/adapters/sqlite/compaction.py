"""Compaction events, layouts and digests in SQLite."""

import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from everfold.adapters.sqlite.codec import digest_values, read_digest, read_event, to_micros
from everfold.adapters.sqlite.connection import Database
from everfold.adapters.sqlite.log import read_state, write_state
from everfold.adapters.sqlite.places import Places
from everfold.core.certificate import certificate_to_text
from everfold.core.erasing import NewRecord
from everfold.core.events import CompactionEvent, EventState, plan_to_bytes, report_to_text
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout, layout_from_bytes, layout_to_bytes
from everfold.core.sessions import NO_END, EventId, SessionId
from everfold.core.state import SessionState
from everfold.errors import ConflictError, NotFoundError


def begin_compaction(database: Database, places: Places, event: CompactionEvent, expected_revision: int) -> None:
    """See `CompactionStore.begin_compaction`."""
    revision = read_state(database, places, event.session_id).revision
    begun = revision == expected_revision and database.run(
        "insert_event",
        id=event.id,
        session_key=places.place(event.session_id).session_key,
        ordinal=event.ordinal,
        begun_at=to_micros(event.begun_at),
        plan=plan_to_bytes(event.plan),
    )
    if not begun:
        raise ConflictError(
            f"session {event.session_id} is not at revision {expected_revision} with no compaction on its way "
            f"(it is at {revision}); read it again",
            session=event.session_id,
        )


def claim_event(database: Database, event_id: EventId, now: datetime, lease_until: datetime) -> CompactionEvent:
    """See `CompactionStore.claim_event`."""
    claimed = database.run("claim_event", event_id=event_id, now=to_micros(now), lease_until=to_micros(lease_until))
    event = get_event(database, event_id)
    if not claimed:
        raise ConflictError(
            f"event {event_id} cannot be claimed: it is {event.state}, its lease ends at {event.lease_until}",
            event=event_id,
        )
    return event


def get_event(database: Database, event_id: EventId) -> CompactionEvent:
    """One event."""
    row = database.row("find_event", event_id=event_id)
    if row is None:
        raise NotFoundError(f"there is no compaction event {event_id!r}", event=event_id)
    return read_event(row)


def commit_compaction(
    database: Database,
    places: Places,
    event_id: EventId,
    fold: Fold,
    state: SessionState,
    expected_revision: int,
    ended_at: datetime,
) -> None:
    """See `CompactionStore.commit_compaction`."""
    event = get_event(database, event_id)
    committed = database.run(
        "commit_event",
        event_id=event_id,
        ended_at=to_micros(ended_at),
        certificate=certificate_to_text(fold.certificate),
        report=report_to_text(fold.report),
        layout=zlib.compress(layout_to_bytes(fold.layout), 1),
    )
    if not committed:
        raise ConflictError(f"event {event_id} has ended already: it is {event.state}", event=event_id)
    for digest in fold.digests:
        database.run("insert_digest", **digest_values(digest))
    write_state(database, places, event.session_id, state, expected_revision)


def replace_records(database: Database, records: Sequence[NewRecord], digests: Sequence[Digest]) -> None:
    """Put what an erase made again in the place of what events had committed."""
    for digest in digests:
        values = digest_values(digest)
        names = ("id", "generator", "tokens", "content_hash", "reads", "text", "pool")
        database.run("replace_digest", **{name: values[name] for name in names})
    for record in records:
        get_event(database, record.event_id)
        database.run(
            "replace_record",
            event_id=record.event_id,
            certificate=certificate_to_text(record.certificate),
            layout=zlib.compress(layout_to_bytes(record.layout), 1),
        )


def end_event(database: Database, event_id: EventId, state: EventState, ended_at: datetime) -> None:
    """See `CompactionStore.end_event`."""
    if not database.run("end_event", event_id=event_id, state=state, ended_at=to_micros(ended_at)):
        event = get_event(database, event_id)
        raise ConflictError(f"event {event_id} has ended already: it is {event.state}", event=event_id)


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
