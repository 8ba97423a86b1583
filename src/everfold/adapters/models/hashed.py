"""An embedder without a model: words and pieces of words, hashed into a vector.

For tests, and for people who have no model: texts that share words, or spell them alike, are near each other; texts
that say the same in other words are not. Full text does as much and more, so this adds little to recall.

Each feature (a word, or three characters in a row of one) has a sign at some places of the vector, told by its hash;
a text is the sum over its features, with repetitions counting less and words more than pieces.

Source: Weinberger et al., "Feature hashing for large scale multitask learning", 2009; several places for each feature:
Kane and Nelson, "Sparser Johnson-Lindenstrauss transforms", 2014; pieces of words: Bojanowski et al., "Enriching word
vectors with subword information", 2017.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

from everfold.core.recall.vectors import Vector, normalise
from everfold.core.text.words import read_words
from everfold.errors import InvalidInputError
from everfold.ports.embedders import Embedded

PLACES_COUNT: Final = 16
"""At how many places a feature shows; with 16, few words fill a vector, and its signs tell all of them."""
PIECE_CHARS: Final = 3
WORD_WEIGHT: Final = 1.0
PIECE_WEIGHT: Final = 0.25
LEAST_DIMENSIONS: Final = 16
MOST_DIMENSIONS: Final = 4_096
_PLACES: Final = Struct(f"<{PLACES_COUNT}I")


class HashedEmbedder:
    """See `everfold.ports.embedders.Embedder`. The same text gives the same vector in every process, for ever.

    Args:
        dimensions: How many numbers a vector has, from `LEAST_DIMENSIONS` to `MOST_DIMENSIONS`.

    Raises:
        InvalidInputError: it is not in this range.
    """

    def __init__(self, dimensions: int = 384) -> None:
        if not LEAST_DIMENSIONS <= dimensions <= MOST_DIMENSIONS:
            raise InvalidInputError(
                f"hash:{dimensions} has an unsupported size; expected {LEAST_DIMENSIONS} to {MOST_DIMENSIONS}"
            )
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """Its setting."""
        return f"hash:{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """How many numbers each of its vectors has."""
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:  # noqa: ARG002  # the same for both
        """One vector for each text; a text without words has only zeros."""
        return Embedded(vectors=[self._embed(text) for text in texts], cost_usd=0.0, model=self.name)

    async def close(self) -> None:
        """Nothing is held."""

    def _embed(self, text: str) -> Vector:
        sums = [0.0] * self._dimensions
        for feature, count in Counter(_list_features(text)).items():
            weight = (WORD_WEIGHT if feature[0] == "w" else PIECE_WEIGHT) * math.sqrt(count)
            for place in _hash_feature(feature):
                sums[(place >> 1) % self._dimensions] += weight if place & 1 else -weight
        return normalise(sums) or tuple(sums)


def _list_features(text: str) -> Iterator[str]:
    for word in read_words(text):
        yield f"w{word}"
        edged = f"<{word}>"
        yield from (f"p{edged[at : at + PIECE_CHARS]}" for at in range(len(edged) - PIECE_CHARS + 1))


@lru_cache(maxsize=50_000)
def _hash_feature(feature: str) -> tuple[int, ...]:
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=_PLACES.size).digest()
    return _PLACES.unpack(digest)
