"""Opening a chat: what the settings say of an agent, put together."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.chat import Chat
from everfold.agents.models import open_agent_model
from everfold.agents.spending import Spending
from everfold.agents.toolbox import Toolbox
from everfold.agents.toolsets import open_toolsets
from everfold.config import Settings
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
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
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> AsyncIterator[Chat]:
    """A chat of a user with an agent, in their current session; it is closed, and servers of tools are left, at the end.

    The session's system prompt is the agent's instructions, and its tools are those of the agent, so that both are
    counted. The tools of history join them, and where the agent's memory is structured those of its memory.

    Args:
        engine: Opened with the same settings.
        settings: Where the agent is described.
        agent: Its name; one that the settings do not describe has neither instructions nor tools.
        user: Who speaks.
        model: Instead of the agent's own.
        limit: The model's context limit, instead of the agent's own.
        clock: Tells the time.
        ids: Makes ids.

    Raises:
        InvalidInputError: it has no model, or a tool cannot be had.
        BudgetUnsatisfiableError: instructions and tools leave no room within the limit.
    """
    own = settings.agents.get(agent)
    chosen = open_agent_model(
        settings, model or (own.model if own else None), what=f"the agent {agent!r}", purpose="chat"
    )
    toolsets = open_toolsets(own.tools, own.mcp) if own else []
    has_memory = settings.memory_policy(agent).system == "structured"

    async with chosen.model, Toolbox(toolsets, model=chosen.model, has_memory=has_memory) as toolbox:

        async def find_session() -> Session:
            return await engine.session(
                user=user,
                agent=agent,
                limit=limit,
                system=own.instructions if own else None,
                tools=toolbox.schemas,
            )

        spending = Spending(
            usage=engine.admin.usage,
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            per_day_usd=settings.spend.per_day_usd,
        )
        session = await find_session()
        async with aclosing(
            Chat(engine, find_session, session, model=chosen, toolbox=toolbox, spending=spending)
        ) as chat:
            yield chat
