"""Embedders: what turns texts into vectors, so that what means the same is near."""

from collections.abc import Sequence
from typing import Protocol

from everfold.core.vectors import Vector


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

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector]:
        """One vector for each text, in their order, all of the same size; no retry, no time limit of its own.

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
