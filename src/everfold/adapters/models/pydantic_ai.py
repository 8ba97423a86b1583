"""Models of providers, through Pydantic AI's direct requests: one message, no tools, no agent, no streaming.

Pydantic AI speaks to each provider and sorts its errors; here they become ours. Its client libraries try again on their
own unless told otherwise: they are told, so that the one retry that is recorded and counted is the only one. Nothing is
traced or reported anywhere.

Source: docs/adr/0016-models.md.
"""

from dataclasses import dataclass, field
from typing import Final

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest as Message
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import Model as ProviderModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from everfold.adapters.models.faults import FAULTS, translate
from everfold.errors import InvalidInputError, ModelReplyError
from everfold.ports.models import Finish, ModelReply, ModelRequest

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"
OLLAMA_URL: Final = "http://localhost:11434/v1"
"""Where each provider listens when no other server is named. Given outright, so that no variable but ours moves them."""

NO_KEY: Final = "none"
"""What a server is sent that needs no key: the client libraries insist on one."""

_FINISH: Final[dict[str | None, Finish]] = {
    "stop": "complete",
    "length": "length",
    "content_filter": "refusal",
    "tool_call": "tool_call",
}
"""A reason that is not known counts as a refusal: an answer that may be broken must not pass for a whole one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a model is and how it is entered.

    Attributes:
        base_url: The server; the provider's own when None.
        api_key: None for a server that needs none.
    """

    provider: str
    name: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


class PydanticAIModel:
    """A model of a provider; see `everfold.ports.models.Model`.

    Raises:
        InvalidInputError: the provider is not known.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._model = make_provider_model(place)
        self._is_open = False

    @property
    def name(self) -> str:
        """Its setting."""
        return f"{self._place.provider}:{self._place.name}"

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Ask once."""
        if not self._is_open:
            self._is_open = True
            await self._model.__aenter__()
        try:
            response = await model_request(
                self._model,
                [Message.user_text_prompt(request.prompt, instructions=request.instructions)],
                model_settings=ModelSettings(max_tokens=request.max_output_tokens, max_retries=0),
                instrument=False,
            )
        except FAULTS as error:
            raise translate(error, model=self.name, api_key=self._place.api_key) from error
        return self._read(response)

    async def close(self) -> None:
        """Let go of connections. Closing again does nothing."""
        if self._is_open:
            self._is_open = False
            await self._model.__aexit__(None, None, None)

    def _read(self, response: ModelResponse) -> ModelReply:
        if response.finish_reason == "error":
            raise ModelReplyError(
                f"the model {self.name} stopped in the middle of its answer with an error; try again later",
                model=self.name,
            )
        finish = _FINISH.get(response.finish_reason, "refusal")
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            finish = "tool_call"
        usage = response.usage
        return ModelReply(
            text=response.text or "",
            finish=finish,
            model=response.model_name or self._place.name,
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cache_read_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=find_cost(response),
        )


def make_provider_model(place: Place) -> ProviderModel:
    """The model of Pydantic AI at a place.

    Raises:
        InvalidInputError: the provider is not known.
    """
    key = place.api_key or NO_KEY
    match place.provider:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(
                place.name, provider=AnthropicProvider(base_url=place.base_url or ANTHROPIC_URL, api_key=key)
            )
        case "openai" if place.base_url is None:
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            return OpenAIChatModel(place.name, provider=OpenAIProvider(base_url=OPENAI_URL, api_key=key))
        case "openai" | "ollama":
            return _make_compatible_model(place.name, place.base_url or OLLAMA_URL, key)
        case _:
            raise InvalidInputError(
                f"the provider {place.provider!r} is unknown; expected openai, anthropic, ollama or script"
            )


def _make_compatible_model(name: str, base_url: str, key: str) -> ProviderModel:
    """A model of a server that speaks as OpenAI's did at first, which bounds an answer with `max_tokens`."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = OpenAICompatibleProvider("openai-compatible", base_url=base_url, api_key=key, profile=profile)
    return OpenAIChatModel(name, provider=provider)


def load_prices() -> None:
    """Read the price list of Pydantic AI now, instead of within the first call of `find_cost`, which it holds up.

    Source: our measurement: 16,000 objects and 35 ms.
    """
    find_cost(ModelResponse(parts=[], model_name="gpt-4o", provider_name="openai"))  # any that is on the list


def find_cost(response: ModelResponse) -> float | None:
    """What the price list of Pydantic AI says it cost; None for a model or a server that is not on it."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
