"""Agents: what each is, and being it otherwise."""

from everfold.engine import DEFAULT_AGENT
from everfold.server.access import AnyKey, AsAdmin, Context, OfAgent
from everfold.server.routing import make_router
from everfold.server.shapes.agents import AgentChange, AgentPage, AgentShape, show_agent

router = make_router("agents")


@router.get("/api/agents")
async def list_agents(caller: AnyKey, runtime: Context) -> AgentPage:
    """The agents of the settings and those that anybody has spoken to, by name; an agent's key sees its own.

    A user's key sees the names that the settings have, which it may talk with, in `GET /api/me` only.
    """
    settings = runtime.settings
    names = {DEFAULT_AGENT, *settings.agents, *await runtime.engine.list_agents()} if caller.is_admin else set()
    seen = {caller.agent_id} if caller.agent_id else names
    return AgentPage(agents=[show_agent(settings, name) for name in sorted(seen)])


@router.get("/api/agents/{agent}")
async def get_agent(agent_id: OfAgent, runtime: Context) -> AgentShape:
    """One agent; one that the settings do not describe is as they say for all."""
    return show_agent(runtime.settings, agent_id)


@router.patch("/api/agents/{agent}/config")
async def change_agent(_: AsAdmin, agent_id: OfAgent, runtime: Context, change: AgentChange) -> AgentShape:
    """Have an agent be otherwise, from its next turn on: it is written into the settings file, comments kept.

    Sessions that are there keep how they compact; new ones have it otherwise.
    """
    await runtime.change_agent(agent_id, change.changes)
    return show_agent(runtime.settings, agent_id)
