"""Embedders: what turns texts into vectors, so that what means the same is near."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from everfold.core.recall.vectors import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What an embedder gave.

    Attributes:
        vectors: One for each text, in their order, all of the same size.
        input_tokens: What was read, as the embedder counts; None where it does not say.
        cost_usd: None where no price is known.
        model: The model that answered, as the provider names it; empty where it does not say.
    """

    vectors: list[Vector]
    input_tokens: int | None = None
    cost_usd: float | None = None
    model: str = ""


class Embedder(Protocol):
    """One configured embedder."""

    @property
    def name(self) -> str:
        """Its setting: `openai:text-embedding-3-small`, `sentence-transformers:...`, `hash:384`."""
        ...

    @property
    def dimensions(self) -> int | None:
        """How many numbers each of its vectors has; None before the first answer of one whose setting does not say."""
        ...

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
        """One vector for each text, with what they used; no retry, no time limit of its own.

        Args:
            texts: None of them empty. A text that is too long is cut off or refused, as the provider has it.
            is_query: They are questions, not what is searched; some models tell the two apart.

        Raises:
            ModelUnavailableError: it could not be reached or is overloaded; `retryable`.
            RateLimitedError: the provider wants fewer requests; `retryable`.
            ContextLengthError: a text, or all of them together, is larger than it takes.
            ModelReplyError: the provider refused the request, or its answer is not these vectors.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. Closing again does nothing."""
        ...
