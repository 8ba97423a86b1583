"""Replay: the answer to a request that is sent again, where its reply is stored. No provider is asked, and nothing is stored."""

from dataclasses import dataclass

from everfold.core.conversations.replays import write_replay
from everfold.core.conversations.requests import ClientRequest
from everfold.core.log.envelopes import ENVELOPE_KEY
from everfold.errors import ConflictError
from everfold.server.gateway.finding import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A stored reply as its client gets it again.

    Attributes:
        body: In the form that the request asks for.
        is_streamed: It is a stream of events.
    """

    session_id: str
    body: bytes
    is_streamed: bool


async def replay(found: Found, request: ClientRequest) -> Replay:
    """The stored reply to a request that is sent again.

    Raises:
        ConflictError: there is none that can be given back as it was.
    """
    conversation = found.conversation
    if conversation is None or found.choice.kind == "late":
        raise _refuse("no whole reply to this request was stored before more was said")
    message = await conversation.find_message(found.choice.reply_seq)
    if message is None:
        raise _refuse("the reply to this request was erased")
    if ENVELOPE_KEY not in message.wire:
        raise _refuse("the reply to this request was not stored as the provider gave it")
    if message.view.format != request.form:
        raise _refuse("the reply to this request was given in the form of another route")
    body = write_replay(request, message.wire)
    return Replay(session_id=conversation.session.id, body=body, is_streamed=request.is_streamed)


def _refuse(why: str) -> ConflictError:
    return ConflictError(f"{why}; to ask again, use another Idempotency-Key and no retry header")
