"""The gateway's routes, as plain ASGI: every byte of a stream is passed on as it comes.

A request to one of the three routes of conversations is stored and, once it is due, folded; any other request below `/v1/`
is passed on as it came. What the provider answers is the client's: status, headers and body.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio
import httpx2
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from everfold.core.conversations.replies import Reply
from everfold.core.conversations.requests import read_request
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonValue
from everfold.errors import ConflictError, EverfoldError, InvalidInputError, LimitError, StoreUnavailableError
from everfold.server.bodies import bound_body
from everfold.server.gateway.answers import Answer, Reader, is_stream, read_json, read_raw, tells_too_long
from everfold.server.gateway.asked import Asked, read_asked
from everfold.server.gateway.callers import Caller, identify
from everfold.server.gateway.replay import Replay
from everfold.server.gateway.rounds import Ask, Rounds
from everfold.server.gateway.turn import Turn
from everfold.server.gateway.turns import Turns
from everfold.server.gateway.upstream import Upstream, choose_headers, open_upstream
from everfold.server.hosts import Hosts
from everfold.server.problems import HTTP_CODES
from everfold.server.runtime import Runtime

PREFIX: Final = "/v1/"
FORMS: Final[Mapping[str, WireFormat]] = {
    "/v1/chat/completions": "openai",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}
COUNT_PATH: Final = "/v1/messages/count_tokens"
COMPACT_PATH: Final = "/v1/responses/compact"
"""Where a client asks OpenAI to compact a list; see docs/reference/providers-compaction.md."""
_PATHS: Final = (*FORMS, COUNT_PATH, COMPACT_PATH)
_MISTAKEN: Final[Mapping[str, tuple[str, str]]] = {
    **{path.removeprefix("/v1"): (path, "/v1") for path in _PATHS},
    **{f"/v1{path}": (path, "") for path in _PATHS},
}
"""Where a client asks whose base URL lacks `/v1`, or has it twice: the path that it means, and how its base URL should end."""
_UNFOLDED: Final = "everfold failed; the request was passed on unfolded"
_logger = logging.getLogger("everfold.gateway")


class Gateway:
    """Answers what is below `/v1/`, and leaves the rest to the app behind it.

    Args:
        app: What answers the rest.
        runtime: The engine, and who may speak for whom.
        upstream: The provider.
        hosts: What may stand in `Host`; None for everything.
    """

    def __init__(self, app: ASGIApp, *, runtime: Runtime, upstream: Upstream, hosts: Hosts | None) -> None:
        self._app = app
        self._runtime = runtime
        self._upstream = upstream
        self._hosts = hosts
        self._bounds = bound_body(runtime.settings.server)
        offers_history = runtime.settings.gateway.history_tools
        self._turns = Turns(engine=runtime.engine, ids=runtime.ids, offers_history=offers_history)

    async def drain(self) -> None:
        """Wait for what is still written of what passed."""
        await self._turns.drain()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_mistaken = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in _MISTAKEN
        if scope["type"] != "http" or not (is_mistaken or scope["path"].startswith(PREFIX)):
            await self._app(scope, receive, send)
            return
        answer = Answer(send)
        try:
            if self._hosts is not None:
                self._hosts.check(scope)
            if is_mistaken:
                await _correct(scope, answer)
                return
            asked = await read_asked(scope, receive, self._bounds)
            await self._serve(asked, receive, answer)
        except EverfoldError as error:
            status = 400 if isinstance(error, InvalidInputError) else error.http_status
            await answer.refuse(scope["path"], status, str(error), error.code)
        except HTTPException as error:
            code = HTTP_CODES[error.status_code]
            await answer.refuse(scope["path"], error.status_code, error.detail, code, headers=error.headers)
        except httpx2.InvalidURL as error:
            await answer.refuse(
                scope["path"], 400, f"the provider cannot be asked for this path: {error}", "malformed_request"
            )
        except httpx2.HTTPError as error:
            _logger.warning("the provider did not answer: %s", type(error).__name__)
            if answer.is_begun:
                raise
            await answer.refuse(scope["path"], 502, f"the provider did not answer: {type(error).__name__}", "upstream")

    async def _serve(self, asked: Asked, receive: Receive, answer: Answer) -> None:
        form = FORMS.get(asked.path) if asked.method == "POST" else None
        is_read = form is not None or asked.path in (COUNT_PATH, COMPACT_PATH)
        body = read_json(asked.body) if is_read else None
        known = body if isinstance(body, dict) else {}
        caller = await identify(self._runtime, asked.headers, asked.address, known)
        turn = Turn(request=None, body=asked.body, context="passed")
        if form is not None:
            begun = await self._begin(form, body, asked, caller)
            if isinstance(begun, Replay):
                await answer.send_replay(begun)
                return
            turn = begun
        elif asked.path == COUNT_PATH:
            turn = await self._count(body, asked, caller) or turn
        elif asked.path == COMPACT_PATH:
            turn = await self._begin_compaction(body, asked, caller)
            form = "responses"
        try:
            headers = choose_headers(asked.sent_headers, upstream_key=caller.upstream_key)
            ask = partial(self._upstream.send, asked.method, asked.target, headers)
            async with _until_left(receive):
                await self._pass(turn, form, ask, answer)
        finally:
            self._turns.end(turn)

    async def _begin(self, form: WireFormat, body: JsonValue, asked: Asked, caller: Caller) -> Turn | Replay:
        """The turn of a request, or its stored reply; where Everfold fails, the request as it came, if it carries its whole history."""
        try:
            request = read_request(form, body)
        except InvalidInputError as error:
            return Turn(request=None, body=asked.body, context="passed", reason=str(error))
        is_named = caller.session_key is not None
        try:
            return await self._turns.begin(request, caller, asked.body)
        except Exception as error:
            _log("a request could not be stored", error)
            if is_named and isinstance(error, InvalidInputError | ConflictError):
                raise
            if isinstance(error, InvalidInputError):
                return Turn(request=request, body=asked.body, context="passed", reason=str(error))
            if is_named or self._runtime.settings.gateway.on_failure == "refuse":
                if isinstance(error, LimitError):
                    raise
                raise StoreUnavailableError(
                    f"this request could not be stored or folded ({type(error).__name__}), and is not forwarded "
                    "without its history; try again"
                ) from error
            return Turn(request=request, body=asked.body, context="unfolded", reason=_UNFOLDED)

    async def _begin_compaction(self, body: JsonValue, asked: Asked, caller: Caller) -> Turn:
        """The turn of a request that has the provider compact a list: it goes on as it came, and its answer is stored."""
        try:
            request = read_request("responses", body)
            return await self._turns.begin_compaction(request, caller, asked.body)
        except InvalidInputError as error:
            _logger.warning("a compaction by the provider was passed on without being stored: %s", error)
        except Exception:
            _logger.exception("a compaction by the provider was passed on without being stored")
        return Turn(request=None, body=asked.body, context="passed")

    async def _count(self, body: JsonValue, asked: Asked, caller: Caller) -> Turn | None:
        """What a count of tokens is to be of; None for the request as it came."""
        try:
            return await self._turns.preview(read_request("anthropic", body), caller, asked.body)
        except InvalidInputError as error:
            _logger.warning("a count of tokens was passed on as it came: %s", error)
        except Exception:
            _logger.exception("a count of tokens was passed on as it came")
        return None

    async def _pass(self, turn: Turn, form: WireFormat | None, ask: Ask, answer: Answer) -> None:
        """Send a turn to the provider and its answer to the client; once more with a smaller window where it was too long."""
        async with ask(turn.body) as response:
            if response.is_success:
                await self._pass_reply(turn, form, response, ask, answer)
                return
            refusal = await read_raw(response)
            smaller = await self._turns.shrink(turn) if tells_too_long(response, refusal) else None
            if smaller is None:
                await answer.send_whole(response, turn, refusal)
                return
        async with ask(smaller.body) as response:
            if response.is_success:
                await self._pass_reply(smaller, form, response, ask, answer)
            else:
                await answer.send_whole(response, smaller, await read_raw(response))

    async def _pass_reply(
        self, turn: Turn, form: WireFormat | None, response: httpx2.Response, ask: Ask, answer: Answer
    ) -> None:
        """Pass an answer on as it comes, and store what it says where it is a reply of a conversation."""
        if form is None or turn.conversation is None:
            await _pass_unread(turn, response, answer)
        elif turn.history is not None:
            rounds = Rounds(
                turn=turn,
                form=form,
                history=turn.history,
                ask=ask,
                answer=answer,
                store=self._store,
                shrink=self._turns.shrink,
            )
            await rounds.run(response)
        else:
            await self._pass_stored(turn, form, response, answer)

    async def _pass_stored(self, turn: Turn, form: WireFormat, response: httpx2.Response, answer: Answer) -> None:
        """Pass a reply on as it comes, and store it once it is whole, or as far as it came."""
        reader = Reader(form, response)
        try:
            held = await _pass_pieces(turn, response, reader, answer)
        except (anyio.get_cancelled_exc_class(), httpx2.HTTPError):
            reply = reader.read()
            with anyio.CancelScope(shield=True):  # a client closes at a stream's last event, before the connection ends
                await self._store(turn, reply, is_whole=reply.is_whole and is_stream(response))
            raise
        with anyio.CancelScope(shield=True):
            await self._store(turn, reader.read(), is_whole=True)
        if not answer.is_begun:
            await answer.begin(response, turn)
        await answer.add(held)
        await answer.end()

    async def _store(self, turn: Turn, reply: Reply, *, is_whole: bool) -> None:
        """Store a reply. What fails costs no answer where the client has it already, and its next request brings it.

        Raises:
            StoreUnavailableError: the reply of a named session was not stored.
        """
        try:
            if turn.compacting is not None:
                if is_whole:
                    await self._turns.finish_compaction(turn, turn.compacting, reply)
            elif is_whole:
                await self._turns.finish(turn, reply)
            else:
                await self._turns.break_off(turn, reply)
        except Exception as error:
            _log(f"session {turn.session_id}: a reply could not be stored", error)
            if turn.is_named and is_whole:
                raise StoreUnavailableError(
                    f"session {turn.session_id}: the reply could not be stored ({type(error).__name__}); try again"
                ) from error


async def _pass_unread(turn: Turn, response: httpx2.Response, answer: Answer) -> None:
    """Pass an answer on of which nothing is stored."""
    await answer.begin(response, turn)
    async for piece in response.aiter_raw():
        await answer.add(piece)
    await answer.end()


async def _pass_pieces(turn: Turn, response: httpx2.Response, reader: Reader, answer: Answer) -> bytes:
    """Read a reply and pass it on as it comes, but for what is held back until it is stored; gives that.

    A client that names its session does not bring the reply back: of a stream its last piece is held back, else all of it.
    """
    if not turn.is_named:
        return await _pass_all(turn, response, reader, answer)
    if is_stream(response):
        return await _pass_all_but_last(turn, response, reader, answer)
    return await _hold_all(response, reader)


async def _pass_all(turn: Turn, response: httpx2.Response, reader: Reader, answer: Answer) -> bytes:
    await answer.begin(response, turn)
    async for piece in response.aiter_raw():
        reader.feed(piece)
        await answer.add(piece)
    return b""


async def _pass_all_but_last(turn: Turn, response: httpx2.Response, reader: Reader, answer: Answer) -> bytes:
    last = b""
    await answer.begin(response, turn)
    async for piece in response.aiter_raw():
        reader.feed(piece)
        await answer.add(last)
        last = piece
    return last


async def _hold_all(response: httpx2.Response, reader: Reader) -> bytes:
    pieces: list[bytes] = []
    async for piece in response.aiter_raw():
        reader.feed(piece)
        pieces.append(piece)
    return b"".join(pieces)


def _log(what: str, error: Exception) -> None:
    """Tell what failed: in a line where what came in does not fit, or comes too late; else with the traceback."""
    if isinstance(error, InvalidInputError | ConflictError | LimitError):
        _logger.warning("%s: %s", what, error)
    else:
        _logger.error("%s", what, exc_info=error)


async def _correct(scope: Scope, answer: Answer) -> None:
    """Tell a client whose base URL is wrong which one is right."""
    path, end = _MISTAKEN[scope["path"]]
    host = dict(scope["headers"]).get(b"host", b"HOST").decode("latin-1")
    message = f"nothing is served at {scope['path']}; set the client's base URL to {scope['scheme']}://{host}{end}"
    await answer.refuse(path, 404, message, "not_found")


@asynccontextmanager
async def _until_left(receive: Receive) -> AsyncIterator[None]:
    """Cancel what is done once the client has left."""
    with anyio.CancelScope() as scope:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            scope.cancel()

        watcher = asyncio.create_task(watch())
        try:
            yield
        finally:
            watcher.cancel()


@asynccontextmanager
async def open_gateway(app: ASGIApp, runtime: Runtime, *, hosts: Hosts | None) -> AsyncIterator[ASGIApp]:
    """The gateway before an app, for as long as it is served; the app alone where it is off."""
    if not runtime.settings.gateway.enabled:
        yield app
        return
    upstream = open_upstream(runtime.settings.gateway)
    async with upstream.client:
        gateway = Gateway(app, runtime=runtime, upstream=upstream, hosts=hosts)
        try:
            yield gateway
        finally:
            await gateway.drain()
