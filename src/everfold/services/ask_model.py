"""Ask: one call of a model, told to the feed and the tracer."""

from time import perf_counter

from everfold.core.happenings import ModelCalled
from everfold.core.sessions import EventId, SessionId
from everfold.core.spans import describe_reply, describe_request, name_model_call
from everfold.errors import EverfoldError
from everfold.ports.models import Model, ModelReply, ModelRequest
from everfold.services.observers import Observers

UNFINISHED = "unfinished"
"""The error code of a call that neither answered nor failed: its caller gave it up."""


async def ask_model(
    observers: Observers,
    model: Model,
    request: ModelRequest,
    *,
    session_id: SessionId | None = None,
    event_id: EventId | None = None,
) -> ModelReply:
    """What the model answers; errors as `Model.reply` raises them.

    Args:
        observers: Who is told.
        model: Who is asked, once.
        request: What.
        session_id: The session that it is about, where there is one.
        event_id: The compaction that it is for, where there is one.
    """
    attributes = describe_request(
        model.name,
        purpose=request.purpose,
        max_output_tokens=request.max_output_tokens,
        session_id=session_id,
        event_id=event_id,
    )
    reply: ModelReply | None = None
    error_code: str | None = UNFINISHED
    started = perf_counter()
    try:
        with observers.tracer.span(name_model_call(model.name), attributes, kind="client") as span:
            reply = await model.reply(request)
            span.set_attributes(
                describe_reply(
                    reply.model,
                    finish=reply.finish,
                    input_tokens=reply.input_tokens,
                    cached_tokens=reply.cached_tokens,
                    output_tokens=reply.output_tokens,
                    cost_usd=reply.cost_usd,
                )
            )
        error_code = None
    except EverfoldError as error:
        error_code = error.code
        raise
    finally:
        observers.feed.publish(
            ModelCalled(
                session_id=session_id,
                event_id=event_id,
                purpose=request.purpose,
                model=model.name if reply is None else reply.model,
                elapsed_secs=perf_counter() - started,
                input_tokens=0 if reply is None else reply.input_tokens,
                cached_tokens=0 if reply is None else reply.cached_tokens,
                output_tokens=0 if reply is None else reply.output_tokens,
                cost_usd=None if reply is None else reply.cost_usd,
                error_code=error_code,
            )
        )
    return reply
