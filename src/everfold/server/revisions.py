"""Edits that expect a revision: `ETag` on what is read, `If-Match` on what is changed, and what a lost race is told.

Source: RFC 9110, 8.8.3 (ETag) and 13.1.1 (If-Match, which asks for a strong comparison).
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Response
from pydantic import BaseModel

from everfold.errors import ConflictError, MalformedRequestError
from everfold.server.problems import LostRaceError

_TAG: Final = re.compile(r'\s*"([\x21\x23-\x7e]{1,64})"\s*')
_NUMBER: Final = re.compile(r"[0-9]{1,18}")

_IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The `ETag` that the caller saw; the edit is refused with 409 where the resource is at another one.",
        examples=['"3"'],
    ),
]

TAGGED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "headers": {
            "ETag": {
                "description": "Names this state of the resource for `If-Match`.",
                "schema": {"type": "string", "examples": ['"3"']},
            }
        }
    }
}
"""What a route that tags its answer adds to its `responses`."""


async def read_tag(if_match: _IfMatch = None) -> str | None:
    """What stands in the quotes of `If-Match`; None where any state will do.

    Raises:
        MalformedRequestError: it is not one strong tag.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    found = _TAG.fullmatch(if_match)
    if found is None:
        raise MalformedRequestError(f'If-Match must be the ETag of a response, such as "3", got {if_match!r}')
    return found[1]


async def read_revision(tag: Annotated[str | None, Depends(read_tag)]) -> int | None:
    """The revision that `If-Match` names; None where any will do.

    Raises:
        MalformedRequestError: it is no revision.
    """
    if tag is None:
        return None
    if not _NUMBER.fullmatch(tag):
        raise MalformedRequestError(f'If-Match must name a revision, such as "3", got {tag!r}')
    return int(tag)


ExpectedTag = Annotated[str | None, Depends(read_tag)]
ExpectedRevision = Annotated[int | None, Depends(read_revision)]


def tag(response: Response, mark: int | str) -> None:
    """Have an answer say which state of the resource it shows."""
    response.headers["ETag"] = f'"{mark}"'


@asynccontextmanager
async def told_race(
    expected: int | str | None, read_now: Callable[[], Awaitable[tuple[int | str, BaseModel]]]
) -> AsyncIterator[None]:
    """Have a lost race tell the revision that was expected, and the resource as it is now.

    Args:
        expected: What `If-Match` named; None for none.
        read_now: Gives what the resource is tagged with now, and its schema.

    Raises:
        LostRaceError: an edit within it was refused, and the resource is at another revision than expected.
    """
    try:
        yield
    except ConflictError as error:
        if expected is None:
            raise
        mark, current = await read_now()
        if mark == expected:
            raise  # it was refused for something else
        raise LostRaceError(str(error), expected=str(expected), current=current.model_dump(mode="json")) from error
