"""Opening a chat: what the settings say of an agent, put together."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.chat import Chat
from everfold.agents.models import open_agent_model
from everfold.agents.spending import Spending
from everfold.agents.toolbox import Toolbox
from everfold.agents.toolsets import open_toolsets
from everfold.config import Settings
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.system import Clock, Ids
from everfold.session import Session


@asynccontextmanager
async def open_chat(
    engine: Everfold,
    settings: Settings,
    *,
    agent: str = DEFAULT_AGENT,
    user: str = DEFAULT_USER,
    model: str | None = None,
    limit: int | None = None,
    session_id: str | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> AsyncIterator[Chat]:
    """A chat of a user with an agent, in one of their sessions; it is closed, and servers of tools are left, at the end.

    The session's system prompt is the agent's instructions, and its tools are those of the agent, so that both are
    counted. The tools of history join them, and where the agent's memory is structured those of its memory.

    Args:
        engine: Opened with the same settings.
        settings: Where the agent is described.
        agent: Its name; one that the settings do not describe has neither instructions nor tools.
        user: Who speaks.
        model: Instead of the agent's own.
        limit: The model's context limit, instead of the agent's own.
        session_id: The session to talk in; `Chat.resume` makes it the current one of its session key. None for the current
            one that has no session key.
        clock: Tells the time.
        ids: Makes ids.

    Raises:
        InvalidInputError: it has no model, or a tool cannot be had.
        NotFoundError: they have no such session.
        BudgetUnsatisfiableError: instructions and tools leave no room within the limit.
    """
    own = settings.agents.get(agent)
    chosen = open_agent_model(
        settings, model or (own.model if own else None), what=f"the agent {agent!r}", purpose="chat"
    )
    toolsets = open_toolsets(own.tools, own.mcp) if own else []
    has_memory = settings.memory_policy(agent).system == "structured"

    async with chosen.model, Toolbox(toolsets, model=chosen.model, has_memory=has_memory) as toolbox:
        hold = partial(engine.session, limit=limit, system=own.instructions if own else None, tools=toolbox.schemas)
        spending = Spending(
            usage=engine.admin.usage,
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            per_day_usd=settings.spend.per_day_usd,
        )
        if session_id is None:
            session = await hold(user=user, agent=agent)
        else:
            session = await open_own(engine, hold, session_id, user=user, agent=agent)
        go_on = partial(resume, engine, hold, user=user, agent=agent)
        async with aclosing(Chat(engine, go_on, session, model=chosen, toolbox=toolbox, spending=spending)) as chat:
            yield chat


Hold = Callable[..., Awaitable[Session]]
"""Opens a session as `Everfold.session` does, with the limit, the instructions and the tools of an agent."""


async def resume(engine: Everfold, hold: Hold, session_id: str, *, user: str, agent: str) -> Session:
    """Make a session of a user and an agent the current one of its session key.

    Raises:
        NotFoundError: user and agent have no such session.
        BudgetUnsatisfiableError: instructions and tools leave no room within the limit. The session is not current then.
        ConflictError: another one was made the current one meanwhile.
    """
    session = await open_own(engine, hold, session_id, user=user, agent=agent)
    await session.integration.resume()
    current = await hold(user=user, agent=agent, session_key=session.record.session_key or None)
    if current.id != session_id:
        raise ConflictError(
            f"session {session_id}: session {current.id} was made the current one meanwhile; try again",
            session=session_id,
        )
    return current


async def open_own(engine: Everfold, hold: Hold, session_id: str, *, user: str, agent: str) -> Session:
    """A session of a user and an agent, by its id; the current one stays current.

    Raises:
        NotFoundError: user and agent have no such session.
        BudgetUnsatisfiableError: instructions and tools leave no room within the limit.
    """
    record = (await engine.session(id=session_id)).record
    if (record.user_id, record.agent_id) != ((await engine.get_user(user)).id, agent):
        raise NotFoundError(f"this user has no session {session_id!r} with this agent", session=session_id)
    return await hold(id=session_id)
