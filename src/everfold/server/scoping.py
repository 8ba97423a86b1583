"""Whose sessions a request is about, where its path does not say: what is asked for, within what the key may see."""

from typing import Annotated

from fastapi import Query

from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import AgentId
from everfold.engine import Everfold
from everfold.errors import NotFoundError
from everfold.server.access import Caller, forbid, no_session, read_user, sees_session
from everfold.server.owners import Owner

AskedUser = Annotated[str | None, Query(description="Only of this user: `default`, or a UUID.", examples=["default"])]
AskedAgent = Annotated[str | None, Query(min_length=1, description="Only with this agent.", examples=["default"])]


async def read_owner(caller: Caller, engine: Everfold, user: str | None, agent: str | None) -> Owner:
    """Whose sessions are asked for; what is left out is everybody whom the key sees.

    Raises:
        MalformedRequestError: the user is neither `default` nor a UUID.
        ForbiddenError: the key is of another user or another agent.
    """
    user_id = caller.user_id if user is None else await read_user(engine, user)
    agent_id = caller.agent_id if agent is None else AgentId(agent)
    if caller.user_id not in (None, user_id):
        raise forbid(caller, f"it does not see the user {user}")
    if caller.agent_id not in (None, agent_id):
        raise forbid(caller, f"it does not see the agent {agent!r}")
    return Owner(user_id=user_id, agent_id=agent_id)


async def find_session(caller: Caller, engine: Everfold, session_id: str, *, agent: str | None = None) -> SessionRecord:
    """A session that a request names beside its path, of one agent where that is given.

    Raises:
        NotFoundError: there is none that the key sees; whether there is another is not told.
    """
    try:
        record = await engine.admin.get_record(session_id)
    except NotFoundError as error:
        raise no_session(session_id) from error
    if agent not in (None, record.agent_id) or not sees_session(caller, record.user_id, record.agent_id):
        raise no_session(session_id)
    return record
