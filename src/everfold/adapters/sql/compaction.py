"""Compactions, layouts and digests in SQL."""

import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn, cast

from everfold.adapters.sql.codec import (
    digest_values,
    read_compaction,
    read_digest,
    to_duration,
    to_micros,
    told_to_text,
)
from everfold.adapters.sql.database import Bound, Database
from everfold.adapters.sql.log import read_state, write_state
from everfold.adapters.sql.packing import deflate, pack_row
from everfold.adapters.sql.places import Place, Places
from everfold.core.compaction.certificate import certificate_to_text
from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.layout import Layout, layout_from_bytes, layout_to_bytes
from everfold.core.compaction.record import Compaction, Outcome, plan_to_bytes, report_to_text
from everfold.core.compaction.transitions import WorkState
from everfold.core.digests.drafts import Draft, draft_to_bytes
from everfold.core.forgetting.messages import NewRecord
from everfold.core.log.sessions import NO_END
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import ConflictError, NotFoundError


def begin_compaction(
    database: Database, places: Places, compaction: Compaction, state: SessionState, *, expected_revision: int
) -> None:
    """See `CompactionStore.begin_compaction`."""
    write_state(database, places, compaction.session_id, state, expected_revision=expected_revision)
    database.run(
        "insert_compaction",
        id=compaction.id,
        **places.place(compaction.session_id).keys,
        ordinal=compaction.ordinal,
        begun_at=to_micros(compaction.begun_at),
        plan=pack_row(plan_to_bytes(compaction.plan)),
        digest=compaction.digest,
        extraction=compaction.extraction,
    )


def get_compaction(database: Database, compaction_id: CompactionId) -> Compaction:
    """See `WorkStore.get_compaction`."""
    row = database.row("find_compaction", compaction_id=compaction_id)
    if row is None:
        raise _unknown(compaction_id)
    return read_compaction(row)


def _session_of(database: Database, compaction_id: CompactionId) -> SessionId:
    """Whose compaction it is, without reading its plan."""
    row = database.row("find_event_session", compaction_id=compaction_id)
    if row is None:
        raise _unknown(compaction_id)
    return SessionId(cast("str", row[0]))


def _unknown(compaction_id: CompactionId) -> NotFoundError:
    return NotFoundError(f"there is no compaction {compaction_id!r}", compaction=compaction_id)


def commit_compaction(
    database: Database,
    places: Places,
    compaction_id: CompactionId,
    fold: Fold,
    state: SessionState,
    *,
    expected_revision: int,
    committed_at: datetime,
    outcome: Outcome | None,
) -> None:
    """See `CompactionStore.commit_compaction`."""
    session_id = _session_of(database, compaction_id)
    write_state(database, places, session_id, state, expected_revision=expected_revision)
    if not database.run("commit_compaction", compaction_id=compaction_id, **_fold_values(fold)):
        compaction = get_compaction(database, compaction_id)
        raise ConflictError(
            f"compaction {compaction_id} was committed or has ended already: it is {compaction.state}",
            compaction=compaction_id,
        )
    _insert_digests(database, places.place(session_id), fold)
    if outcome is not None:
        _end(database, compaction_id, outcome, committed_at)
    elif any(digest.generator == "abstractive" for digest in fold.digests):
        database.run("settle_digest", compaction_id=compaction_id)


def _insert_digests(database: Database, place: Place, fold: Fold) -> None:
    for digest in fold.digests:
        database.run("insert_digest", user_key=place.user_key, **digest_values(digest))


def _fold_values(fold: Fold) -> dict[str, str | bytes]:
    return {
        "certificate": deflate(certificate_to_text(fold.certificate)),
        "report": report_to_text(fold.report),
        "layout": zlib.compress(layout_to_bytes(fold.layout), 1),
    }


def revise_compaction(
    database: Database,
    places: Places,
    revised_id: CompactionId,
    revision: Compaction,
    fold: Fold,
    state: SessionState,
    *,
    expected_revision: int,
    outcome: Outcome | None,
) -> None:
    """See `CompactionStore.revise_compaction`."""
    write_state(database, places, revision.session_id, state, expected_revision=expected_revision)
    place = places.place(revision.session_id)
    if not database.run("settle_digest", compaction_id=revised_id):
        raise ConflictError(
            f"compaction {revised_id} cannot be revised: it is {get_compaction(database, revised_id).state}",
            compaction=revised_id,
        )
    database.run("move_up_held", **place.keys)
    ended_at = revision.ended_at or revision.begun_at
    database.run(
        "insert_revision",
        id=revision.id,
        **place.keys,
        ordinal=revision.ordinal,
        begun_at=to_micros(revision.begun_at),
        ended_at=to_micros(ended_at),
        plan=pack_row(plan_to_bytes(revision.plan)),
        revises=revised_id,
        **_fold_values(fold),
    )
    _insert_digests(database, place, fold)
    if outcome is not None:
        _end(database, revised_id, outcome, ended_at)


def end_compaction(
    database: Database,
    places: Places,
    compaction_id: CompactionId,
    outcome: Outcome,
    state: SessionState,
    *,
    expected_revision: int,
    ended_at: datetime,
) -> None:
    """See `CompactionStore.end_compaction`."""
    write_state(database, places, _session_of(database, compaction_id), state, expected_revision=expected_revision)
    _end(database, compaction_id, outcome, ended_at)


def _end(database: Database, compaction_id: CompactionId, outcome: Outcome, ended_at: datetime) -> None:
    ended = database.run(
        "end_compaction",
        compaction_id=compaction_id,
        state=outcome.state,
        ended_at=to_micros(ended_at),
        digest=outcome.digest,
        extraction=outcome.extraction,
        problem=told_to_text(outcome.problem),
    )
    if not ended:
        compaction = get_compaction(database, compaction_id)
        raise ConflictError(
            f"compaction {compaction_id} cannot end as {outcome.state}: it is {compaction.state}, "
            f"{'committed' if compaction.is_committed else 'held'}",
            compaction=compaction_id,
        )


def reopen_compaction(
    database: Database, places: Places, compaction_id: CompactionId, state: SessionState, *, expected_revision: int
) -> None:
    """See `CompactionStore.reopen_compaction`."""
    write_state(database, places, _session_of(database, compaction_id), state, expected_revision=expected_revision)
    if not database.run("reopen_compaction", compaction_id=compaction_id):
        compaction = get_compaction(database, compaction_id)
        raise ConflictError(
            f"compaction {compaction_id} is {compaction.state}; only a degraded one can be tried again",
            compaction=compaction_id,
        )


def claim_compaction(database: Database, compaction_id: CompactionId, *, secs: float) -> Compaction:
    """See `WorkStore.claim_compaction`."""
    claimed = database.run("claim_compaction", compaction_id=compaction_id, duration=to_duration(secs))
    compaction = get_compaction(database, compaction_id)
    if not claimed:
        raise ConflictError(
            f"compaction {compaction_id} cannot be claimed: it is {compaction.state}, its lease ends at {compaction.lease_until}",
            compaction=compaction_id,
        )
    return compaction


def renew_compaction(database: Database, compaction_id: CompactionId, *, attempt: int, secs: float) -> None:
    """See `WorkStore.renew_compaction`."""
    if not database.run("renew_compaction", compaction_id=compaction_id, attempt=attempt, duration=to_duration(secs)):
        _refuse_attempt(database, compaction_id, attempt)


def keep_draft(
    database: Database,
    places: Places,
    compaction_id: CompactionId,
    draft: Draft,
    *,
    attempt: int,
    extraction: WorkState,
) -> None:
    """See `WorkStore.keep_draft`."""
    content = draft_to_bytes(draft)
    if not database.run(
        "keep_draft", compaction_id=compaction_id, attempt=attempt, draft=content, extraction=extraction
    ):
        _refuse_attempt(database, compaction_id, attempt)
    if read_state(database, places, _session_of(database, compaction_id)).epoch != draft.epoch:
        raise ConflictError(
            f"compaction {compaction_id}: a message was erased while its digest was written; write it again",
            compaction=compaction_id,
        )


def release_compaction(
    database: Database, compaction_id: CompactionId, *, attempt: int, problem: str, wait_secs: float | None
) -> None:
    """See `WorkStore.release_compaction`."""
    if not database.run(
        "release_compaction",
        compaction_id=compaction_id,
        attempt=attempt,
        problem=told_to_text(problem),
        duration=None if wait_secs is None else to_duration(wait_secs),
    ):
        _refuse_attempt(database, compaction_id, attempt)


def _refuse_attempt(database: Database, compaction_id: CompactionId, attempt: int) -> NoReturn:
    compaction = get_compaction(database, compaction_id)
    raise ConflictError(
        f"compaction {compaction_id} is {compaction.state} at attempt {compaction.attempts}, expected running at attempt {attempt}; "
        "another worker has it",
        compaction=compaction_id,
    )


def list_waiting(database: Database, *, begun_after: datetime, limit_count: int) -> list[Compaction]:
    """See `WorkStore.list_waiting`."""
    rows = database.rows("list_waiting", begun_after=to_micros(begun_after), limit_count=limit_count)
    return [read_compaction(row) for row in rows]


def drop_drafts(database: Database, places: Places, session_id: SessionId) -> None:
    """Forget what was written of compactions that have not ended: it may hold words of a retracted message."""
    database.run("drop_drafts", **places.place(session_id).keys, is_erase=False)


def replace_records(database: Database, records: Sequence[NewRecord], digests: Sequence[Digest]) -> None:
    """Put what an erase made again in the place of what compactions had committed."""
    names = ("id", "generator", "tokens", "content_hash", "reads", "text", "pool")
    made = [digest_values(digest) for digest in digests]
    asked: list[Bound] = [("replace_digest", {name: values[name] for name in names}) for values in made]
    asked += [
        (
            "replace_record",
            {
                "compaction_id": record.compaction_id,
                "certificate": deflate(certificate_to_text(record.certificate)),
                "layout": zlib.compress(layout_to_bytes(record.layout), 1),
            },
        )
        for record in records
    ]
    changed = database.run_all(asked)[len(made) :]
    for record, count in zip(records, changed, strict=True):
        if not count:
            _session_of(database, record.compaction_id)  # refuses one that is not there


def list_compactions(
    database: Database, places: Places, session_id: SessionId, *, after_ordinal: int, limit_count: int
) -> list[Compaction]:
    """See `CompactionStore.list_compactions`."""
    compactions: list[Compaction] = []
    for segment in places.place(session_id).lineage:
        if len(compactions) >= limit_count:
            break
        rows = database.rows(
            "list_compactions",
            session_id=segment.session_id,
            after_ordinal=after_ordinal,
            last_ordinal=NO_END if segment.last_ordinal is None else segment.last_ordinal,
            limit_count=limit_count - len(compactions),
        )
        compactions.extend(read_compaction(row) for row in rows)
        after_ordinal = max(after_ordinal, segment.last_ordinal or 0)
    return compactions


def read_layout(database: Database, compaction_id: CompactionId) -> Layout:
    """See `CompactionStore.read_layout`."""
    return read_layouts(database, [compaction_id])[0]


def read_layouts(database: Database, compaction_ids: Sequence[CompactionId]) -> list[Layout]:
    """See `CompactionStore.read_layouts`."""
    found = database.rows_each("read_layout", [{"compaction_id": compaction_id} for compaction_id in compaction_ids])
    layouts: list[Layout] = []
    for compaction_id, rows in zip(compaction_ids, found, strict=True):
        if not rows or rows[0][0] is None:
            raise NotFoundError(f"compaction {compaction_id!r} has committed no layout", compaction=compaction_id)
        layouts.append(layout_from_bytes(zlib.decompress(cast("bytes", rows[0][0]))))
    return layouts


def read_digests(database: Database, digest_ids: Sequence[str]) -> dict[str, Digest]:
    """See `CompactionStore.read_digests`."""
    found = database.rows_each("read_digest", [{"digest_id": digest_id} for digest_id in digest_ids])
    return {digest.id: digest for rows in found for row in rows for digest in [read_digest(row)]}
