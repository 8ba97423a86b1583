"""Rounds: passing on a reply that may call our history tools, over as many requests to the provider as it takes."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

import anyio
import httpx2

from everfold.core.conversations.joined_replies import JoinedReply, begin_joining
from everfold.core.conversations.replies import Reply, encode_body
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject
from everfold.server.gateway.answers import (
    Answer,
    is_stream,
    read_json,
    read_raw,
    tells_too_long,
    unpack,
    write_error_event,
)
from everfold.server.gateway.history import History
from everfold.server.gateway.turn import Turn

Ask = Callable[[bytes], AbstractAsyncContextManager[httpx2.Response]]
"""Sends a body to the provider, as the client's request was sent."""


class StoreReply(Protocol):
    """Stores what a model said, whole or as far as it came."""

    async def __call__(self, turn: Turn, reply: Reply, *, is_whole: bool) -> None:
        """Store a reply.

        Raises:
            StoreUnavailableError: the reply of a named session was not stored.
        """


@dataclass(slots=True, kw_only=True)
class Rounds:
    """The requests to the provider behind one reply.

    Attributes:
        turn: The turn; another one once its window had to be made smaller.
        shrink: Makes the window of a turn smaller; None where it cannot be.
    """

    turn: Turn
    form: WireFormat
    history: History
    ask: Ask
    answer: Answer
    store: StoreReply
    shrink: Callable[[Turn], Awaitable[Turn | None]]

    async def run(self, response: httpx2.Response) -> None:
        """Pass on what begins with an answer of the provider, and store what the client has of it."""
        joined = begin_joining(self.form, self.history.names, is_streamed=is_stream(response))
        async with AsyncExitStack() as answers:
            try:
                last, refusal = await self._follow(response, joined, answers)
            except (anyio.get_cancelled_exc_class(), httpx2.HTTPError):
                with anyio.CancelScope(shield=True):
                    await self.store(self.turn, joined.read(), is_whole=False)
                raise
        if refusal is not None:
            await self._refuse(last, refusal, joined)
        elif is_stream(response):
            await self._end_stream(joined)
        else:
            await self._send_plain(last, joined)

    async def _follow(
        self, response: httpx2.Response, joined: JoinedReply, answers: AsyncExitStack
    ) -> tuple[httpx2.Response, bytes | None]:
        """Pass answers on until one has no call of ours: the last one, with its body where it is a refusal."""
        if is_stream(response):
            await self.answer.begin(response, self.turn)
        while True:
            async for piece in response.aiter_raw():
                await self.answer.add(joined.feed(piece))
            if not await self.history.answer(joined.end_round()):
                return response, None
            response = await answers.enter_async_context(self.ask(encode_body(self.history.body)))
            if response.is_success:
                continue
            refusal = await read_raw(response)
            smaller = await self.shrink(self.turn) if tells_too_long(response, refusal) else None
            if smaller is None:
                return response, refusal
            self.turn = smaller
            response = await answers.enter_async_context(self.ask(smaller.body))
            if not response.is_success:
                return response, await read_raw(response)

    async def _end_stream(self, joined: JoinedReply) -> None:
        end = joined.finish()
        if self.turn.is_named:  # its client does not bring the reply back: it has its end once it is stored
            await self._store_whole(joined)
            await self.answer.add(end)
        else:
            try:
                await self.answer.add(end)
            finally:  # a client closes at the last event
                await self._store_whole(joined)
        await self.answer.end()

    async def _send_plain(self, last: httpx2.Response, joined: JoinedReply) -> None:
        body = joined.finish()
        if self.turn.is_named:
            await self._store_whole(joined)
        await self.answer.begin(last, self.turn, has_length=False)
        await self.answer.add(body)
        if not self.turn.is_named:
            await self._store_whole(joined)
        await self.answer.end()

    async def _store_whole(self, joined: JoinedReply) -> None:
        with anyio.CancelScope(shield=True):
            await self.store(self.turn, joined.read(), is_whole=True)

    async def _refuse(self, response: httpx2.Response, refusal: bytes, joined: JoinedReply) -> None:
        """Tell the client what the provider said to a later request; what a stream said before is stored as broken off."""
        if not self.answer.is_begun:
            await self.answer.send_whole(response, self.turn, refusal)
            return
        body = read_json(unpack(response, refusal))
        told: JsonObject = {"error": {"type": "api_error", "message": "upstream failed"}}
        told = body if isinstance(body, dict) else told
        await self.answer.add(write_error_event(self.form, told))
        with anyio.CancelScope(shield=True):
            await self.store(self.turn, joined.read(), is_whole=False)
        await self.answer.end()
