"""Memory as a whole: its topics by name, its wipe, and how it leaves and comes back."""

from typing import Annotated, cast

from fastapi import Body

from everfold.core.memory.records import MemoryVersion
from everfold.core.primitives.json_values import JsonObject
from everfold.memory import TopicIndex
from everfold.server.access import AnyKey, AsAdmin, Context, OfMemory, OfUser
from everfold.server.answers import ExactAnswer
from everfold.server.queries import Transcripts
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.memory import BudgetsSchema, MemoryVersionSchema, WipedMemory, show_wiped
from everfold.server.schemas.topics import TopicIndexSchema

router = make_router("memory")

Document = Annotated[
    dict[str, object],
    Body(
        description="What an export gave.",
        examples=[{"format": "everfold.user", "version": 1, "items": [], "topics": []}],
    ),
]


@router.get("/api/users/{user}/memory", response_model=TopicIndexSchema)
@router.get("/api/users/{user}/topics", response_model=TopicIndexSchema)
async def read_memory(memory: OfMemory) -> TopicIndex:
    """List the topics of a user by name, without their content; an agent's API key sees what the agent sees."""
    return await memory.topic_index()


@router.delete("/api/users/{user}/memory")
async def wipe_memory(
    user_id: OfUser, caller: AnyKey, runtime: Context, *, transcripts: Transcripts = False
) -> WipedMemory:
    """Wipe all memory of a user in one transaction; the user stays. A second wipe counts 0."""
    return show_wiped(await runtime.engine.wipe(user_id, transcripts=transcripts, actor=caller.actor))


@router.get(
    "/api/users/{user}/memory/export",
    response_class=ExactAnswer,
    responses={
        200: {
            "description": "The document, to be saved as `memory_<uid>_<yyyymmdd>.json`.",
            "content": {"application/json": {"schema": {"type": "object"}}},
            "headers": {"Content-Disposition": {"schema": {"type": "string"}}},
        }
    },
)
async def export_memory(
    user_id: OfUser, caller: AnyKey, runtime: Context, *, transcripts: Transcripts = False
) -> ExactAnswer:
    """Export all memory of a user as one document that can be imported."""
    document = await runtime.engine.export_user(user_id, transcripts=transcripts, actor=caller.actor)
    name = f"memory_{user_id}_{runtime.clock.now():%Y%m%d}.json"
    return ExactAnswer(document, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.post("/api/users/{user}/memory/import", response_model=MemoryVersionSchema)
async def import_memory(
    caller: AsAdmin, user_id: OfUser, runtime: Context, document: Document, *, transcripts: Transcripts = True
) -> MemoryVersion:
    """Import the document of an export for a user without memory; all of it or nothing."""
    return await runtime.engine.import_user(
        cast("JsonObject", document), user=user_id, transcripts=transcripts, actor=caller.actor
    )


@router.get("/api/users/{user}/budgets", response_model=BudgetsSchema)
async def read_budgets(memory: OfMemory) -> Fields:
    """Read how much of its budget each tier of the memory block takes."""
    of_user, *of_agents = await memory.budgets()
    return {"user": of_user, "agents": of_agents}
