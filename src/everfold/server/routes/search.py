"""Search: what answers a question, in everything that is known of a user."""

from typing import Annotated

from fastapi import Query

from everfold.server.access import AsAdmin, Context, OfSearch, OfSession
from everfold.server.paging import Cursor
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.schema import GivenTime
from everfold.server.schemas.search import (
    ROLES,
    HitsSchema,
    RecallExplainedSchema,
    SearchedUsersSchema,
    SessionHitsSchema,
    read_places,
    read_roles,
)
from everfold.server.scoping import AskedAgent
from everfold.services.memory.explain_recall import RecallExplained
from everfold.services.sessions.search import MOST_HITS
from everfold.services.sessions.search_all import Found
from everfold.services.sessions.search_users import SearchedUsers

router = make_router("search")

_ROLES = "|".join(ROLES)
Question = Annotated[str, Query(min_length=1, max_length=4_000, description="Words.", examples=["harbour berth"])]
PlacesQuery = Annotated[
    str,
    Query(
        alias="in",
        pattern=r"^(messages|items|topics)(,(messages|items|topics))*$",
        description="Where to look, with commas between.",
        examples=["items,topics"],
    ),
]
RolesQuery = Annotated[
    str | None,
    Query(
        alias="role",
        pattern=rf"^({_ROLES})(,({_ROLES}))*$",
        description="Of messages only those in these roles, with commas between.",
        examples=["user"],
    ),
]
Since = Annotated[GivenTime | None, Query(description="Of messages only those said then or later.")]
Until = Annotated[GivenTime | None, Query(description="Of messages only those said before then.")]
HitLimit = Annotated[int, Query(ge=1, le=MOST_HITS, description="How many of each at most.")]


@router.get("/api/search", response_model=HitsSchema)
async def search(
    memory: OfSearch,
    q: Question,
    places: PlacesQuery = "messages,items,topics",
    roles: RolesQuery = None,
    since: Since = None,
    until: Until = None,
    limit: HitLimit = 10,
) -> Found:
    """Find messages, items and topics of one user that answer a question and are visible to the API key."""
    return await memory.search_all(
        q, places=read_places(places), limit=limit, roles=read_roles(roles), since=since, until=until
    )


@router.get("/api/search/messages", response_model=SearchedUsersSchema)
async def search_messages(
    _: AsAdmin,
    runtime: Context,
    q: Question,
    agent: AskedAgent = None,
    roles: RolesQuery = None,
    since: Since = None,
    until: Until = None,
    limit: HitLimit = 10,
    cursor: Cursor = None,
) -> SearchedUsers:
    """Find messages of all users that hold every word of a question.

    One request looks through up to 2,000 users, 500 at a time and the oldest first, until the limit is reached. Of each 500 the
    newest messages are given, those that were said last first. `next_cursor` goes on with the users after them.
    """
    return await runtime.engine.admin.search_messages(
        q, agent=agent, after=cursor, limit=limit, roles=read_roles(roles), since=since, until=until
    )


@router.get("/api/sessions/{session}/search", response_model=SessionHitsSchema)
async def search_session(
    opened: OfSession,
    q: Question,
    roles: RolesQuery = None,
    since: Since = None,
    until: Until = None,
    limit: HitLimit = 10,
) -> Fields:
    """Find messages of this session that answer a question, those that it shares with others among them."""
    hits = await opened.search(q, limit=limit, roles=read_roles(roles), since=since, until=until)
    return {"messages": hits}


@router.get("/api/sessions/{session}/recall", response_model=RecallExplainedSchema)
async def explain_recall(opened: OfSession, q: Question) -> RecallExplained:
    """Explain which messages recall would bring into the next request for a question, and why not the others."""
    return await opened.inspect.explain_recall(q)
