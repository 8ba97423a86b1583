"""The app: routes over one engine, behind the middleware."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from everfold.server.access import find_rule
from everfold.server.hosts import Hosts
from everfold.server.middleware import Middleware
from everfold.server.problems import add_problems
from everfold.server.reference import add_reference, read_version
from everfold.server.routes import ROUTERS
from everfold.server.runtime import Runtime

_SUMMARY = "Context and memory for long-running agents: what was said, what is known of it, and what became of it."


def make_app(runtime: Runtime, *, hosts: Hosts | None = None, routers: Sequence[APIRouter] = ROUTERS) -> FastAPI:
    """The app over an engine that is open.

    Args:
        runtime: What is served.
        hosts: What may stand in `Host`; None where it is checked in front.
        routers: What is answered.

    Raises:
        RuntimeError: a route has no rule of access.
    """
    app = FastAPI(
        title="Everfold",
        version=read_version(),
        summary=_SUMMARY,
        openapi_url=None,  # see `add_reference`
        docs_url=None,  # its page loads its scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.runtime = runtime
    add_problems(app)
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                route.openapi_extra = {**(route.openapi_extra or {}), "x-access": find_rule(route)}
        # Not by `include_router`, which would build each route anew within the first request for it, 10 ms a route.
        app.router.routes.extend(router.routes)
    add_reference(app)
    app.add_middleware(
        Middleware,
        identify=runtime.identify,
        ids=runtime.ids,
        settings=runtime.settings.server,
        hosts=hosts,
        metrics=runtime.metrics,
        tracer=runtime.tracer,
    )
    return app
