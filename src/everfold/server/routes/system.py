"""The system as a whole: what waits, what failed, what was spent, and the settings."""

from fastapi import Response

from everfold.server.access import AsAdmin, Context
from everfold.server.home import show_home
from everfold.server.metrics import MEDIA_TYPE
from everfold.server.overview import show_system
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.home import HomeSchema
from everfold.server.schemas.system import SystemSchema

router = make_router("system")


@router.get("/api/home", response_model=HomeSchema)
async def read_home(_: AsAdmin, runtime: Context) -> Fields:
    """Read what is stored, what happened in the last 30 days, and which failures wait for a retry."""
    return await show_home(runtime)


@router.get("/api/system", response_model=SystemSchema)
async def read_system(_: AsAdmin, runtime: Context) -> Fields:
    """Read pending and failed work, today's spend, and every setting with its origin."""
    return await show_system(runtime)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text."}},
)
async def read_metrics(_: AsAdmin, runtime: Context) -> Response:
    """Read the metrics in the text format of Prometheus."""
    return Response(await runtime.metrics.show(runtime.engine, runtime.clock), media_type=MEDIA_TYPE)
