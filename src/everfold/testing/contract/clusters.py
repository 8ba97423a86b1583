"""Vectors as embedders make them, from a seed: themes, threads within each, and members around those.

Texts about one thing lie close together, so their embeddings form clusters; the neighbours of a question are members of
one or two of them. Vectors drawn evenly from a sphere have no neighbours to speak of, and would measure nothing.

Source: Charikar, 2002, and every index since is judged on such mixtures; the offset that all members share is what
Ethayarajh, "How contextual are contextualized word representations?", 2019, found in embeddings of real models.
"""

import random
from array import array
from collections.abc import Sequence

from everfold.core.recall.vectors import Vector

THEME_COUNT = 500
THREADS_PER_THEME = 20
OFFSET = 0.5
"""How far from the origin the middle of everything is, where themes have a spread of 1."""
THREAD_SPREAD = 0.6
MEMBER_SPREAD = 0.5
QUESTION_SPREAD = 0.6
_POOL_SIZE = 1_000_003
"""Normal numbers are drawn once; each vector's noise is a stretch of them from a random place."""


class Clusters:
    """A mixture of clusters; the same for the same seed and size, whatever is drawn from it."""

    def __init__(self, seed: int, *, dimensions: int = 384, theme_count: int = THEME_COUNT) -> None:
        self._random = random.Random(seed)  # noqa: S311  # data for tests
        self.dimensions = dimensions
        self._pool = array("f", (self._random.gauss(0, 1) for _ in range(min(_POOL_SIZE, 2_000 * dimensions))))
        middle = [OFFSET * number for number in self._noise()]
        themes = [_add(middle, self._noise(), 1.0) for _ in range(theme_count)]
        self._threads = [
            _add(theme, self._noise(), THREAD_SPREAD) for theme in themes for _ in range(THREADS_PER_THEME)
        ]

    def draw(self) -> Vector:
        """A member of some thread."""
        return tuple(_add(self._random.choice(self._threads), self._noise(), MEMBER_SPREAD))

    def ask(self) -> Vector:
        """A question about some thread: like a member, and a little further off."""
        return tuple(_add(self._random.choice(self._threads), self._noise(), QUESTION_SPREAD))

    def _noise(self) -> Sequence[float]:
        start = self._random.randrange(len(self._pool) - self.dimensions)
        return self._pool[start : start + self.dimensions]


def _add(one: Sequence[float], other: Sequence[float], weight: float) -> list[float]:
    return [left + weight * right for left, right in zip(one, other, strict=True)]
