"""The app: routes over one engine, behind the gate."""

from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import APIRoute

from everfold.server.access import find_rule
from everfold.server.answers import ExactAnswer
from everfold.server.gate import Gate
from everfold.server.problems import add_problems, describe_problem
from everfold.server.routes import ROUTERS
from everfold.server.runtime import Runtime

_SUMMARY = "Context and memory for long-running agents: what was said, what is known of it, and what became of it."


def make_app(runtime: Runtime) -> FastAPI:
    """The app over an engine that is open.

    Raises:
        RuntimeError: a route has no rule of access.
    """
    app = FastAPI(
        title="Everfold",
        version=version("everfold"),
        summary=_SUMMARY,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page loads its scripts from elsewhere
        redoc_url=None,
        default_response_class=ExactAnswer,
        separate_input_output_schemas=False,
    )
    app.state.runtime = runtime
    add_problems(app)
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                route.openapi_extra = {**(route.openapi_extra or {}), "x-access": find_rule(route)}
        app.include_router(router)
    document = app.openapi
    app.openapi = lambda: describe_problem(document())  # type: ignore[method-assign]  # the way that FastAPI documents
    app.add_middleware(
        Gate,
        identify=runtime.identify,
        ids=runtime.ids,
        body_limit_bytes=runtime.settings.server.body_limit_bytes,
        measures=runtime.measures,
        tracer=runtime.tracer,
    )
    return app
