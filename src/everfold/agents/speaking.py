"""One answer of a model, streamed, and the message that it becomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from everfold.adapters.models.faults import FAULTS
from everfold.adapters.models.window_messages import ANTHROPIC, request_messages
from everfold.agents.models import AgentModel, find_response_cost
from everfold.core.log.interruption import write_interrupted
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.windows.window import Window
from everfold.errors import ModelReplyError

_OUTCOMES: Final[dict[str | None, str]] = {"length": "length", "content_filter": "refusal", "tool_call": "tool_call"}
_LENGTH: Final = "the answer reached the most that the model may say at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of a model; `arguments` is JSON text as it was written."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True, kw_only=True)
class Draft:
    """An answer while it is said: what a message is made of, whenever it ends.

    Attributes:
        is_begun: The model has said something, if only a part of a call.
        interruption: Why it is not whole; empty where it is.
        outcome: How the model ended it; see `ModelCall`, and for the figures too.
    """

    pieces: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    is_begun: bool = False
    interruption: str = ""
    outcome: str = "complete"
    answered_by: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self.pieces)

    def interrupt(self, reason: str) -> None:
        """End it here. Calls go: none was made, and one may be half written."""
        self.interruption = reason
        self.calls = []

    def to_wire(self) -> JsonObject:
        """The message that is stored, in OpenAI's form."""
        if self.interruption:
            return write_interrupted(self.text, reason=self.interruption)
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        calls: list[JsonValue] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


async def speak(
    model: AgentModel,
    window: Window,
    draft: Draft,
    *,
    definitions: Sequence[ToolDefinition],
    most_tokens: int,
    hear: Callable[[str], None],
) -> None:
    """Have a model answer a window, into a draft; `hear` is told each piece of text as it comes.

    Raises:
        ContextLengthError: the request is larger than the model takes.
        ModelError: the model did not serve; the draft holds what it said.
        RateLimitedError: the provider wants fewer requests.
    """
    try:
        async with model_request_stream(
            model.model,
            request_messages(window, system=model.model.system),
            model_settings=_choose_settings(model, most_tokens),
            model_request_parameters=ModelRequestParameters(function_tools=list(definitions)),
            instrument=False,
        ) as stream:
            async for event in stream:
                draft.is_begun = True
                if text := _read_piece(event):
                    draft.pieces.append(text)
                    hear(text)
            finish_draft(draft, stream.get(), model.name)
    except FAULTS as error:
        raise model.translate(error) from error


def _choose_settings(model: AgentModel, most_tokens: int) -> ModelSettings:
    """How a model is asked: Anthropic's keeps the stable beginning in its cache where it is told to."""
    settings = model.settings(most_tokens)
    if model.model.system == ANTHROPIC:
        cached: dict[str, object] = {"anthropic_cache_instructions": True, "anthropic_cache_tool_definitions": True}
        settings.update(cached)  # type: ignore[typeddict-item]  # keys of one provider's own settings
    return settings


def _read_piece(event: object) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def finish_draft(draft: Draft, response: ModelResponse, name: str) -> None:
    """Take from the whole response what a stream tells only at its end."""
    draft.answered_by = response.model_name or name
    draft.input_tokens = response.usage.input_tokens
    draft.cached_tokens = response.usage.cache_read_tokens
    draft.output_tokens = response.usage.output_tokens
    draft.cost_usd = find_response_cost(response)
    draft.outcome = _OUTCOMES.get(response.finish_reason, "complete")
    draft.calls = _name_calls([part for part in response.parts if isinstance(part, ToolCallPart)])
    match response.finish_reason:
        case "length":
            draft.interrupt(_LENGTH)
        case "error":
            raise ModelReplyError(
                f"the model {name} stopped in the middle of its answer with an error; ask again", model=name
            )
        case _ if not draft.text.strip() and not draft.calls:
            raise ModelReplyError(f"the model {name} gave an empty answer; ask again, or use another model", model=name)


def _name_calls(parts: Sequence[ToolCallPart]) -> list[Call]:
    """The calls with an id each that no other call of the message has."""
    calls: list[Call] = []
    for number, part in enumerate(parts, start=1):
        taken = {call.id for call in calls}
        call_id = part.tool_call_id or f"call_{number}"
        while call_id in taken:
            call_id = f"{call_id}_{number}"
        arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
        calls.append(Call(id=call_id, name=part.tool_name, arguments=arguments or "{}"))
    return calls
