"""Agents: what each is, and being it otherwise."""

from everfold.engine import DEFAULT_AGENT
from everfold.server.access import AnyKey, AsAdmin, Context, OfAgent
from everfold.server.routing import make_router
from everfold.server.schemas.agents import Agent, AgentChange, AgentPage, show_agent

router = make_router("agents")


@router.get("/api/agents")
async def list_agents(caller: AnyKey, runtime: Context) -> AgentPage:
    """List the agents of the settings and those with sessions, by name; an agent's API key sees its own.

    A user's API key sees the names of the agents that it may chat with in `GET /api/me` only.
    """
    settings = runtime.settings
    names = {DEFAULT_AGENT, *settings.agents, *await runtime.engine.admin.list_agents()} if caller.is_admin else set()
    seen = {caller.agent_id} if caller.agent_id else names
    return AgentPage(agents=[show_agent(settings, name) for name in sorted(seen)])


@router.get("/api/agents/{agent}")
async def get_agent(agent_id: OfAgent, runtime: Context) -> Agent:
    """Read one agent; one without settings of its own has the defaults."""
    return show_agent(runtime.settings, agent_id)


@router.patch("/api/agents/{agent}/config")
async def change_agent(_: AsAdmin, agent_id: OfAgent, runtime: Context, change: AgentChange) -> Agent:
    """Change an agent from its next turn on. The change is written to the settings file, where comments stay.

    With PostgreSQL it is written to the store instead, and every server and worker goes by it. Existing
    sessions keep their compaction settings; new sessions use the changed ones.
    """
    await runtime.change_agent(agent_id, change.changes)
    return show_agent(runtime.settings, agent_id)
