"""A call of a model is told to every listener, however it ends."""

import anyio
import pytest

from everfold.core.observation.events import Event, ModelCalled
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import EverfoldError, RateLimitedError
from everfold.ports.models import ModelReply, ModelRequest
from everfold.services.models.ask_model import UNFINISHED, ask_model
from everfold.services.telling.stream import Stream

REQUEST = ModelRequest(purpose="digest", instructions="Be brief.", prompt="the door code is 4711", max_output_tokens=90)
REPLY = ModelReply(
    text="the door code",
    finish="complete",
    model="m-2",
    input_tokens=40,
    cached_tokens=8,
    output_tokens=4,
    cost_usd=0.5,
)


class Scripted:
    """A model that answers with what it was given, raises it, or never comes back."""

    name = "scripted:m"

    def __init__(self, answer: ModelReply | EverfoldError | None) -> None:
        self.answer = answer

    async def reply(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - as in `Model`
        """Answer, raise, or wait for ever."""
        if self.answer is None:
            await anyio.sleep_forever()
        if isinstance(self.answer, ModelReply):
            return self.answer
        raise self.answer or RuntimeError("never")

    async def close(self) -> None:
        """Nothing to let go of."""


async def told(answer: ModelReply | EverfoldError | None) -> tuple[ModelReply | None, Event]:
    """What a call gives, and what the feed tells of it."""
    stream = Stream()
    events = stream.feed.subscribe()
    reply = None
    with anyio.move_on_after(0.02 if answer is None else 10):
        try:
            reply = await ask_model(
                stream, Scripted(answer), REQUEST, session_id=SessionId("ses_1"), compaction_id=CompactionId("evt_1")
            )
        except EverfoldError as error:
            assert error is answer  # noqa: PT017 - the error itself passes through
    return reply, await anext(events)


async def test_an_answer_is_told_in_figures() -> None:
    """The reply passes through; the feed tells who answered and what was counted, and none of its words."""
    reply, event = await told(REPLY)
    assert reply is REPLY
    assert isinstance(event, ModelCalled)
    assert (event.model, event.purpose, event.error_code) == ("m-2", "digest", None)
    assert (event.input_tokens, event.cached_tokens, event.output_tokens) == (40, 8, 4)
    assert (event.session_id, event.compaction_id, event.cost_usd) == ("ses_1", "evt_1", 0.5)
    assert "door" not in repr(event)


@pytest.mark.parametrize(("answer", "code"), [(RateLimitedError("wait"), "rate_limited"), (None, UNFINISHED)])
async def test_a_call_without_an_answer_is_told_too(answer: EverfoldError | None, code: str) -> None:
    """An error of ours is told by its code and passes through, and so is a call that was given up."""
    reply, event = await told(answer)
    assert reply is None
    assert isinstance(event, ModelCalled)
    assert (event.model, event.error_code, event.output_tokens) == ("scripted:m", code, 0)
