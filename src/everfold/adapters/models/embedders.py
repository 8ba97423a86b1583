"""Opening an embedder by its name. The library of a provider is loaded when it is first asked, and not before."""

import asyncio
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from everfold.errors import InvalidInputError
from everfold.ports.embedders import Embedded, Embedder

PROVIDERS = ("openai", "ollama", "sentence-transformers", "google", "cohere", "voyageai", "bedrock")
"""Whose embedders Pydantic AI speaks to; each but the first two needs a package of its provider's beside it."""


def open_embedder(
    name: str, *, base_url: str | None = None, api_key: str | None = None, dimensions: int | None = None
) -> Embedder:
    """The embedder with this name: `hash:384`, `openai:text-embedding-3-small`, `sentence-transformers:...`.

    Args:
        name: The provider and, after a colon, its model; for `hash`, the number of dimensions.
        base_url: A server that speaks as OpenAI's does, with `openai` or `ollama`; the provider's own when None.
        api_key: None for one that needs none.
        dimensions: What to ask of a model that can give vectors of several sizes; its own when None.

    Raises:
        InvalidInputError: the name says no embedder, or the extra `models` is missing.
    """
    provider, _, model = name.partition(":")
    if provider == "hash":
        return _open_hashed(name, model)
    if provider not in PROVIDERS or not model:
        raise InvalidInputError(
            f"the embedder {name!r} is unknown; expected hash:384, or one of {', '.join(PROVIDERS)} with a model after a colon"
        )
    if find_spec("pydantic_ai") is None:
        raise InvalidInputError(f"the embedder {name} needs the extra `models`: pip install 'everfold[models]'")

    def make() -> Embedder:
        from everfold.adapters.models.provided_embedders import PydanticAIEmbedder
        from everfold.adapters.models.pydantic_ai import Place

        place = Place(provider=provider, name=model, base_url=base_url, api_key=api_key)
        return PydanticAIEmbedder(place, dimensions=dimensions)

    return LazyEmbedder(name, make, dimensions=dimensions)


def _open_hashed(name: str, size: str) -> Embedder:
    from everfold.adapters.models.hashed import HashedEmbedder

    if not size.isascii() or not size.isdigit():
        raise InvalidInputError(f"the embedder {name!r} has no size; expected a number of dimensions: hash:384")
    return HashedEmbedder(int(size))


class LazyEmbedder:
    """An embedder that is made on a thread of its own at its first request.

    Args:
        name: Its setting.
        make: Makes it; what it raises is raised to the caller, and it is tried again at the next request.
        dimensions: What the setting says.
    """

    def __init__(self, name: str, make: Callable[[], Embedder], *, dimensions: int | None = None) -> None:
        self.name = name
        self._make = make
        self._asked_dimensions = dimensions
        self._made: Embedder | None = None
        self._making = asyncio.Lock()

    @property
    def dimensions(self) -> int | None:
        """See the port."""
        return self._asked_dimensions if self._made is None else self._made.dimensions

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
        """See the port."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return await self._made.embed(texts, is_query=is_query)

    async def close(self) -> None:
        """See the port."""
        if self._made is not None:
            await self._made.close()
