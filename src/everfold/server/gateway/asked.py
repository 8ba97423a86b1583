"""What is asked of the gateway: a request of a client, read whole and within the server's bounds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope

from everfold.errors import MalformedRequestError
from everfold.server.bodies import Body, Bounds

_DOT_SEGMENT: Final = re.compile(r"(?:^|[/\\])\.\.?(?:[/\\;]|$)")
"""A segment of a path that leads elsewhere, as lenient servers read one too. Source: RFC 3986, 3.3 and 6.2.2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request of a client, with its body.

    Attributes:
        path: Decoded.
        target: The path with the query, as it came.
        headers: By their names in small letters; the first of a name counts.
        sent_headers: All of them, as they came.
    """

    method: str
    path: str
    target: str
    headers: Mapping[str, str]
    sent_headers: Sequence[tuple[bytes, bytes]]
    address: str
    body: bytes


async def read_asked(scope: Scope, receive: Receive, bounds: Bounds) -> Asked:
    """A request, once its body is there.

    Raises:
        MalformedRequestError: its path has a dot segment, or its client left.
        HTTPException: its body is too large (413), or does not come in time (408).
    """
    if _DOT_SEGMENT.search(scope["path"]):
        raise MalformedRequestError(f"the path {scope['path']!r} has a segment `.` or `..`; send it without")
    sent = scope["headers"]
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(sent)}
    if bounds.is_exceeded(headers.get("content-length", "")):
        raise HTTPException(413, bounds.refusal)
    query = scope["query_string"]
    return Asked(
        method=scope["method"],
        path=scope["path"],
        target=(scope["raw_path"] + (b"?" + query if query else b"")).decode("ascii"),
        headers=headers,
        sent_headers=sent,
        address=scope["client"][0] if scope.get("client") else "",
        body=await _read_body(Body(receive, bounds)),
    )


async def _read_body(receive: Receive) -> bytes:
    pieces: list[bytes] = []
    is_more = True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise MalformedRequestError("the client disconnected before its request was complete")
        pieces.append(message.get("body", b""))
        is_more = message.get("more_body", False)
    return b"".join(pieces)
