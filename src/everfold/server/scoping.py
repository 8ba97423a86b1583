"""Whose sessions a request is about, where its path does not say: what is asked for, within what the key may see."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from everfold.core.sessions import AgentId, UserId
from everfold.engine import Everfold
from everfold.errors import ForbiddenError
from everfold.server.access import Caller, read_user

AskedUser = Annotated[str | None, Query(description="Only of this user: `default`, or a UUID.", examples=["default"])]
AskedAgent = Annotated[str | None, Query(min_length=1, description="Only with this agent.", examples=["default"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A user and an agent; None for any."""

    user_id: UserId | None
    agent_id: AgentId | None

    def has(self, user_id: UserId, agent_id: AgentId) -> bool:
        """Whether a session of these two is meant."""
        return self.user_id in (None, user_id) and self.agent_id in (None, agent_id)


async def read_owner(caller: Caller, engine: Everfold, user: str | None, agent: str | None) -> Owner:
    """Whose sessions are asked for; what is left out is everybody whom the key sees.

    Raises:
        MalformedRequestError: the user is neither `default` nor a UUID.
        ForbiddenError: the key is of another user or another agent.
    """
    user_id = caller.user_id if user is None else await read_user(engine, user)
    agent_id = caller.agent_id if agent is None else AgentId(agent)
    if caller.user_id not in (None, user_id):
        raise _forbid(caller, f"it does not see the user {user}")
    if caller.agent_id not in (None, agent_id):
        raise _forbid(caller, f"it does not see the agent {agent!r}")
    return Owner(user_id=user_id, agent_id=agent_id)


def _forbid(caller: Caller, why: str) -> ForbiddenError:
    return ForbiddenError(f"the key {caller.key.name!r} may not do this: {why}", key=caller.key.id)
