"""Ask: one call of a model, published to the stream and traced."""

from dataclasses import replace
from time import perf_counter

from everfold.core.observation.events import ModelCalled
from everfold.core.observation.spans import describe_reply, describe_request, name_model_call
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import EverfoldError
from everfold.ports.models import Model, ModelReply, ModelRequest
from everfold.services.models.read_reply import read_reply
from everfold.services.telling.stream import Stream

UNFINISHED = "unfinished"
"""The error code of a call that neither answered nor failed: its caller gave it up."""


async def ask_model(
    stream: Stream,
    model: Model,
    request: ModelRequest,
    *,
    session_id: SessionId | None = None,
    compaction_id: CompactionId | None = None,
) -> ModelReply:
    """What the model answers; errors as `Model.reply` raises them, and for a reply that is none.

    Args:
        stream: Who is told.
        model: Who is asked, once.
        request: What.
        session_id: The session that it is about, where there is one.
        compaction_id: The compaction that it is for, where there is one.
    """
    called = ModelCalled(
        session_id=session_id,
        compaction_id=compaction_id,
        purpose=request.purpose,
        model=model.name,
        elapsed_secs=0.0,
        error_code=UNFINISHED,
    )
    attributes = describe_request(called, max_output_tokens=request.max_output_tokens)
    started = perf_counter()
    try:
        with stream.tracer.span(name_model_call(model.name), attributes, kind="client") as span:
            reply = read_reply(await model.reply(request), model=model.name, compaction_id=compaction_id)
            called = replace(
                called,
                model=reply.model,
                input_tokens=reply.input_tokens,
                cached_tokens=reply.cached_tokens,
                output_tokens=reply.output_tokens,
                cost_usd=reply.cost_usd,
                error_code=None,
            )
            span.set_attributes(describe_reply(called, finish=reply.finish))
    except EverfoldError as error:
        called = replace(called, error_code=error.code)
        raise
    finally:
        stream.publish(replace(called, elapsed_secs=perf_counter() - started))
    return reply
