"""Dreams: what consolidation changed, and a person's judgement of it."""

from typing import Final

from fastapi import Response

from everfold.core.memory.topics import Dream
from everfold.server.access import AnyKey, OfOwner
from everfold.server.answers import ExactAnswer
from everfold.server.paging import DEFAULT_LIMIT, Limit
from everfold.server.queries import DreamText
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.dreams import (
    DiffedDream,
    DreamDetailSchema,
    DreamListSchema,
    DreamSchema,
    NewDream,
    NoDream,
)

router = make_router("dreams")

_DEFAULT: Final = NewDream()


@router.get("/api/users/{user}/dreams", response_model=DreamListSchema)
async def list_dreams(memory: OfOwner, limit: Limit = DEFAULT_LIMIT) -> Fields:
    """List dreams, newest first."""
    return {"dreams": await memory.dreams(limit=limit)}


@router.post(
    "/api/users/{user}/dreams",
    status_code=201,
    response_model=DreamSchema,
    responses={200: {"model": NoDream, "description": "There was nothing to dream of, or it is not the moment."}},
)
async def begin_dream(memory: OfOwner, caller: AnyKey, new: NewDream = _DEFAULT) -> Dream | Response:
    """Run a dream now; null when there is nothing new, or a dream is running or waits for approval."""
    dream = await memory.dream(agent=new.agent, actor=caller.actor)
    return ExactAnswer(NoDream().model_dump()) if dream is None else dream


@router.get("/api/users/{user}/dreams/{dream}", response_model=DreamDetailSchema)
async def read_dream(memory: OfOwner, dream: DreamText) -> DiffedDream:
    """Read a dream with each topic before and after it, its evidence, its losses, and its cost."""
    return DiffedDream(await memory.get_dream(dream), await memory.dream_diff(dream))


@router.post("/api/users/{user}/dreams/{dream}/approve", response_model=DreamSchema)
async def approve_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> Dream:
    """Apply a proposed dream."""
    return await memory.approve(dream, actor=caller.actor)


@router.post("/api/users/{user}/dreams/{dream}/reject", response_model=DreamSchema)
async def reject_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> Dream:
    """Drop a proposed dream; it is not proposed again."""
    return await memory.reject(dream, actor=caller.actor)


@router.post("/api/users/{user}/dreams/{dream}/revert", response_model=DreamSchema)
async def revert_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> Dream:
    """Restore the topics that a dream changed."""
    return await memory.revert(dream, actor=caller.actor)
