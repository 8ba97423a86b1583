"""The system as a whole: what waits, what failed, what was spent, and the settings."""

from fastapi import Response

from everfold.server.access import AsAdmin, Context
from everfold.server.measures import MEDIA_TYPE
from everfold.server.overview import show_system
from everfold.server.routing import make_router
from everfold.server.shapes.system import SystemShape

router = make_router("system")


@router.get("/api/system")
async def read_system(_: AsAdmin, runtime: Context) -> SystemShape:
    """What waits and what failed, what was spent today, and every setting with where it came from."""
    return await show_system(runtime)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text."}},
)
async def read_metrics(_: AsAdmin, runtime: Context) -> Response:
    """The figures that a monitor scrapes, in the text form of Prometheus."""
    return Response(await runtime.measures.show(runtime.engine, runtime.clock), media_type=MEDIA_TYPE)
