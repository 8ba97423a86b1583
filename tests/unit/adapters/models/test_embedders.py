"""Embedders of providers, against a server on this machine that answers as they do."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from everfold.adapters.models.embedders import LazyEmbedder, open_embedder
from everfold.adapters.models.hashed import HashedEmbedder
from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    InvalidInputError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
)
from everfold.ports.embedders import Embedder
from everfold.testing.kit.model_server import Answer, ModelServer, openai_error

pytestmark = pytest.mark.anyio
KEY = "sk-not-a-real-key-7431"
FRESH = """
import sys
from everfold.adapters.models.embedders import open_embedder
open_embedder("openai:text-embedding-3-small", api_key="x")
open_embedder("hash:384")
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"pydantic_ai", "openai", "httpx2", "sqlite_vec"}))
"""


def vectors_answer(*vectors: Sequence[object]) -> Answer:
    """Embeddings as OpenAI's server gives them."""
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    body = {"object": "list", "data": data, "model": "text-embedding-3-small", "usage": usage}
    return Answer(body=json.dumps(body).encode())


@asynccontextmanager
async def served(*answers: Answer, dimensions: int | None = None) -> AsyncIterator[tuple[Embedder, ModelServer]]:
    """An embedder, and the server that plays it."""
    with ModelServer(*answers) as server:
        url = f"{server.url}/v1"
        embedder = open_embedder("openai:text-embedding-3-small", base_url=url, api_key=KEY, dimensions=dimensions)
        try:
            yield embedder, server
        finally:
            await embedder.close()
            await embedder.close()


async def fail(*answers: Answer) -> EverfoldError:
    """What asking about two texts raises."""
    async with served(*answers) as (embedder, server):
        with pytest.raises(EverfoldError) as raised:
            await embedder.embed(["one", "two"], is_query=False)
        assert len(server.asked) == 1
        assert KEY not in str(raised.value)
        return raised.value


async def test_texts_become_vectors() -> None:
    """One request holds all texts, its vectors come in their order, with what they used; the size is known then."""
    async with served(vectors_answer([1.0, 0.0], [0.0, 0.5])) as (embedder, server):
        assert embedder.dimensions is None
        given = await embedder.embed(["one", "two"], is_query=False)
        assert given.vectors == [(1.0, 0.0), (0.0, 0.5)]
        assert (given.input_tokens, given.model) == (8, "text-embedding-3-small")
        assert given.cost_usd == pytest.approx(8 * 0.02 / 1e6)
        assert embedder.dimensions == 2
        assert embedder.name == "openai:text-embedding-3-small"
    [asked] = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["input"] == ["one", "two"]
    assert asked.body["model"] == "text-embedding-3-small"
    assert "dimensions" not in asked.body


async def test_a_size_is_asked_for() -> None:
    """A model that has several sizes is asked for the one that was chosen, which is known before it answers."""
    async with served(vectors_answer([1.0, 0.0, 0.0]), dimensions=3) as (embedder, server):
        assert embedder.dimensions == 3
        await embedder.embed(["one"], is_query=True)
    assert server.asked[0].body["dimensions"] == 3


async def test_no_text_is_no_request() -> None:
    """Nothing is asked about nothing."""
    async with served() as (embedder, server):
        assert (await embedder.embed([], is_query=False)).vectors == []
    assert server.asked == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (openai_error(429, "slow down", kind="rate_limit"), RateLimitedError),
        (openai_error(503, "overloaded"), ModelUnavailableError),
        (openai_error(500, "broken"), ModelUnavailableError),
        (openai_error(401, f"the key {KEY} is not known"), ModelReplyError),
        (openai_error(400, "This model's maximum context length is 8192 tokens"), ContextLengthError),
        (vectors_answer([1.0, 0.0]), ModelReplyError),
        (vectors_answer([1.0, 0.0], [1.0]), ModelReplyError),
        (vectors_answer([], []), ModelReplyError),
        (vectors_answer([1.0, 0.0], ["x", 0.0]), ModelReplyError),
        (Answer(body=b'{"data": 7}'), ModelReplyError),
        (Answer(body=b"no JSON"), ModelReplyError),
        (Answer(body=json.dumps({"data": [{"embedding": [1e999]}, {"embedding": [1.0]}]}).encode()), ModelReplyError),
    ],
)
async def test_every_failure_is_ours(answer: Answer, expected: type[EverfoldError]) -> None:
    """Whatever a server does instead of giving the vectors is one of our errors, after one request, without the key."""
    assert type(await fail(answer)) is expected


async def test_a_server_that_is_not_there() -> None:
    """An address where no server listens is a model that cannot be reached."""
    with ModelServer() as server:
        url = f"{server.url}/v1"
    embedder = open_embedder("ollama:all-minilm", base_url=url)
    with pytest.raises(ModelUnavailableError, match="ollama:all-minilm"):
        await embedder.embed(["one"], is_query=False)
    await embedder.close()


async def test_another_size_than_before_is_refused() -> None:
    """A server that changes the size of its vectors serves another model: nothing of it is taken."""
    async with served(vectors_answer([1.0, 0.0]), vectors_answer([1.0, 0.0, 0.0])) as (embedder, _):
        await embedder.embed(["one"], is_query=False)
        with pytest.raises(ModelReplyError, match="expected 1 vectors of 2 finite numbers, got 1 of 3"):
            await embedder.embed(["one"], is_query=False)


def test_nothing_is_loaded_before_it_is_asked() -> None:
    """Opening an embedder loads no library of any provider."""
    fresh = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == []


@pytest.mark.parametrize("name", ["", "openai", "openai:", "hash", "hash:many", "hash:3", "hash:-384", "word2vec:x"])
def test_a_name_that_says_no_embedder_is_refused(name: str) -> None:
    """The error says what was expected."""
    with pytest.raises(InvalidInputError, match="expected"):
        open_embedder(name)


async def test_a_provider_without_its_package() -> None:
    """What is missing is named when the embedder is first asked."""
    embedder = open_embedder("sentence-transformers:all-MiniLM-L6-v2")
    with pytest.raises(InvalidInputError, match=r"pydantic-ai-slim\[sentence-transformers\]"):
        await embedder.embed(["one"], is_query=False)


async def test_a_lazy_embedder_is_made_once() -> None:
    """It is made at the first request, and again where that failed."""
    made: list[int] = []

    def make() -> Embedder:
        made.append(1)
        if len(made) == 1:
            raise InvalidInputError("not yet")
        return HashedEmbedder(16)

    embedder = LazyEmbedder("hash:16", make)
    assert (embedder.dimensions, made) == (None, [])
    with pytest.raises(InvalidInputError):
        await embedder.embed(["one"], is_query=False)
    for _ in range(2):
        await embedder.embed(["one"], is_query=False)
    assert (embedder.dimensions, len(made)) == (16, 2)
