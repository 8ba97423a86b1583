"""The stream of what the engine does, as it happens: ids and figures, and no word that was said."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from everfold.server.access import AnyKey, Context
from everfold.server.happenings import watch_happenings
from everfold.server.owners import Owner
from everfold.server.routing import make_router
from everfold.server.scoping import AskedAgent, AskedUser, find_session, read_owner
from everfold.server.shapes.streams import OPENED, show_happening

router = make_router("stream")

AskedSession = Annotated[str | None, Query(description="Only what is about this session.", examples=[None])]


async def choose_watched(
    caller: AnyKey, runtime: Context, user: AskedUser = None, agent: AskedAgent = None, session: AskedSession = None
) -> Owner:
    """Whose happenings are asked for, decided before the stream begins.

    Raises:
        ForbiddenError: the key is of another user or agent.
        NotFoundError: there is no such session that the key sees.
    """
    if session is not None:
        await find_session(caller, runtime.engine, session)
    return await read_owner(caller, runtime.engine, user, agent)


@router.get("/api/stream", response_class=EventSourceResponse)
async def stream_happenings(
    _: AnyKey, runtime: Context, owner: Annotated[Owner, Depends(choose_watched)], session: AskedSession = None
) -> AsyncIterator[ServerSentEvent]:
    """What the engine does in the sessions that the key sees, from now on, as server-sent events.

    The name of an event is the kind of what happened, its data says in which session and of whom. `messages_appended`
    and `message_erased` tell of the log, `memory_changed` which parts of a user's memory are others now; no event holds
    a word of them. `lost` tells that a reader was too slow, and how many it has missed. The stream ends when the server
    stops.
    """
    yield OPENED
    async for seen in watch_happenings(
        runtime.engine, runtime.owners, runtime.stopping, owner=owner, session_id=session
    ):
        yield show_happening(seen)
