"""Search, stored contents and erasing in SQL."""

import zlib
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, cast

from everfold.adapters.sql.access import begin_erase
from everfold.adapters.sql.clients import forget_client_chains
from everfold.adapters.sql.codec import blob_to_text, read_session, to_micros
from everfold.adapters.sql.compaction import drop_drafts, replace_records
from everfold.adapters.sql.database import Bound, Database, Row, SqlValue
from everfold.adapters.sql.log import find_named, write_state
from everfold.adapters.sql.matching import key_words, write_scope
from everfold.adapters.sql.memory import change_memory
from everfold.adapters.sql.owners import find_agent_key, find_user_key
from everfold.adapters.sql.packed_messages import unpack_message
from everfold.adapters.sql.places import Places
from everfold.core.forgetting.messages import Erasure
from everfold.core.log.retracting import Retraction
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import NO_END, SessionRecord, Stretch, find_holder, find_stretches
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import (
    CANDIDATE_COUNT,
    SearchCandidate,
    SearchQuery,
    choose_terms,
    order_hits,
)
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import FoundMessage, Hit, StoredContent


class _MessagePlace(NamedTuple):
    """The keys of a stored message, and whether it is erased."""

    message_id: int
    user_key: int
    agent_key: int
    session_key: int
    is_erased: int

    @property
    def scope(self) -> str:
        """Whose and of which session its row in the index of words is."""
        return write_scope(self.user_key, agent_key=self.agent_key, session_key=self.session_key)


def search(
    database: Database,
    places: Places,
    query: SearchQuery,
    *,
    user_id: UserId,
    agent_id: AgentId | None,
    session_id: SessionId | None,
    limit_count: int,
    only: SearchFilter = ANY_MESSAGE,
) -> list[Hit]:
    """See `HistoryStore.search`."""
    user_key = find_user_key(database, user_id)
    agent_key = None if agent_id is None else find_agent_key(database, agent_id)
    if user_key is None or (agent_id is not None and agent_key is None):
        return []
    place = None if session_id is None else places.place(session_id)
    if place is not None and (place.user_key != user_key or agent_key not in {None, place.agent_key}):
        return []
    stretches = [] if place is None else find_stretches(place.lineage, 1, NO_END)
    rows, *counted = database.rows_all(
        [
            ("count_user_rows", {"user_key": user_key, "agent_key": agent_key}),
            *database.words.ask_counts("message", query, user_key),
        ]
    )
    row_count, sessions_count, others_count = cast("tuple[int, int, int]", rows[0])
    counts = database.words.read_counts(query, counted)
    chosen = choose_terms(query, counts.words, row_count=row_count)
    if not chosen.terms:
        return []
    # A scope that all of the user's rows are in is left out: to apply it the index reads an entry of each row. A row
    # that was stored after the count may be outside of the scope, so `_candidates` checks each that is found.
    session_keys = [places.place(stretch.session_id).session_key for stretch in stretches]
    find = partial(
        database.words.find_messages,
        chosen,
        user_key,
        agent_key=None if place is not None or not others_count else agent_key,
        session_keys=[] if len(session_keys) == sessions_count else session_keys,
        only=only,
        counts=counts,
    )
    found = _find_enough(find, stretches, agent_key, limit_count)
    places_of = {candidate.key: place for candidate, place in found}
    ordered = order_hits(query, [candidate for candidate, _ in found])
    return [
        Hit(session_id=places_of[hit.key][0], seq=places_of[hit.key][1], score=hit.score)
        for hit in ordered[:limit_count]
    ]


def search_users(
    database: Database,
    query: SearchQuery,
    *,
    user_ids: Sequence[UserId],
    agent_id: AgentId | None,
    limit_count: int,
    only: SearchFilter = ANY_MESSAGE,
) -> list[FoundMessage]:
    """See `HistoryStore.search_users`."""
    agent_key = None if agent_id is None else find_agent_key(database, agent_id)
    known = database.rows_each("find_user", [{"user_id": user_id} for user_id in user_ids])
    user_keys = [cast("int", key) for rows in known for (key,) in rows]
    if not query.terms or not user_keys or (agent_id is not None and agent_key is None):
        return []
    rows = database.words.find_holding(query, user_keys, agent_key=agent_key, only=only, limit_count=limit_count)
    return [
        FoundMessage(user_id=UserId(user_id), session_id=SessionId(session_id), seq=seq)
        for user_id, session_id, seq in cast("list[tuple[str, str, int]]", rows)
    ]


def _find_enough(
    find: Callable[..., list[Row]], stretches: Sequence[Stretch], agent_key: int | None, limit_count: int
) -> list[tuple[SearchCandidate, tuple[SessionId, int]]]:
    """Candidates with their places: at least so many, where there are. A branch shares a part of its parents; the rest is left out."""
    wanted = max(CANDIDATE_COUNT, 3 * limit_count)
    while True:
        rows = find(limit_count=wanted)
        found = _candidates(rows, stretches, agent_key)
        if len(found) >= limit_count or len(rows) < wanted:
            return found
        wanted *= 4


def _candidates(
    rows: Sequence[tuple[object, ...]], stretches: Sequence[Stretch], agent_key: int | None
) -> list[tuple[SearchCandidate, tuple[SessionId, int]]]:
    """The rows of the agent and of the stretches, where these are given."""
    shared = {stretch.session_id: range(stretch.first_seq, stretch.last_seq + 1) for stretch in stretches}
    found: list[tuple[SearchCandidate, tuple[SessionId, int]]] = []
    for key, score, found_agent_key, session_id, seq, role, speaker, tokens in rows:
        place = (SessionId(cast("str", session_id)), cast("int", seq))
        if agent_key not in {None, found_agent_key} or (stretches and place[1] not in shared.get(place[0], ())):
            continue
        candidate = SearchCandidate(
            key=cast("int", key),
            score=cast("float", score),
            speaker=blob_to_text(speaker) or cast("str", role),
            role=cast("str", role),
            tokens=cast("int", tokens),
        )
        found.append((candidate, place))
    return found


def read_contents(
    database: Database, places: Places, session_id: SessionId, first_seq: int, last_seq: int
) -> list[StoredContent]:
    """See `HistoryStore.read_contents`."""
    contents: list[StoredContent] = []
    for bound in places.ranges(session_id, range(first_seq, last_seq + 1)):
        for seq, content, content_hash, erased_at, kind in database.rows("read_contents", **bound):
            contents.append(
                StoredContent(
                    seq=cast("int", seq),
                    content=_read_content(content),
                    content_hash=cast("bytes", content_hash).hex() if content_hash is not None else "",
                    is_erased=erased_at is not None,
                    is_retracted=kind == "retracted",
                )
            )
    return contents


def _read_content(content: object) -> bytes:
    """The JSON of a message; none where the row is damaged, so that its hash differs and the rest is checked too."""
    try:
        plain = unpack_message(content)
    except zlib.error:
        return b""
    return plain if isinstance(plain, bytes) else b""


def erase_message(database: Database, places: Places, erasure: Erasure, erased_at: datetime) -> None:
    """See `HistoryStore.erase_message`."""
    [(message_id, owner_key, *_)] = _message_places(database, places, erasure.session_id, [erasure.seq])
    database.lock_user(owner_key)
    if not any(change.is_forgetting for change in erasure.memory):  # else memory's change says so
        begin_erase(database)
    _write_states(database, places, erasure)
    erased: dict[str, SqlValue] = {"user_key": owner_key, "message_id": message_id}
    asked: list[Bound] = [
        ("erase_message", {**erased, "erased_at": to_micros(erased_at)}),
        ("delete_search_row", erased),
    ]
    sharing: list[dict[str, SqlValue]] = [{**places.place(sharing_id).keys} for sharing_id, _ in erasure.states]
    # Problems go with the drafts: they may quote the message.
    asked += [("drop_drafts", {**keys, "is_erase": True}) for keys in sharing]
    asked += [("drop_title", keys) for keys in sharing]
    places_held = [{**keys, "seq": erasure.seq} for keys in sharing]
    asked += [("forget_client_content", place) for place in places_held]
    changed = database.run_all(asked)[-len(sharing) :]
    forget_client_chains(database, [place for place, count in zip(places_held, changed, strict=True) if count])
    for row in erasure.search_rows:
        [neighbour] = _message_places(database, places, row.session_id, [row.seq])
        if not neighbour.is_erased:
            database.run(
                "replace_search_row",
                message_id=neighbour.message_id,
                own=key_words(neighbour.user_key, row.text.own),
                before=key_words(neighbour.user_key, row.text.before),
                scope=neighbour.scope,
            )
    replace_records(database, erasure.records, erasure.digests)
    for change in erasure.memory:
        change_memory(database, change)
    database.words.merge_messages()


def retract_messages(database: Database, places: Places, retraction: Retraction) -> None:
    """See `HistoryStore.retract_messages`."""
    session_id = retraction.session_id
    database.lock_user(places.place(session_id).user_key)
    for record in list_sharing(database, places, session_id, retraction.first_seq):
        if record.id != session_id:
            raise ConflictError(f"session {record.id} shares message {retraction.first_seq}", session=session_id)
    write_state(database, places, session_id, retraction.state, expected_revision=retraction.state.revision - 1)
    drop_drafts(database, places, session_id)
    rows = _message_places(database, places, session_id, range(retraction.first_seq, retraction.last_seq + 1))
    database.run_each("retract_message", [_retract(retraction, row) for row in rows])
    database.run_each("replace_search_row", [_clear_words(row) for row in rows if not row.is_erased])
    for change in retraction.memory:
        change_memory(database, change)


def _retract(retraction: Retraction, row: _MessagePlace) -> dict[str, SqlValue]:
    return {
        "user_key": row.user_key,
        "message_id": row.message_id,
        "sum_tokens": retraction.sum_tokens,
        "turn_seq": retraction.turn_seq,
        "turns_count": retraction.turns_count,
        "is_boundary": int(retraction.is_boundary),
    }


def _clear_words(row: _MessagePlace) -> dict[str, SqlValue]:
    return {"message_id": row.message_id, "own": "", "before": "", "scope": row.scope}


def _write_states(database: Database, places: Places, erasure: Erasure) -> None:
    sharing = {record.id for record in list_sharing(database, places, erasure.session_id, erasure.seq)}
    if sharing != dict(erasure.states).keys():
        raise ConflictError(
            f"session {erasure.session_id}: the sessions that hold message {erasure.seq} are others than when its erase "
            "was planned; plan it again",
            session=erasure.session_id,
            seq=erasure.seq,
        )
    for session_id, state in erasure.states:
        write_state(database, places, session_id, state, expected_revision=state.revision - 1)


def find_hashes(database: Database, places: Places, session_id: SessionId, hashes: Sequence[str]) -> dict[str, int]:
    """See `HistoryStore.find_hashes`."""
    keys = [{"content_hash": bytes.fromhex(hash_)} for hash_ in hashes]
    rows = find_named(database, places, "find_hash", session_id, keys)
    return {hashes[index]: cast("int", seq) for index, (seq,) in rows.items()}


def list_sharing(database: Database, places: Places, session_id: SessionId, seq: int) -> list[SessionRecord]:
    """See `HistoryStore.list_sharing`."""
    place = places.place(session_id)
    holder = find_holder(place.lineage, seq)
    rows = database.rows("list_owned_sessions", user_key=place.user_key, agent_key=place.agent_key)
    records = (read_session(row) for row in rows)
    shared = [record for record in records if find_holder(record.lineage, seq) == holder]
    if all(record.id != session_id for record in shared):  # its place is remembered, and it was erased since
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    return shared


def _message_places(
    database: Database, places: Places, session_id: SessionId, seqs: Sequence[int]
) -> list[_MessagePlace]:
    """Where messages (rising) are, in their order.

    Raises:
        NotFoundError: the session lacks one.
    """
    bounds = [
        {**bound, "seq": seq}
        for bound in places.ranges(session_id, seqs)
        for seq in range(bound["first_seq"], bound["last_seq"] + 1)
    ]
    found = database.rows_each("find_message_id", bounds)
    for seq, rows in zip(seqs, found, strict=True):
        if not rows:
            raise NotFoundError(f"session {session_id} has no message {seq}", session=session_id, seq=seq)
    return [_MessagePlace(*cast("tuple[int, int, int, int, int]", rows[0])) for rows in found]
