"""Sessions: which there are, what they hold, how they follow each other, and what can be asked of a whole one.

Reads of what was said are not audited one by one: there is a read for every look at a session, and the audit is of
memory. Erasing is audited under the name of the key.
"""

from typing import Annotated

from fastapi import Query, Response

from everfold.engine import DEFAULT_AGENT, DEFAULT_USER
from everfold.server.access import AnyKey, Context, OfSession
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.routing import make_router
from everfold.server.scoping import AskedAgent, AskedUser, read_owner
from everfold.server.shapes.events import CallPage, show_calls
from everfold.server.shapes.sessions import (
    BranchPoint,
    ErasedSessionShape,
    NewSession,
    Order,
    SessionDetail,
    SessionPage,
    SessionShape,
    VerificationShape,
    show_erased_session,
    show_session,
    show_session_detail,
    show_sessions,
    show_verification,
)
from everfold.session import Session

router = make_router("sessions")


@router.get("/api/sessions")
async def list_sessions(
    caller: AnyKey,
    runtime: Context,
    user: AskedUser = None,
    agent: AskedAgent = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    order: Annotated[Order, Query(description="Which end comes first.")] = "newest",
) -> SessionPage:
    """Sessions that the key sees, by when they were made."""
    owner = await read_owner(caller, runtime.engine, user, agent)
    listed = await runtime.engine.browse_sessions(
        user=owner.user_id, agent=owner.agent_id, after=cursor, limit=limit, newest_first=order == "newest"
    )
    return show_sessions(listed, limit)


@router.post("/api/sessions", status_code=201, responses={200: {"model": SessionShape, "description": "It was there."}})
async def open_session(caller: AnyKey, runtime: Context, asked: NewSession, response: Response) -> SessionShape:
    """Open the current session of a user and an agent, which is made where there is none; or begin a new one."""
    owner = await read_owner(caller, runtime.engine, asked.user, asked.agent)
    session, is_made = await runtime.engine.begin_session(
        user=owner.user_id or DEFAULT_USER,
        agent=owner.agent_id or DEFAULT_AGENT,
        limit=asked.limit,
        system=asked.system,
        tools=asked.tools,  # type: ignore[arg-type]  # parsed from JSON
        new=asked.new,
    )
    response.status_code = 201 if is_made else 200
    return show_opened(session)


@router.get("/api/sessions/{session}")
async def get_session(opened: OfSession) -> SessionDetail:
    """One session, with what it holds and where it stands."""
    return show_session_detail(opened.record, await opened.inspector.standing())


@router.delete("/api/sessions/{session}")
async def erase_session(
    caller: AnyKey,
    runtime: Context,
    opened: OfSession,
    branches: Annotated[bool, Query(description="Also the sessions that share messages of it.")] = False,  # noqa: FBT002 - of a query
) -> ErasedSessionShape:
    """Erase a session and all that was made of it; items that only it says go, others keep the rest."""
    return show_erased_session(await runtime.engine.erase_session(opened.id, branches=branches, actor=caller.actor))


@router.post("/api/sessions/{session}/new", status_code=201)
async def follow_session(opened: OfSession) -> SessionShape:
    """Begin a new, empty session that follows this one, which must be current; it keeps the calibration."""
    return show_opened(await opened.new())


@router.post("/api/sessions/{session}/reset", status_code=201)
async def reset_session(opened: OfSession) -> SessionShape:
    """Begin a new, empty session that learns anew how the provider counts; this one must be current."""
    return show_opened(await opened.reset())


@router.post("/api/sessions/{session}/resume")
async def resume_session(opened: OfSession) -> SessionShape:
    """Make this session the current one of its user and agent again."""
    await opened.resume()
    return show_opened(opened)


@router.post("/api/sessions/{session}/branch", status_code=201)
async def branch_session(opened: OfSession, point: BranchPoint) -> SessionShape:
    """Begin a session that shares the past up to a message and goes its own way; this one stays current."""
    return show_opened(await opened.branch(point.seq))


@router.post("/api/sessions/{session}/rewind", status_code=201)
async def rewind_session(opened: OfSession, point: BranchPoint) -> SessionShape:
    """Begin a branch that becomes the current session."""
    return show_opened(await opened.rewind(point.seq))


@router.get("/api/sessions/{session}/verify")
async def verify_session(opened: OfSession) -> VerificationShape:
    """Check everything that the certificates claim against what is stored; takes as long as the log is."""
    return show_verification(await opened.verify())


@router.get("/api/sessions/{session}/calls")
async def list_calls(opened: OfSession, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> CallPage:
    """What was asked of models for this session, in the order of recording."""
    return show_calls(await opened.calls(after=cursor, limit=limit), limit)


def show_opened(session: Session) -> SessionShape:
    """A session that was just read or made."""
    return show_session(session.record, session.inspector.figures)
