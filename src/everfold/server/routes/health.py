"""Health: whether the server lives, and whether it can serve."""

from typing import Literal

from fastapi import Depends, Response

from everfold.errors import StoreError
from everfold.server.access import Context, let_anybody
from everfold.server.routing import make_router
from everfold.server.schemas.schema import Schema

router = make_router("health")


class Health(Schema):
    """How it is."""

    status: Literal["ok", "unavailable"]


@router.get("/health/live", dependencies=[Depends(let_anybody)])
async def tell_live() -> Health:
    """Tell whether the process is alive; restart it when this fails."""
    return Health(status="ok")


@router.get(
    "/health/ready",
    dependencies=[Depends(let_anybody)],
    responses={
        503: {
            "model": Health,
            "description": "The store does not serve, the server is stopping, or a worker gets no jobs.",
        }
    },
)
async def tell_ready(runtime: Context, response: Response) -> Health:
    """Tell whether the server is ready: the store answers, the server is not stopping, and a worker is known to the queue."""
    if not runtime.stopping.is_set() and runtime.can_work:
        try:
            await runtime.engine.get_user()
        except StoreError:
            pass
        else:
            return Health(status="ok")
    response.status_code = 503
    return Health(status="unavailable")
