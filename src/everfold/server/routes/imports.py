"""Imports: a file with conversations of other products, stored as sessions."""

import logging
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

from fastapi import Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from everfold.engine import DEFAULT_AGENT, DEFAULT_USER
from everfold.errors import EverfoldError, InvalidInputError
from everfold.server.access import AnyKey, Context
from everfold.server.answers import write_event
from everfold.server.imports import Upload, discard
from everfold.server.middleware import FILE_PATH, FILE_TYPE
from everfold.server.problems import request_id_of, tell_error, tell_failure
from everfold.server.routing import make_router
from everfold.server.schemas.streams import OPENED, show_problem
from everfold.server.scoping import AskedAgent, AskedUser, read_owner

router = make_router("imports")

_logger = logging.getLogger("everfold.server")
_SUFFIX: Final = re.compile(r"\.[A-Za-z0-9]{1,9}")
_BODY = {
    "requestBody": {
        "required": True,
        "content": {FILE_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _read_suffix(name: str) -> str:
    """The suffix of a name where a file of ours may have it: it tells an archive or a format."""
    suffix = Path(name).suffix
    return suffix if _SUFFIX.fullmatch(suffix) else ""


async def take_upload(
    caller: AnyKey,
    runtime: Context,
    request: Request,
    name: Annotated[
        str, Query(max_length=200, description="The file's name; only shown.", examples=["export.zip"])
    ] = "upload",
    user: AskedUser = None,
    agent: AskedAgent = None,
    limit: Annotated[int | None, Query(gt=0, description="The context limit of the sessions.", examples=[None])] = None,
) -> Upload:
    """The file of a request, received whole before the stream begins.

    Raises:
        ForbiddenError: the key is of another user or agent.
        InvalidInputError: there is no file.
    """
    owner = await read_owner(caller, runtime.engine, user, agent)
    with tempfile.NamedTemporaryFile(prefix="everfold-", suffix=_read_suffix(name), delete=False) as file:
        path = Path(file.name)
        try:
            async for chunk in request.stream():
                file.write(chunk)
        except BaseException:
            discard(path)
            raise
        size = file.tell()
    if not size:
        discard(path)
        raise InvalidInputError("the body is empty: send the file as the body")
    return Upload(
        path=path,
        name=name,
        user=owner.user_id or DEFAULT_USER,
        agent=owner.agent_id or DEFAULT_AGENT,
        limit=limit,
    )


@router.post(FILE_PATH, response_class=EventSourceResponse, openapi_extra=_BODY)
async def import_file(
    _: AnyKey, runtime: Context, request: Request, upload: Annotated[Upload, Depends(take_upload)]
) -> AsyncIterator[ServerSentEvent]:
    """Store every conversation of a file as a session, and stream the progress.

    The body is the file as it is: a transcript in any known format, or a zip archive of such files. Events: `progress` for each
    stored batch of a conversation, `left` for each file that was not stored, with the reason; then `done`, or `problem`
    with a problem document. The import goes on when the client disconnects.
    """
    yield OPENED
    try:
        async for step in runtime.imports.run(runtime.engine, upload):
            fields = asdict(step)
            yield write_event(fields.pop("kind"), fields)
    except EverfoldError as error:
        yield show_problem(tell_error(error, request_id_of(request)))
    except Exception:
        _logger.exception("request %s failed in its stream", request_id_of(request))
        yield show_problem(tell_failure(request_id_of(request)))
