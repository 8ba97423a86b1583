"""Make tools: an agent's tools for memory and history, bound to one user and one agent."""

from collections.abc import Sequence

from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import SessionId
from everfold.errors import NotFoundError
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.sessions.live import load_session
from everfold.services.sessions.read import read_range
from everfold.services.sessions.search import SearchHit, search_messages
from everfold.services.turns.agent_memory import AgentMemory


def make_memory_tools(memory: AgentMemory, record: SessionRecord) -> MemoryTools:
    """The tools of a session's agent. They reach this user's conversations with this agent, and no others."""
    store = memory.store

    async def search(question: str, count: int) -> Sequence[SearchHit]:
        return await search_messages(
            store, question, user_id=record.user_id, agent_id=record.agent_id, limit_count=count
        )

    async def read(session_id: str | None, first_seq: int, last_seq: int) -> Sequence[Message]:
        found = record if session_id is None else await store.get_session(SessionId(session_id))
        if (found.user_id, found.agent_id) != (record.user_id, record.agent_id):
            raise NotFoundError(
                f"there is no conversation {session_id!r}; use one that a search named", session=str(session_id)
            )
        return await read_range(store, await load_session(store, found), first_seq, last_seq)

    return MemoryTools(
        memory.rememberer,
        user_id=record.user_id,
        agent_id=record.agent_id,
        fence_key=record.id,
        search_history=search,
        read_history=read,
    )
