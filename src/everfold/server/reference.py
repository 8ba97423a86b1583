"""The reference: the OpenAPI of all routes, and which version this is.

It takes a second of work to write, which is done once, at the first request, on a thread.
"""

import asyncio
from functools import cache
from importlib.metadata import version
from typing import Final

from anyio import to_thread
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from everfold.server.answers import write_json
from everfold.server.problems import describe_problem

URL: Final = "/api/openapi.json"


@cache
def read_version() -> str:
    """The version of what is installed; reading it takes longer than many an answer."""
    return version("everfold")


def add_reference(app: FastAPI) -> None:
    """Have an app tell its OpenAPI to everybody who asks."""
    document = app.openapi
    app.openapi = lambda: describe_problem(document())  # type: ignore[method-assign]  # the way that FastAPI documents
    writing, written = asyncio.Lock(), list[bytes]()

    async def tell(_: Request) -> Response:
        async with writing:
            if not written:
                written.append(await to_thread.run_sync(lambda: write_json(app.openapi())))
        return Response(written[0], media_type="application/json")

    app.router.add_route(URL, tell, include_in_schema=False)
