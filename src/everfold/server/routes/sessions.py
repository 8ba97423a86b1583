"""Sessions: which there are, what they hold, how they follow each other, and what can be asked of a whole one.

Reads of what was said are not audited one by one: there is a read for every look at a session, and the audit is of
memory. Erasing is audited under the name of the key.
"""

from typing import Annotated

from fastapi import Depends, Query, Response

from everfold.admin import BrowsedSession
from everfold.core.log.search_filters import SessionFilter
from everfold.core.log.titles import MOST_TITLE_CHARS
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER
from everfold.server.access import AnyKey, Context, OfSession
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.compactions import CallPageSchema
from everfold.server.schemas.schema import GivenTime
from everfold.server.schemas.sessions import (
    BranchPoint,
    ErasedSessionSchema,
    NewSession,
    Order,
    SessionChange,
    SessionDetailSchema,
    SessionPageSchema,
    SessionSchema,
    ShownSession,
    VerificationSchema,
)
from everfold.server.scoping import AskedAgent, AskedUser, find_session, read_owner
from everfold.services.forgetting.wipe import ErasedSession
from everfold.services.inspection.verify import Verification
from everfold.session import Session

router = make_router("sessions")

SessionsSince = Annotated[GivenTime | None, Query(description="Only sessions created then or later.")]
SessionsUntil = Annotated[GivenTime | None, Query(description="Only sessions created before then.")]
TitleQuery = Annotated[
    str,
    Query(
        max_length=MOST_TITLE_CHARS,
        description="Only sessions with a title of their own that holds this text, in any case.",
        examples=["berths"],
    ),
]


def read_filter(since: SessionsSince = None, until: SessionsUntil = None, title: TitleQuery = "") -> SessionFilter:
    """Which sessions a list is narrowed to.

    Raises:
        InvalidInputError: a time has no zone, or the span holds no moment.
    """
    return SessionFilter(since=since, until=until, title=title)


AskedFilter = Annotated[SessionFilter, Depends(read_filter)]


@router.get("/api/sessions", response_model=SessionPageSchema)
async def list_sessions(
    caller: AnyKey,
    runtime: Context,
    only: AskedFilter,
    user: AskedUser = None,
    agent: AskedAgent = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    order: Annotated[Order, Query(description="Which end comes first.")] = "newest",
    previews: Annotated[bool, Query(description="With the title and the preview of each.")] = False,  # noqa: FBT002 - of a query
) -> Fields:
    """List the sessions that the API key may see."""
    owner = await read_owner(caller, runtime.engine, user, agent)
    if cursor is not None:
        await find_session(caller, runtime.engine, cursor)
    listed = await runtime.engine.admin.browse_sessions(
        user=owner.user_id,
        agent=owner.agent_id,
        after=cursor,
        limit=limit,
        newest_first=order == "newest",
        words=previews,
        since=only.since,
        until=only.until,
        title=only.title,
    )
    return {"sessions": listed, "next_cursor": next_cursor(listed, limit, lambda last: last.record.id)}


@router.post(
    "/api/sessions",
    response_model=SessionSchema,
    status_code=201,
    responses={200: {"model": SessionSchema, "description": "It was there."}},
)
async def open_session(caller: AnyKey, runtime: Context, asked: NewSession, response: Response) -> BrowsedSession:
    """Open the current session of a user and an agent (one for each session key), creating it if there is none."""
    owner = await read_owner(caller, runtime.engine, asked.user, asked.agent)
    session = await runtime.engine.session(
        user=owner.user_id or DEFAULT_USER,
        agent=owner.agent_id or DEFAULT_AGENT,
        session_key=asked.session_key,
        limit=asked.limit,
        system=asked.system,
        tools=asked.tools,  # type: ignore[arg-type]  # parsed from JSON
        new=asked.new,
    )
    response.status_code = 201 if session.is_new else 200
    return list_opened(session)


@router.get("/api/sessions/{session}", response_model=SessionDetailSchema)
async def get_session(runtime: Context, opened: OfSession) -> ShownSession:
    """Read one session with its settings, its state and its title."""
    words = await runtime.engine.admin.read_words(opened.id)
    return ShownSession(opened.record, await opened.inspect.standing(), words)


@router.patch("/api/sessions/{session}", response_model=SessionDetailSchema)
async def configure_session(runtime: Context, opened: OfSession, change: SessionChange) -> ShownSession:
    """Change the limit, the system prompt, the tools or the title; only another prompt or other tools are a cache break."""
    await opened.configure(limit=change.limit, system=change.system, tools=change.tools)  # type: ignore[arg-type]  # parsed from JSON
    if change.title is not None:  # nothing refuses a title
        await opened.integration.set_title(change.title)
    return await get_session(runtime, opened)


@router.delete("/api/sessions/{session}", response_model=ErasedSessionSchema)
async def erase_session(
    caller: AnyKey,
    runtime: Context,
    opened: OfSession,
    branches: Annotated[bool, Query(description="Also the sessions that share messages of it.")] = False,  # noqa: FBT002 - of a query
) -> ErasedSession:
    """Erase a session and everything derived from it alone; items with other sources stay."""
    return await runtime.engine.erase_session(opened.id, branches=branches, actor=caller.actor)


@router.post("/api/sessions/{session}/new", response_model=SessionSchema, status_code=201)
async def follow_session(opened: OfSession) -> BrowsedSession:
    """Begin a new, empty session that follows this current one and keeps its calibration."""
    return list_opened(await opened.new())


@router.post("/api/sessions/{session}/reset", response_model=SessionSchema, status_code=201)
async def reset_session(opened: OfSession) -> BrowsedSession:
    """Begin a new, empty session that follows this current one, without its calibration."""
    return list_opened(await opened.new(keep_calibration=False))


@router.post("/api/sessions/{session}/resume", response_model=SessionSchema)
async def resume_session(opened: OfSession) -> BrowsedSession:
    """Make this session the current one of its user and agent again."""
    await opened.integration.resume()
    return list_opened(opened)


@router.post("/api/sessions/{session}/branch", response_model=SessionSchema, status_code=201)
async def branch_session(opened: OfSession, point: BranchPoint) -> BrowsedSession:
    """Begin a session that shares this one's past up to a message; this one stays current."""
    return list_opened(await opened.branch(point.seq))


@router.post("/api/sessions/{session}/rewind", response_model=SessionSchema, status_code=201)
async def rewind_session(opened: OfSession, point: BranchPoint) -> BrowsedSession:
    """Begin a branch that becomes the current session."""
    return list_opened(await opened.rewind(point.seq))


@router.get("/api/sessions/{session}/verify", response_model=VerificationSchema)
async def verify_session(opened: OfSession) -> Verification:
    """Check all certificates against the stored data; a long log takes longer."""
    return await opened.verify()


@router.get("/api/sessions/{session}/calls", response_model=CallPageSchema)
async def list_calls(opened: OfSession, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Fields:
    """List the model calls of this session, in the order of recording."""
    calls = await opened.inspect.calls(after=cursor, limit=limit)
    return {"calls": calls, "next_cursor": next_cursor(calls, limit, lambda last: last.id)}


def list_opened(session: Session) -> BrowsedSession:
    """A session that was just read or made, as lists have it."""
    return BrowsedSession(record=session.record, figures=session.inspect.figures)
