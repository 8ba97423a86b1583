"""The stream of what the engine does, as it happens: ids and figures, and no word that was said."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from everfold.server.access import AnyKey, Context
from everfold.server.owners import Owner
from everfold.server.routing import make_router
from everfold.server.schemas.streams import OPENED, show_seen
from everfold.server.scoping import AskedAgent, AskedUser, find_session, read_owner
from everfold.server.watching import Seen, watch_events

router = make_router("stream")

AskedSession = Annotated[str | None, Query(description="Only what is about this session.", examples=[None])]


async def choose_watched(
    caller: AnyKey, runtime: Context, user: AskedUser = None, agent: AskedAgent = None, session: AskedSession = None
) -> Owner:
    """Whose events are asked for, decided before the stream begins.

    Raises:
        ForbiddenError: the key is of another user or agent.
        NotFoundError: there is no such session that the key sees.
    """
    if session is not None:
        await find_session(caller, runtime.engine, session)
    return await read_owner(caller, runtime.engine, user, agent)


async def hold_stream(caller: AnyKey, runtime: Context) -> AsyncIterator[None]:
    """Count a stream of the API key for as long as it lasts.

    Raises:
        RateLimitedError: the key has as many as it may.
    """
    with runtime.streams.hold(caller.key.id):
        yield


async def open_watch(
    caller: AnyKey,
    runtime: Context,
    owner: Annotated[Owner, Depends(choose_watched)],
    session: AskedSession = None,
) -> AsyncIterator[AsyncIterator[Seen]]:
    """What the stream shows, closed when its reader has left."""
    seen = watch_events(
        runtime.engine, runtime.owners, runtime.stopping, key=caller.key, owner=owner, session_id=session
    )
    async with aclosing(seen):
        yield seen


@router.get("/api/stream", response_class=EventSourceResponse, dependencies=[Depends(hold_stream)])
async def stream_events(
    _: AnyKey, watched: Annotated[AsyncIterator[Seen], Depends(open_watch)]
) -> AsyncIterator[ServerSentEvent]:
    """Stream the engine's events in the sessions that the API key may see, from now on, as server-sent events.

    The name of an event is its kind; its data names the session and the user. `messages_appended`, `message_erased`,
    `session_changed` and `session_erased` report changes of logs, `memory_changed` the changed parts of a user's memory.
    No event holds text of messages or memory. `lost` reports how many events a slow reader has missed. The stream ends when the server stops.
    """
    yield OPENED
    async for seen in watched:
        yield show_seen(seen)
