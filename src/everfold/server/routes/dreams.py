"""Dreams: what consolidation changed, and a person's judgement of it."""

from typing import Final

from fastapi import Response

from everfold.server.access import AnyKey, OfOwner
from everfold.server.answers import ExactAnswer
from everfold.server.paging import DEFAULT_LIMIT, Limit
from everfold.server.queries import DreamText
from everfold.server.routing import make_router
from everfold.server.shapes.dreams import (
    DreamDetail,
    DreamList,
    DreamShape,
    NewDream,
    NoDream,
    show_detail,
    show_dream,
    show_dreams,
)

router = make_router("dreams")

_DEFAULT: Final = NewDream()


@router.get("/api/users/{user}/dreams")
async def list_dreams(memory: OfOwner, limit: Limit = DEFAULT_LIMIT) -> DreamList:
    """List dreams, newest first."""
    return show_dreams(await memory.dreams(limit=limit))


@router.post(
    "/api/users/{user}/dreams",
    status_code=201,
    response_model=DreamShape,
    responses={200: {"model": NoDream, "description": "There was nothing to dream of, or it is not the moment."}},
)
async def begin_dream(memory: OfOwner, caller: AnyKey, new: NewDream = _DEFAULT) -> DreamShape | Response:
    """Dream now of what no dream has read yet; null where there is nothing, or one is on its way or to be approved."""
    dream = await memory.dream(agent=new.agent, actor=caller.actor)
    return ExactAnswer(NoDream().model_dump()) if dream is None else show_dream(dream)


@router.get("/api/users/{user}/dreams/{dream}")
async def read_dream(memory: OfOwner, dream: DreamText) -> DreamDetail:
    """Read a dream with each topic before and after it, its evidence, what was lost, and its cost."""
    return show_detail(await memory.get_dream(dream), await memory.dream_diff(dream))


@router.post("/api/users/{user}/dreams/{dream}/approve")
async def approve_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> DreamShape:
    """Carry out a proposed dream."""
    return show_dream(await memory.approve(dream, actor=caller.actor))


@router.post("/api/users/{user}/dreams/{dream}/reject")
async def reject_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> DreamShape:
    """Drop a proposed dream; the same is not proposed again."""
    return show_dream(await memory.reject(dream, actor=caller.actor))


@router.post("/api/users/{user}/dreams/{dream}/revert")
async def revert_dream(memory: OfOwner, caller: AnyKey, dream: DreamText) -> DreamShape:
    """Bring back the topics that a dream changed."""
    return show_dream(await memory.revert(dream, actor=caller.actor))
