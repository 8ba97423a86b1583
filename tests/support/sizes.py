"""How much of a test is run: all of it at night, a part while a person waits.

`make nightly` sets `TESTS_AT_FULL_SIZE`. Without it a property is tried on a quarter of its examples, and a process is
killed once at each step.
"""

import os
from typing import Final, TypeVar

T = TypeVar("T")

AT_FULL_SIZE: Final = bool(os.environ.get("TESTS_AT_FULL_SIZE"))


def examples(count: int) -> int:
    """How many of so many examples a property is tried on."""
    return count if AT_FULL_SIZE else -(-count // 4)


def one_of_each(points: list[tuple[str, T]]) -> list[tuple[str, T]]:
    """The points at which a process is killed; of those at the same step the first one, unless all are wanted."""
    if AT_FULL_SIZE:
        return points
    return [point for index, point in enumerate(points) if point[0] not in {step for step, _ in points[:index]}]
