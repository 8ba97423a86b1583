"""Models: what answers requests for digests, extractions and dreams. The program itself sends the user's turns."""

from dataclasses import dataclass
from typing import Literal, Protocol

from everfold.core.observation.usage import Purpose

Finish = Literal["complete", "length", "refusal", "tool_call"]
"""How a reply ended. length: cut off at its bound. refusal: the model or the provider's filter declined. tool_call: it
asked for a tool instead of answering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request for text. No tools are offered and no reasoning effort is asked for.

    Attributes:
        instructions: What the model is told to do; Everfold's own text.
        prompt: What it works on; text that is not ours stands in it fenced.
        max_output_tokens: The most that it may answer.
    """

    purpose: Purpose
    instructions: str
    prompt: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What a model answered, with what the provider counted for it.

    Attributes:
        text: May be empty, whatever `finish` says; the caller checks it.
        model: The model that answered, as the provider names it.
        input_tokens: Everything that was read, cached tokens included.
        cost_usd: None where no price is known.
    """

    text: str
    finish: Finish
    model: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Model(Protocol):
    """One configured model."""

    @property
    def name(self) -> str:
        """Its setting: `openai:gpt-5-mini`, `anthropic:...`, `ollama:...`, `script:FILE`."""
        ...

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Ask once; no retry, no time limit of its own.

        Raises:
            ModelUnavailableError: it could not be reached or is overloaded; `retryable`.
            RateLimitedError: the provider wants fewer requests; `retryable`.
            ContextLengthError: the request is larger than the model takes.
            ModelReplyError: the provider refused the request, or its answer is none.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
