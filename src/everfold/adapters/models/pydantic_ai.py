"""Models of providers, through Pydantic AI's direct requests: one message, no tools, no agent, no streaming.

Pydantic AI speaks to each provider and sorts its errors; here they become ours. Its client libraries try again on their
own unless told otherwise: they are told, so that the one retry that is recorded and counted is the only one. Nothing is
traced or reported anywhere.

Source: docs/adr/0016-models.md.
"""

from dataclasses import dataclass, field
from typing import Final

import pydantic_ai.exceptions as given
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest as Message
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import Model as ProviderModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    InvalidInputError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
)
from everfold.ports.models import Finish, ModelReply, ModelRequest

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"
OLLAMA_URL: Final = "http://localhost:11434/v1"
"""Where each provider listens when no other server is named. Given outright, so that no variable but ours moves them."""

NO_KEY: Final = "none"
"""What a server is sent that needs no key: the client libraries insist on one."""

_SHOWN_CHARS: Final = 300
"""How much of what a provider says of an error is repeated: enough for its reason, too little for our request."""

_FINISH: Final[dict[str | None, Finish]] = {
    "stop": "complete",
    "length": "length",
    "content_filter": "refusal",
    "tool_call": "tool_call",
}
"""A reason that is not known counts as a refusal: an answer that may be broken must not pass for a whole one."""

_TOO_LONG: Final = (
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "exceeds the available context size",
    "maximum context length",
    "context length",
    "context window",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "reduce the length",
)
"""How a request that is too large is told, in a code or in words.

Source: the error pages of OpenAI and Anthropic; the servers of llama.cpp, vLLM and Ollama.
"""
_TOO_LONG_STATUSES: Final = frozenset({400, 413, 422, 500})
"""The statuses that come with it; 500 from servers that find out late."""
_LATER_STATUSES: Final = frozenset({408, 409, 425})
"""A request that came at the wrong moment. Source: RFC 9110, 15.5.9 and 15.5.10; RFC 8470, 5.2."""


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
        self._model = _make_model(place)
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
        except (RuntimeError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            # The libraries' own errors are RuntimeErrors; the others are what they stumble with over an odd answer.
            raise self._translate(error) from error
        return self._read(response)

    async def close(self) -> None:
        """Let go of connections. Closing again does nothing."""
        if self._is_open:
            self._is_open = False
            await self._model.__aexit__(None, None, None)

    def _read(self, response: ModelResponse) -> ModelReply:
        if response.finish_reason == "error":
            raise ModelReplyError(
                f"the model {self.name} broke its answer off with an error; expected a whole one. Try again later",
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
            cost_usd=_find_cost(response),
        )

    def _translate(self, error: Exception) -> EverfoldError:
        why = self._say_why(error)
        if _is_too_long(error):
            return ContextLengthError(
                f"the request is larger than the model {self.name} takes ({why}); send less", model=self.name
            )
        match error:
            case given.ModelRateLimitError():
                return RateLimitedError(
                    f"the model {self.name} wants fewer requests ({why}); wait, then try again", model=self.name
                )
            case (
                given.ModelUnavailableError()
                | given.ModelServerError()
                | given.ModelConnectionError()
                | given.ModelRequestTimeout()
            ):
                return ModelUnavailableError(f"the model {self.name} did not serve ({why}); try again", model=self.name)
            case given.ModelHTTPError(status_code=status) if status in _LATER_STATUSES:
                return ModelUnavailableError(f"the model {self.name} did not serve ({why}); try again", model=self.name)
            case given.ModelHTTPError():
                return ModelReplyError(
                    f"the model {self.name} refused the request ({why}); check its name, its key and its account",
                    model=self.name,
                )
            case _:
                return ModelReplyError(
                    f"the model {self.name} gave no answer that can be read ({why}); check that its address is one of "
                    "a model",
                    model=self.name,
                )

    def _say_why(self, error: Exception) -> str:
        match error:
            case given.ModelHTTPError(status_code=status, body=body):
                text = f"HTTP {status}: {_find_message(body)}" if _find_message(body) else f"HTTP {status}"
            case _:
                text = f"{type(error).__name__}: {error}"
        if self._place.api_key:
            text = text.replace(self._place.api_key, "[the key]")
        return " ".join(text.split())[:_SHOWN_CHARS]


def _make_model(place: Place) -> ProviderModel:
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
                f"no provider is called {place.provider!r}; expected openai, anthropic, ollama or script"
            )


def _make_compatible_model(name: str, base_url: str, key: str) -> ProviderModel:
    """A model of a server that speaks as OpenAI's did at first, which bounds an answer with `max_tokens`."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = OpenAICompatibleProvider("openai-compatible", base_url=base_url, api_key=key, profile=profile)
    return OpenAIChatModel(name, provider=provider)


def _find_cost(response: ModelResponse) -> float | None:
    """What the price list of Pydantic AI says it cost; None for a model or a server that is not on it."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def _is_too_long(error: Exception) -> bool:
    """Whether a request was refused for its size. Only what the server says is looked at, never what it repeats of ours."""
    if isinstance(error, given.ModelContextWindowExceededError):
        return True
    if not isinstance(error, given.ModelHTTPError) or error.status_code not in _TOO_LONG_STATUSES:
        return False
    said = f"{error.provider_error_code} {error.provider_error_type} {_find_message(error.body)}".lower()
    return any(words in said for words in _TOO_LONG)


def _find_message(body: object) -> str:
    """The sentence in the body of an error, in the places where servers put it."""
    if isinstance(body, dict):
        return next((_find_message(body[key]) for key in ("error", "message", "detail") if body.get(key)), "")
    return body[:_SHOWN_CHARS] if isinstance(body, str) else ""
