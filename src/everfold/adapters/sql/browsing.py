"""Browsing in SQL. Each function is one call of the port, inside the transaction that the store opened."""

import json
import zlib
from collections.abc import Sequence
from typing import Final, cast

from everfold.adapters.sql.codec import read_compaction, read_message
from everfold.adapters.sql.database import Database
from everfold.adapters.sql.places import Places
from everfold.adapters.sql.sessions import find_owner_keys, find_place, read_sessions
from everfold.core.compaction.record import Compaction
from everfold.core.log.search_filters import ANY_SESSION, SessionFilter
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.log.state import state_from_bytes
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.ports.browsing import SessionEnds, SessionFigures

_HEAD_BYTES: Final = 512
"""Enough of a compressed layout for its first number. Source: RFC 1951, 3.2.7: the code tables of a block take at most
some 320 bytes."""
_ALL_BYTES: Final = 2**31 - 1


def list_newest_sessions(
    database: Database,
    *,
    user_id: UserId | None,
    agent_id: AgentId | None,
    before: SessionId | None,
    limit_count: int,
    only: SessionFilter = ANY_SESSION,
) -> list[SessionRecord]:
    """See `BrowsingStore.list_newest_sessions`."""
    before_key = NO_END if before is None else find_place(database, before)
    owner = find_owner_keys(database, user_id, agent_id)
    return read_sessions(database, "list_newest_sessions", owner, only, limit_count, before_key=before_key)


def read_figures(database: Database, session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
    """See `BrowsingStore.read_figures`."""
    figures: dict[SessionId, SessionFigures] = {}
    for id_, content in database.rows("read_states", ids=json.dumps(list(session_ids))):
        state = state_from_bytes(cast("bytes", content), revision=0)
        figures[SessionId(cast("str", id_))] = SessionFigures(
            last_seq=state.last_seq,
            watermark=_peek_watermark(database, CompactionId(state.compaction_id)) if state.compaction_id else 0,
            epoch=state.epoch,
            active_at=state.active_at,
        )
    return figures


def read_ends(
    database: Database, places: Places, session_ids: Sequence[SessionId], *, most_bytes: int
) -> dict[SessionId, SessionEnds]:
    """See `BrowsingStore.read_ends`. One look for the states, and one for each session."""
    ends: dict[SessionId, SessionEnds] = {}
    for id_, content in database.rows("read_states", ids=json.dumps(list(session_ids))):
        session_id, state = SessionId(cast("str", id_)), state_from_bytes(cast("bytes", content), revision=0)
        seqs = sorted({state.head_seq or state.turn_seq, state.turn_seq, state.last_seq} - {0})
        ranges = [{**bound, "most_bytes": most_bytes} for bound in places.ranges(session_id, seqs)]
        found = {
            message.seq: message
            for rows in database.rows_each("read_short_messages", ranges)
            for message in map(read_message, rows)
        }
        ends[session_id] = SessionEnds(
            first=found.get(state.head_seq or state.turn_seq),
            newest=found.get(state.last_seq),
            asked=found.get(state.turn_seq),
        )
    return ends


def _peek_watermark(database: Database, compaction_id: CompactionId) -> int:
    """The first number of a layout, without reading all of it."""
    for bytes_count in (_HEAD_BYTES, _ALL_BYTES):
        row = database.row("peek_layout", compaction_id=compaction_id, bytes_count=bytes_count)
        if row is None or row[0] is None:
            return 0
        first, comma, _ = zlib.decompressobj().decompress(cast("bytes", row[0]), 32).partition(b",")
        if comma:
            return int(first.removeprefix(b"["))
    return 0


def list_refreshes(database: Database, places: Places, session_id: SessionId) -> list[int]:
    """See `BrowsingStore.list_refreshes`."""
    return [
        cast("int", row[0])
        for bound in places.ranges(session_id, range(1, NO_END))
        for row in database.rows("list_refreshes", **bound)
    ]


def list_erased(database: Database, places: Places, session_id: SessionId, *, retracted: bool = False) -> list[int]:
    """See `BrowsingStore.list_erased`."""
    return [
        cast("int", row[0])
        for bound in places.ranges(session_id, range(1, NO_END))
        for row in database.rows("list_erased", **bound, retracted=int(retracted))
    ]


def find_revision(database: Database, compaction_id: CompactionId) -> Compaction | None:
    """See `BrowsingStore.find_revision`."""
    row = database.row("find_revision", compaction_id=compaction_id)
    return None if row is None else read_compaction(row)
