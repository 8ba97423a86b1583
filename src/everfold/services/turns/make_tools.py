"""Make tools: an agent's tools for memory and history, bound to one user and one agent."""

from collections.abc import Sequence

from everfold.core.log.search_filters import SearchFilter
from everfold.core.primitives.ids import SessionId
from everfold.errors import NotFoundError
from everfold.services.memory.history_tools import HistoryStretch, HistoryTools
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.sessions.live import LiveSession, copy_session, load_session
from everfold.services.sessions.search import SearchHit, search_messages
from everfold.services.turns.agent_memory import AgentMemory


def make_memory_tools(memory: AgentMemory, live: LiveSession, *, only_here: bool = False) -> MemoryTools:
    """The tools of a session's agent.

    Those for history reach this user's conversations with this agent and no others, or this session alone.
    """
    store = memory.store

    async def search(question: str, count: int, only: SearchFilter) -> Sequence[SearchHit]:
        return await search_messages(
            store,
            question,
            user_id=live.record.user_id,
            agent_id=live.record.agent_id,
            session_id=live.record.id if only_here else None,
            limit_count=count,
            only=only,
        )

    async def find(session_id: str) -> LiveSession:
        unknown = f"there is no conversation {session_id[:80]!r}; use one that a search named"
        try:
            found = await store.get_session(SessionId(session_id))
        except NotFoundError as error:
            raise NotFoundError(unknown, session=session_id) from error
        is_other = (found.user_id, found.agent_id) != (live.record.user_id, live.record.agent_id)
        if is_other or (only_here and found.id != live.record.id):
            raise NotFoundError(unknown, session=session_id)
        return await load_session(store, found)

    async def read(session_id: str | None, first_seq: int, last_seq: int) -> HistoryStretch:
        found = await copy_session(store, live) if session_id is None else await find(session_id)
        seqs = range(first_seq, min(last_seq, found.state.last_seq) + 1)
        messages = await store.read_messages(found.record.id, seqs) if seqs else []
        return HistoryStretch(messages=messages, last_seq=found.state.last_seq)

    return MemoryTools(
        memory.rememberer,
        user_id=live.record.user_id,
        agent_id=live.record.agent_id,
        fence_key=live.record.id,
        store_user=None if live.opening is None else live.opening.ensure_user_id,
        history=HistoryTools(
            search_history=search,
            read_history=read,
            fence_key=live.record.id,
            measure_room=lambda: live.budget().visible_tokens,
        ),
    )
