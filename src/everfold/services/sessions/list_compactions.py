"""List compactions: the compactions of a session, all or a page at a time, from either end."""

from collections.abc import AsyncIterator, Sequence

from everfold.core.compaction.record import Compaction
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import NotFoundError
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession

_PAGE = 100


async def iterate_compactions(
    store: Store, session_id: SessionId, *, after_ordinal: int = 0
) -> AsyncIterator[Compaction]:
    """The compactions of a session's lineage after an ordinal, in their order, cancelled ones included."""
    while True:
        compactions = await store.list_compactions(session_id, after_ordinal=after_ordinal, limit_count=_PAGE)
        for compaction in compactions:
            yield compaction
        if len(compactions) < _PAGE:
            return
        after_ordinal = compactions[-1].ordinal


async def find_own_compaction(store: Store, record: SessionRecord, compaction_id: str) -> Compaction:
    """A compaction of a session's log, inherited ones included.

    Raises:
        NotFoundError: the log has none with this id, whether another one has or not.
    """
    problem = f"session {record.id} has no compaction {compaction_id!r}; list them"
    try:
        compaction = await store.get_compaction(CompactionId(compaction_id))
    except NotFoundError as error:
        raise NotFoundError(problem, session=record.id, compaction=compaction_id) from error
    for segment in record.lineage:
        is_shared = segment.last_ordinal is None or compaction.ordinal <= segment.last_ordinal
        if segment.session_id == compaction.session_id and is_shared:
            return compaction
    raise NotFoundError(problem, session=record.id, compaction=compaction_id)


async def list_newest_compactions(
    store: Store, live: LiveSession, *, before: CompactionId | None, limit_count: int
) -> list[Compaction]:
    """Compactions against their order, those before the given one.

    Raises:
        NotFoundError: the session has no compaction `before`.
    """
    if before is None:
        await live.reload(store)
        last_ordinal = live.state.compactions_count + len(live.state.pending_compactions)
        after_ordinal = max(last_ordinal - limit_count, 0)
        compactions = await store.list_compactions(live.record.id, after_ordinal=after_ordinal, limit_count=NO_END)
    else:
        ordinal = (await find_own_compaction(store, live.record, before)).ordinal
        after_ordinal = max(ordinal - limit_count - 1, 0)
        compactions = await _read_past(store, live, before, after_ordinal=after_ordinal, more_count=0)
        compactions = compactions[: _find_index(compactions, before)]
    return compactions[::-1][:limit_count]


async def list_compactions_after(
    store: Store, live: LiveSession, *, after: CompactionId | None, limit_count: int
) -> list[Compaction]:
    """Compactions in their order, those after the given one. A cancelled compaction has the ordinal of another one too.

    Raises:
        NotFoundError: the session has no compaction `after`.
    """
    if after is None:
        compactions = await store.list_compactions(live.record.id, after_ordinal=0, limit_count=limit_count)
        return compactions[:limit_count]
    ordinal = (await find_own_compaction(store, live.record, after)).ordinal
    compactions = await _read_past(store, live, after, after_ordinal=ordinal - 1, more_count=limit_count)
    return compactions[_find_index(compactions, after) + 1 :][:limit_count]


async def _read_past(
    store: Store, live: LiveSession, compaction_id: CompactionId, *, after_ordinal: int, more_count: int
) -> list[Compaction]:
    """The compactions after an ordinal, so many behind the given one at least, or to the last one."""
    wanted = more_count + 2
    while True:
        compactions = await store.list_compactions(live.record.id, after_ordinal=after_ordinal, limit_count=wanted)
        if len(compactions) < wanted or _find_index(compactions, compaction_id) + more_count < len(compactions):
            return compactions
        wanted *= 2


def _find_index(compactions: Sequence[Compaction], compaction_id: CompactionId) -> int:
    """Where a compaction stands; behind the last where it is not among them."""
    return next(
        (index for index, compaction in enumerate(compactions) if compaction.id == compaction_id), len(compactions)
    )
