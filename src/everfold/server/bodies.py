"""Bodies of requests: how large one may be, and how long it may take."""

import asyncio
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from everfold.sections import ServerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a body may be, by which setting, and how long it may take."""

    limit_bytes: int
    secs: float
    setting: str

    @property
    def refusal(self) -> str:
        """What a larger body is answered."""
        return f"the body is larger than {self.limit_bytes:,} bytes; send less, or raise server.{self.setting}"

    def is_exceeded(self, length: str) -> bool:
        """Whether a body of this `Content-Length` is larger."""
        return length.isdigit() and int(length) > self.limit_bytes


def bound_body(settings: ServerSettings) -> Bounds:
    """What a body may be that is no file."""
    return Bounds(limit_bytes=settings.body_limit_bytes, secs=settings.body_secs, setting="body_limit_bytes")


class Body:
    """Counts what is read of a body, and until when it is waited for; in the place of `receive`."""

    def __init__(self, receive: Receive, bounds: Bounds) -> None:
        self._receive = receive
        self._refusal = bounds.refusal
        self._left_bytes = bounds.limit_bytes
        self._limit_secs = bounds.secs
        self._until: float | None = None
        self._is_whole = False

    async def __call__(self) -> Message:
        """The next message.

        Raises:
            HTTPException: The body is larger than it may be (413), or does not come in time (408).
        """
        message = await (self._receive() if self._is_whole else self._receive_in_time())
        self._is_whole = not message.get("more_body", False)
        self._left_bytes -= len(message.get("body", b""))
        if self._left_bytes < 0:
            raise HTTPException(413, self._refusal)
        return message

    async def _receive_in_time(self) -> Message:
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + self._limit_secs
        try:
            async with asyncio.timeout_at(self._until):
                return await self._receive()
        except TimeoutError as error:
            text = (
                f"the body did not come within {self._limit_secs:g} seconds; send it faster, or raise server.body_secs"
            )
            raise HTTPException(408, text, {"Connection": "close"}) from error
