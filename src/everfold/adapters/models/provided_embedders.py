"""Embedders of providers, through Pydantic AI. Retries of the client libraries are off: ours are counted.

Source: docs/adr/0022-vectors.md; Pydantic AI's documentation of embeddings.
"""

import math
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings, infer_embedding_model
from pydantic_ai.providers import Provider, infer_provider_class

from everfold.adapters.models.faults import FAULTS, translate
from everfold.adapters.models.pydantic_ai import NO_KEY, OLLAMA_URL, OPENAI_URL, Place
from everfold.core.recall.vectors import Vector
from everfold.errors import InvalidInputError, ModelReplyError
from everfold.ports.embedders import Embedded


class PydanticAIEmbedder:
    """An embedder of a provider; see `everfold.ports.embedders.Embedder`.

    Args:
        place: Where it is and how it is entered.
        dimensions: What to ask for; the model's own when None.

    Raises:
        InvalidInputError: the provider is not known, or its package is not installed.
    """

    def __init__(self, place: Place, *, dimensions: int | None = None) -> None:
        self._place = place
        self._dimensions = dimensions
        self._settings = EmbeddingSettings() if dimensions is None else EmbeddingSettings(dimensions=dimensions)
        self._model, self._provider = _make_model(place)
        self._opened: AsyncExitStack | None = None

    @property
    def name(self) -> str:
        """Its setting."""
        return f"{self._place.provider}:{self._place.name}"

    @property
    def dimensions(self) -> int | None:
        """How many numbers each of its vectors has, once that is known."""
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
        """Ask once."""
        if not texts:
            return Embedded(vectors=[])
        if self._opened is None:
            self._opened = AsyncExitStack()
            if self._provider is not None:
                await self._opened.enter_async_context(self._provider)
        try:
            result = await self._model.embed(
                texts, input_type="query" if is_query else "document", settings=self._settings
            )
            vectors = [tuple(map(float, vector)) for vector in result.embeddings]
        except FAULTS as error:
            raise translate(error, model=self.name, api_key=self._place.api_key) from error
        self._check(vectors, texts)
        return Embedded(
            vectors=vectors,
            input_tokens=result.usage.input_tokens or None,
            cost_usd=_find_cost(result),
            model=result.model_name,
        )

    async def close(self) -> None:
        """Let go of connections. Closing again does nothing."""
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.aclose()

    def _check(self, vectors: Sequence[Vector], texts: Sequence[str]) -> None:
        sizes = {len(vector) for vector in vectors}
        if self._dimensions is None and len(sizes) == 1:
            self._dimensions = min(sizes) or None
        if len(vectors) == len(texts) and sizes == {self._dimensions} and all(map(_is_finite, vectors)):
            return
        raise ModelReplyError(
            f"embedder {self.name}: expected {len(texts)} vectors of {self._dimensions or 'some'} finite numbers, "
            f"got {len(vectors)} of {_tell(sizes)}; check that this name is an embedder",
            model=self.name,
        )


def _find_cost(result: EmbeddingResult) -> float | None:
    """What the price list of Pydantic AI says it cost; None where it is not on it, or the tokens are not told."""
    if not result.usage.input_tokens:
        return None
    try:
        return float(result.cost().total_price)
    except (LookupError, AssertionError):
        return None


def _is_finite(vector: Vector) -> bool:
    return math.isfinite(math.fsum(map(abs, vector)))


def _tell(sizes: set[int]) -> str:
    return " or ".join(map(str, sorted(sizes))) or "no"


def _make_model(place: Place) -> tuple[EmbeddingModel, Provider[Any] | None]:
    try:
        match place.provider:
            case "openai" | "ollama":
                return _make_openai_model(place)
            case "sentence-transformers":
                from pydantic_ai.embeddings.sentence_transformers import SentenceTransformerEmbeddingModel

                return SentenceTransformerEmbeddingModel(place.name), None
            case _:
                return _make_other_model(place)
    except ImportError as error:
        raise InvalidInputError(
            f"the embedder {place.provider}:{place.name} needs a package that is not installed: "
            f"pip install 'pydantic-ai-slim[{place.provider}]'"
        ) from error


def _make_openai_model(place: Place) -> tuple[EmbeddingModel, Provider[Any]]:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider

    own_url = OPENAI_URL if place.provider == "openai" else OLLAMA_URL
    provider = OpenAIProvider(base_url=place.base_url or own_url, api_key=place.api_key or NO_KEY)
    provider.client.max_retries = 0
    return OpenAIEmbeddingModel(place.name, provider=provider), provider


def _make_other_model(place: Place) -> tuple[EmbeddingModel, Provider[Any]]:
    """A model of whatever provider Pydantic AI knows; without a key its own variables are looked at."""
    made: list[Provider[Any]] = []

    def make_provider(name: str) -> Provider[Any]:
        kind = infer_provider_class(name)
        made.append(kind() if place.api_key is None else kind(api_key=place.api_key))  # type: ignore[call-arg]  # all but AWS's take one
        return made[0]

    try:
        return infer_embedding_model(f"{place.provider}:{place.name}", provider_factory=make_provider), made[0]
    except (RuntimeError, ValueError, TypeError) as error:  # the library's own `UserError` is a RuntimeError
        raise InvalidInputError(f"the embedder {place.provider}:{place.name} cannot be opened: {error}") from error
