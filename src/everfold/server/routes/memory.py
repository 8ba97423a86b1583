"""Memory as a whole: its topics by name, its wipe, and how it leaves and comes back."""

from typing import Annotated, cast

from fastapi import Body

from everfold.core.json_values import JsonObject
from everfold.server.access import AnyKey, AsAdmin, Context, OfMemory, OfUser
from everfold.server.answers import ExactAnswer
from everfold.server.queries import Transcripts
from everfold.server.routing import make_router
from everfold.server.shapes.memory import Budgets, HeadShape, WipedShape, show_budgets, show_head, show_wiped
from everfold.server.shapes.topics import TopicIndexShape, show_index

router = make_router("memory")

Document = Annotated[
    dict[str, object],
    Body(
        description="What an export gave.",
        examples=[{"format": "everfold.user", "version": 1, "items": [], "topics": []}],
    ),
]


@router.get("/api/users/{user}/memory")
@router.get("/api/users/{user}/topics")
async def read_memory(memory: OfMemory) -> TopicIndexShape:
    """List the topics of a user without what they say, by name; a key of an agent sees what its agent sees."""
    return show_index(await memory.topic_index())


@router.delete("/api/users/{user}/memory")
async def wipe_memory(
    user_id: OfUser, caller: AnyKey, runtime: Context, *, transcripts: Transcripts = False
) -> WipedShape:
    """Wipe all that memory has of a user, in one transaction; the user stays. A second time counts nothing."""
    wiped = await runtime.engine.wipe(user_id, transcripts=transcripts, actor=caller.actor)
    return show_wiped(wiped.counts, is_pending=wiped.is_pending)


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
    """Export all that memory has of a user as one document, which an import takes."""
    document = await runtime.engine.export_user(user_id, transcripts=transcripts, actor=caller.actor)
    name = f"memory_{user_id}_{runtime.clock.now():%Y%m%d}.json"
    return ExactAnswer(document, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.post("/api/users/{user}/memory/import")
async def import_memory(
    caller: AsAdmin, user_id: OfUser, runtime: Context, document: Document, *, transcripts: Transcripts = True
) -> HeadShape:
    """Import the document of an export for a user who has no memory; all of it or nothing."""
    head = await runtime.engine.import_user(
        cast("JsonObject", document), user=user_id, transcripts=transcripts, actor=caller.actor
    )
    return show_head(head)


@router.get("/api/users/{user}/budgets")
async def read_budgets(memory: OfMemory) -> Budgets:
    """Read how much of its budget each tier of the always-injected block takes."""
    return show_budgets(await memory.budgets())
