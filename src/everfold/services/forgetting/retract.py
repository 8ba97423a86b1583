"""Retract: take back the newest messages of a session, with what memory has from them alone.

Source: DESIGN G2; docs/adr/0034-retracting.md.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from everfold.core.extraction.answers import is_said_by
from everfold.core.log.messages import Note
from everfold.core.log.retracting import Retraction, plan_retraction
from everfold.core.memory.items import Evidence, Item, ItemId, is_entered
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import AuditEntry, MemoryChange
from everfold.core.merging.decisions import Author, fit_block
from everfold.core.merging.edits import plan_unsaid
from everfold.core.primitives.ids import SessionId
from everfold.core.sources.refreshing import measure_return
from everfold.errors import ConflictError, InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.memory.look_up import list_block_items, list_superseded
from everfold.services.sessions.go_back import go_back
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.read import find_newest
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_memory, tell_session

MOST_RETRACTED = 1000
"""More messages are left by a rewind."""
_REACH = 40
"""How many messages before the retracted ones are read, at first, to find the end of the unit before."""
_SAYING: Final = frozenset(("active", "quarantined", "superseded"))
"""The statuses of items that hold, or would again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """What a retraction came to.

    Attributes:
        seqs: The messages that were retracted, rising.
        items: Items of memory that nothing else says; they have expired.
        restored: Items that those had superseded; they hold again.
    """

    seqs: tuple[int, ...]
    items: tuple[ItemId, ...] = ()
    restored: tuple[ItemId, ...] = ()


async def retract_messages(
    store: Store,
    live: LiveSession,
    count: int,
    *,
    last: int | None = None,
    policy: MemoryPolicy,
    cancel: Callable[[str], Awaitable[object]],
    clock: Clock,
    stream: Stream,
    actor: str = "user",
) -> Retracted:
    """Retract the newest messages; `cancel` gives up a pending compaction and those after it.

    Raises:
        InvalidInputError: there are not so many, or one of them is compacted already or shared with another session.
        ConflictError: the newest message is another one than `last`, or other writers were first each time.
    """
    if not 1 <= count <= MOST_RETRACTED:
        raise InvalidInputError(f"retract takes a number of messages from 1 to {MOST_RETRACTED}, got {count}")

    async def attempt() -> Retracted | None:
        await live.reload(store)
        seqs = await _find_newest(store, live, count)
        if last is not None:
            _require_newest(live.record.id, seqs[-1], last)
        await _require_free(store, live, seqs[0])
        try:
            if await _cancel_begun(store, live, seqs[0], cancel):
                return None  # since then, another one may have begun or been committed
            retraction = await _plan(store, live, seqs, policy, now=clock.now(), actor=actor)
            await store.retract_messages(retraction)
        except ConflictError:
            return None
        for change in retraction.memory:
            tell_memory(stream, change)
        tell_session(stream, live.record.id, "messages")
        await live.reload(store)
        about = {item_id for change in retraction.memory for entry in change.audit for item_id in entry.about}
        items = [item for change in retraction.memory for item in change.items if item.id in about]
        return Retracted(
            seqs=tuple(seqs),
            items=tuple(item.id for item in items if item.status == "expired"),
            restored=tuple(item.id for item in items if item.status != "expired"),
        )

    return await write_in_turn(store, live.record.user_id, attempt)


async def _find_newest(store: Store, live: LiveSession, count: int) -> list[int]:
    """The newest messages that are not retracted yet, rising.

    Raises:
        InvalidInputError: there are not so many.
    """
    found = await find_newest(store, live, count, counts=lambda note: note.kind != "retracted")
    if len(found) < count:
        raise InvalidInputError(
            f"session {live.record.id}: {count} messages cannot be retracted; it has {len(found)}",
            session=live.record.id,
        )
    return found


def _require_newest(session: SessionId, seq: int, expected: int) -> None:
    """Refuse to retract what was stored since the caller looked.

    Raises:
        ConflictError: the newest message is another one than the expected.
    """
    if seq != expected:
        raise ConflictError(
            f"session {session}: message {seq} is the newest, not {expected}, so {expected} cannot be retracted; rewind to a "
            "message before it",
            session=session,
            seq=seq,
        )


async def _require_free(store: Store, live: LiveSession, first_seq: int) -> None:
    """Refuse what a digest may have read, and what is another session's too.

    Raises:
        InvalidInputError: it is.
    """
    session = live.record.id
    if first_seq <= live.layout.watermark:
        raise InvalidInputError(
            f"session {session} is compacted through message {live.layout.watermark}, so message {first_seq} cannot be "
            "retracted; rewind to a message before it",
            session=session,
            seq=first_seq,
        )
    for record in await store.list_sharing(session, first_seq):
        if record.id != session:
            raise InvalidInputError(
                f"session {session}: message {first_seq} is in session {record.id} too, so it cannot be retracted; rewind to "
                "a message before it",
                session=session,
                seq=first_seq,
            )
    if first_seq <= live.record.branch_seq:
        raise InvalidInputError(
            f"session {session} shares message {first_seq} with the session that it branched from; rewind to a message "
            "before it",
            session=session,
            seq=first_seq,
        )


async def _cancel_begun(
    store: Store, live: LiveSession, first_seq: int, cancel: Callable[[str], Awaitable[object]]
) -> bool:
    """Give up the pending compactions whose ranges hold one of the messages; whether there were any.

    Raises:
        ConflictError: one of them was committed first.
    """
    for compaction in await live.load_held(store):
        if compaction.plan.last_seq >= first_seq:
            await cancel(compaction.id)
            return True
    return False


async def _plan(
    store: Store, live: LiveSession, seqs: Sequence[int], policy: MemoryPolicy, *, now: datetime, actor: str
) -> Retraction:
    state, layout, session_id, first_seq = live.state, live.layout, live.record.id, seqs[0]
    notes = await _look_back(store, session_id, first_seq - 1)
    begun = await store.read_notes(session_id, [notes[-1].turn_seq]) if notes and notes[-1].turn_seq else []
    fixed_tokens = state.fixed_tokens
    if first_seq <= state.fixed_seq:
        leading = await store.read_notes(session_id, range(1, first_seq))
        fixed_tokens = sum(note.raw_tokens for note in leading if note.kind == "fixed")
    retraction = plan_retraction(
        state,
        first_seq,
        notes,
        await store.read_messages(session_id, [note.seq for note in notes]),
        session_id=session_id,
        turn_tokens=sum(note.tokens for note in begun if not note.is_erased),
        fixed_tokens=fixed_tokens,
    )
    new = retraction.state.with_cache_break("retract", measure_return(state, retraction.state, layout))
    new = await go_back(store, session_id, new, [one.seq for one in state.refreshes if one.seq >= first_seq])
    change = await _plan_memory(store, live, seqs, policy, now=now, actor=actor)
    return replace(retraction, state=new, memory=() if change is None else (change,))


async def _look_back(store: Store, session_id: SessionId, last_seq: int) -> list[Note]:
    """The notes up to a message, from before the last unit that ends there or before."""
    reach = _REACH
    while True:
        first_seq = max(last_seq - reach, 1)
        notes = await store.read_notes(session_id, range(first_seq, last_seq + 1)) if last_seq else []
        if first_seq == 1 or sum(note.is_boundary and not note.is_erased for note in notes) > 1:
            return notes
        reach *= 4


async def _plan_memory(
    store: Store, live: LiveSession, seqs: Sequence[int], policy: MemoryPolicy, *, now: datetime, actor: str
) -> MemoryChange | None:
    """The items that only these messages support, expired, and what holds again in their place; None for none.

    What is shown stays within its budget.
    """
    record = live.record
    version = await store.read_memory_version(record.user_id)
    quoting = [item.id for item in await store.find_quoting(record.id, seqs) if item.status in _SAYING]
    gone = {(record.id, seq) for seq in seqs}
    unsaid = [
        revisions
        for revisions in await store.list_histories(record.user_id, quoting)
        if await _is_unsupported(store, revisions, gone)
    ]
    unsaid, superseded = await _follow(store, unsaid, gone)
    items = plan_unsaid([revisions[-1] for revisions in unsaid], superseded, now=now, written_by="user")
    if not items:
        return None
    entry = AuditEntry(
        at=now,
        user_id=record.user_id,
        agent_id=record.agent_id,
        actor=actor,
        action="write",
        about=tuple(item.id for item in items),
        counts=(("items", len(items)),),
    )
    author = Author(user_id=record.user_id, agent_id=record.agent_id, written_by="user", now=now)
    block = await list_block_items(store, record.user_id, record.agent_id)
    return MemoryChange(
        user_id=record.user_id,
        agent_id=record.agent_id,
        expected=version,
        items=fit_block(items, block, policy=policy, author=author),
        audit=(entry,),
    )


async def _follow(
    store: Store, unsaid: Sequence[list[Item]], gone: set[tuple[SessionId, int]]
) -> tuple[list[list[Item]], list[list[Item]]]:
    """These items, with those behind them that were retracted before; and the others that all these superseded."""
    every = {revisions[-1].id: revisions for revisions in unsaid}
    superseded: list[list[Item]] = []
    new: Sequence[list[Item]] = unsaid
    while new:
        behind = await list_superseded(store, [revisions[-1] for revisions in new])
        ids = [item.id for item in behind if item.id not in every]
        found = await store.list_histories(new[0][-1].user_id, ids)
        new = [revisions for revisions in found if await _is_unsupported(store, revisions, gone)]
        every |= {revisions[-1].id: revisions for revisions in new}
        superseded += [revisions for revisions in found if revisions[-1].id not in every]
    return list(every.values()), superseded


async def _is_unsupported(store: Store, revisions: Sequence[Item], gone: set[tuple[SessionId, int]]) -> bool:
    """Whether what is not retracted of the messages that an item quotes says it no longer, and no hand entered it."""
    item = revisions[-1]
    left = [one.quote for one in item.evidence if not await _is_gone(store, one, gone)]
    return not is_entered(revisions) and not is_said_by(item.statement, left)


async def _is_gone(store: Store, evidence: Evidence, gone: set[tuple[SessionId, int]]) -> bool:
    if (evidence.session_id, evidence.seq) in gone:
        return True
    try:
        notes = await store.read_notes(evidence.session_id, [evidence.seq])
    except NotFoundError:
        return False  # its session was erased, and it has been kept
    return any(note.kind == "retracted" for note in notes)
