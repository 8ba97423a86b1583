"""Models of agents and hands: those of our settings, as Pydantic AI runs them with tools, and scripts that call tools."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from pydantic_ai import ModelSettings
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as Asked
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.usage import RequestUsage

from everfold.adapters.models.faults import FAULTS, translate
from everfold.adapters.models.pydantic_ai import Place, find_cost, make_provider_model
from everfold.adapters.models.scripted import FINISHES, ScriptedCall, ScriptedModel, Step, load_script
from everfold.bootstrap import find_model_server
from everfold.config import Settings
from everfold.core.observation.usage import Purpose
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import EverfoldError, InvalidInputError
from everfold.ports.models import Finish, ModelRequest

__all__ = ["FAULTS", "AgentModel", "open_agent_model"]

NO_MODEL: Final = (
    "no model is set for {what}: name one as `model` in its table or as `model.name`, such as `openai:gpt-5-mini` or "
    "`script:FILE`"
)
_REASONS: Final[Mapping[Finish, FinishReason]] = {
    "complete": "stop",
    "length": "length",
    "refusal": "content_filter",
    "tool_call": "tool_call",
}
_MOST_TOKENS: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentModel:
    """A model that an agent or a hand runs on.

    Attributes:
        name: Its setting.
        model: Enter it once to hold its connections, and leave it at the end.
    """

    name: str
    model: Model
    _api_key: str | None = field(default=None, repr=False)

    def settings(self, max_output_tokens: int | None = None) -> ModelSettings:
        """What goes with each request: the bound of one answer, and that its client library never tries again itself."""
        made = ModelSettings(max_retries=0)
        if max_output_tokens is not None:
            made["max_tokens"] = max_output_tokens
        return made

    def translate(self, error: Exception) -> EverfoldError:
        """Our error for one of `FAULTS`; the key is never repeated in it."""
        return error if isinstance(error, EverfoldError) else translate(error, model=self.name, api_key=self._api_key)

    def sum_cost_usd(self, messages: Sequence[ModelMessage]) -> float | None:
        """What the answers in a conversation cost; None where a price is not known, or nothing was answered."""
        costs = [find_response_cost(message) for message in messages if isinstance(message, ModelResponse)]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


def find_response_cost(response: ModelResponse) -> float | None:
    """What one answer cost, or None where its price is not known."""
    scripted = (response.metadata or {}).get("cost_usd")
    return scripted if isinstance(scripted, float) else find_cost(response)


def open_agent_model(settings: Settings, name: str | None, *, what: str, purpose: Purpose) -> AgentModel:
    """The model of an agent or a hand; nothing is reached yet.

    A script goes on from step to step over all runs of the model, as `everfold.adapters.models.scripted` says.

    Args:
        settings: Where `model.name`, its server and its key are.
        name: The agent's own, or None for `model.name`.
        what: Whose model it is, for errors: `agent 'x'`.
        purpose: What it is for.

    Raises:
        InvalidInputError: there is none, or its script, its key or the extra `models` is missing.
    """
    name = name or settings.model.name
    if name is None:
        raise InvalidInputError(NO_MODEL.format(what=what))
    provider, _, rest = name.partition(":")
    if provider == "script":
        player = _Player(script=load_script(Path(rest)), purpose=purpose)
        return AgentModel(
            name=name, model=FunctionModel(player.answer, stream_function=player.stream, model_name="script")
        )
    base_url, api_key = find_model_server(settings, name)
    place = Place(provider=provider, name=rest, base_url=base_url, api_key=api_key)
    return AgentModel(name=name, model=make_provider_model(place), _api_key=api_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Player:
    """Answers an agent's requests from a script."""

    script: ScriptedModel
    purpose: Purpose

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """The next step, whole."""
        request = self._read(messages, info)
        step, text = await self.script.play(request)
        parts: list[ModelResponsePart] = [TextPart(text)] if text else []
        parts += [ToolCallPart(call.tool, call.args) for call in _calls_of(step)]
        return ModelResponse(
            parts=parts,
            finish_reason=_REASONS[_finish_of(step)],
            metadata=None if step.cost_usd is None else {"cost_usd": step.cost_usd},
            usage=RequestUsage(
                input_tokens=estimate_text_tokens(request.instructions) + estimate_text_tokens(request.prompt),
                output_tokens=estimate_text_tokens(text),
                cost=None if step.cost_usd is None else Decimal(str(step.cost_usd)),
            ),
        )

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        """The next step, word by word."""
        step, text = await self.script.play(self._read(messages, info))
        words = text.split(" ")
        for index, word in enumerate(words):
            yield word if index == len(words) - 1 else f"{word} "
            await asyncio.sleep(step.word_secs)
        for index, call in enumerate(_calls_of(step)):
            yield {index: DeltaToolCall(name=call.tool, json_args=json.dumps(call.args))}

    def _read(self, messages: Sequence[ModelMessage], info: AgentInfo) -> ModelRequest:
        """A conversation as a request for text: of a script only digests look at it."""
        said = [
            part.content
            for message in messages
            if isinstance(message, Asked)
            for part in message.parts
            if isinstance(part, UserPromptPart) and isinstance(part.content, str)
        ]
        most = (info.model_settings or {}).get("max_tokens") or _MOST_TOKENS
        return ModelRequest(
            purpose=self.purpose,
            instructions=info.instructions or "",
            prompt=said[-1] if said else "",
            max_output_tokens=most,
        )


def _calls_of(step: Step) -> Sequence[ScriptedCall]:
    return [ScriptedCall(tool="a_tool_that_is_not_there")] if step.fault == "tool_call" else step.calls


def _finish_of(step: Step) -> Finish:
    if step.calls:
        return "tool_call"
    return "complete" if step.fault is None else FINISHES.get(step.fault, "complete")
