"""Whose sessions are, and whose are asked for."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.engine import Everfold
from everfold.errors import NotFoundError

MOST_KNOWN: Final = 10_000
"""Of how many sessions it is remembered whose they are; that never changes."""


@dataclass(slots=True, kw_only=True)
class Owners:
    """Whose sessions are."""

    _known: OrderedDict[SessionId, tuple[UserId, AgentId]] = field(
        default_factory=OrderedDict[SessionId, tuple[UserId, AgentId]]
    )

    async def find(self, engine: Everfold, session_id: SessionId) -> tuple[UserId, AgentId] | None:
        """The user and the agent of a session; None where it was erased meanwhile."""
        known = self._known.get(session_id)
        if known is None:
            try:
                record = await engine.admin.get_record(session_id)
            except NotFoundError:
                return None
            known = self._known[session_id] = (record.user_id, record.agent_id)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A user and an agent; None for any."""

    user_id: UserId | None
    agent_id: AgentId | None

    def has(self, user_id: UserId, agent_id: AgentId) -> bool:
        """Whether a session of these two is meant."""
        return self.user_id in (None, user_id) and self.agent_id in (None, agent_id)

    def has_memory(self, user_id: UserId, agent_id: AgentId | None) -> bool:
        """Whether memory of this user is meant that is the agent's own; with None what all of their agents share."""
        return self.user_id in (None, user_id) and (agent_id is None or self.agent_id in (None, agent_id))
