"""The embedder without a model."""

import subprocess
import sys

import pytest

from everfold.adapters.models.hashed import LEAST_DIMENSIONS, MOST_DIMENSIONS, HashedEmbedder
from everfold.core.recall.vectors import Vector, compare
from everfold.errors import InvalidInputError

pytestmark = pytest.mark.anyio

FRESH = """
import asyncio, sys
from everfold.adapters.models.hashed import HashedEmbedder
[vector] = asyncio.run(HashedEmbedder(32).embed([sys.argv[1]], is_query=False)).vectors
print(repr(vector))
"""


async def embed(*texts: str, dimensions: int = 384) -> list[Vector]:
    """Their vectors."""
    return (await HashedEmbedder(dimensions).embed(texts, is_query=False)).vectors


async def test_vectors_have_length_one() -> None:
    """Every text with words has a vector of the size that was asked for and of length 1."""
    for vector in await embed("The berth is free.", "x", "Der Liegeplatz ist frei.", "泊位是免费的", dimensions=100):
        assert len(vector) == 100
        assert compare(vector, vector) == pytest.approx(1.0)


async def test_what_shares_words_is_nearer() -> None:
    """A text is nearer to one with its words, in other order and case, than to one with pieces of them, than to neither."""
    first, same, alike, other = await embed(
        "The harbour berth costs 17 euros",
        "COSTS of a berth in the harbour: 17 euros!",
        "harbours and berthing",
        "My daughter plays the violin",
    )
    assert compare(first, same) > compare(first, alike) + 0.1 > compare(first, other) + 0.2
    assert abs(compare(first, other)) < 0.3


async def test_a_text_without_words_has_only_zeros() -> None:
    """Marks alone have no direction."""
    assert set((await embed("... !"))[0]) == {0.0}


async def test_questions_are_embedded_as_texts_are() -> None:
    """The same words give the same vector, whichever they are."""
    embedder = HashedEmbedder()
    assert await embedder.embed(["berth"], is_query=True) == await embedder.embed(["berth"], is_query=False)
    assert (embedder.name, embedder.dimensions) == ("hash:384", 384)


def test_every_process_gives_the_same() -> None:
    """A vector does not depend on the process that made it."""
    command = [sys.executable, "-c", FRESH, "The harbour berth"]
    fresh = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert fresh[0] == fresh[1] != ""


@pytest.mark.parametrize("dimensions", [0, -3, LEAST_DIMENSIONS - 1, MOST_DIMENSIONS + 1])
def test_a_size_that_cannot_work_is_refused(dimensions: int) -> None:
    """Too few numbers tell nothing apart, and too many are a mistake."""
    with pytest.raises(InvalidInputError, match="expected 16 to 4096"):
        HashedEmbedder(dimensions)
