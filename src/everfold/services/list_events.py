"""List events: the compactions of a session a page at a time, from either end."""

from collections.abc import Sequence

from everfold.core.events import CompactionEvent
from everfold.core.sessions import NO_END, EventId, SessionRecord
from everfold.errors import NotFoundError
from everfold.ports.stores import Store
from everfold.services.live import LiveSession

_PAGE = 200


async def find_own_event(store: Store, record: SessionRecord, event_id: str) -> CompactionEvent:
    """An event of a session's log, inherited ones included.

    Raises:
        NotFoundError: the log has none with this id, whether another one has or not.
    """
    problem = f"session {record.id} has no event {event_id!r}; list them"
    try:
        event = await store.get_event(EventId(event_id))
    except NotFoundError as error:
        raise NotFoundError(problem, session=record.id, event=event_id) from error
    for segment in record.lineage:
        is_shared = segment.last_ordinal is None or event.ordinal <= segment.last_ordinal
        if segment.session_id == event.session_id and is_shared:
            return event
    raise NotFoundError(problem, session=record.id, event=event_id)


async def list_newest_events(
    store: Store, live: LiveSession, *, before: EventId | None, limit_count: int
) -> list[CompactionEvent]:
    """Events against their order, those before the given one.

    Raises:
        NotFoundError: the session has no event `before`.
    """
    if before is None:
        await live.reload(store)
        last_ordinal = live.state.events_count + len(live.state.held_events)
        after_ordinal = max(last_ordinal - limit_count, 0)
        events = await store.list_events(live.record.id, after_ordinal=after_ordinal, limit_count=NO_END)
    else:
        ordinal = (await find_own_event(store, live.record, before)).ordinal
        after_ordinal = max(ordinal - limit_count - 1, 0)
        events = await _read_past(store, live, before, after_ordinal=after_ordinal, more_count=0)
        events = events[: _find_index(events, before)]
    return events[::-1][:limit_count]


async def list_events_after(
    store: Store, live: LiveSession, *, after: EventId | None, limit_count: int
) -> list[CompactionEvent]:
    """Events in their order, those after the given one. A cancelled event has the ordinal of another one too.

    Raises:
        NotFoundError: the session has no event `after`.
    """
    if after is None:
        return await store.list_events(live.record.id, after_ordinal=0, limit_count=limit_count)
    ordinal = (await find_own_event(store, live.record, after)).ordinal
    events = await _read_past(store, live, after, after_ordinal=ordinal - 1, more_count=limit_count)
    return events[_find_index(events, after) + 1 :][:limit_count]


async def _read_past(
    store: Store, live: LiveSession, event_id: EventId, *, after_ordinal: int, more_count: int
) -> list[CompactionEvent]:
    """The events after an ordinal, so many behind the given one at least, or to the last one."""
    wanted = more_count + 2
    while True:
        events = await store.list_events(live.record.id, after_ordinal=after_ordinal, limit_count=wanted)
        if len(events) < wanted or _find_index(events, event_id) + more_count < len(events):
            return events
        wanted *= 2


def _find_index(events: Sequence[CompactionEvent], event_id: EventId) -> int:
    """Where an event stands; behind the last where it is not among them."""
    return next((index for index, event in enumerate(events) if event.id == event_id), len(events))
