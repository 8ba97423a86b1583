"""The demo: load its conversations into the store that is served."""

from everfold.demo.loading import AGENT, AGENT_SETTINGS, load_demo, require_unloaded
from everfold.server.access import AsAdmin, Context
from everfold.server.routing import make_router
from everfold.server.schemas.demo import LoadedDemo

router = make_router("demo")


@router.post("/api/demo", status_code=201)
async def load(_: AsAdmin, runtime: Context) -> LoadedDemo:
    """Load the demo: two users, a long conversation that folds, memory and a dream. No model is called.

    The settings file gets the section `[agents.shop]`, with structured memory and a context limit of 8,000 tokens.
    Answers 409 where the demo's users exist.
    """
    await require_unloaded(runtime.engine)
    await runtime.change_agent(AGENT, AGENT_SETTINGS)
    steps = [step async for step in load_demo(runtime.engine, now=runtime.clock.now())]
    return LoadedDemo(session_id=steps[-1].session, messages_count=steps[-1].messages_count)
