"""How much of a test is run: all of it at night, a part while a person waits.

`make nightly` sets `TESTS_AT_FULL_SIZE` and runs what is marked as slow. Without it a property is tried on an eighth of
its examples and over shorter logs, a process is killed once at each step, and of all combinations of several parameters
so many are tried that each of their values is met.
"""

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")

AT_FULL_SIZE: Final = bool(os.environ.get("TESTS_AT_FULL_SIZE"))
STORES: Final = ("sqlite", pytest.param("memory", marks=pytest.mark.slow))
"""The stores that a service is tried over; the suite of `tests/contract` holds the one in memory to the same always."""


def examples(count: int) -> int:
    """How many of so many examples a property is tried on."""
    return count if AT_FULL_SIZE else -(-count // 8)


def some(full: T, by_day: T) -> T:
    """How long what a test plays is: in full at night, and by day as long as it takes to meet everything once."""
    return full if AT_FULL_SIZE else by_day


def one_of_each(points: list[tuple[str, T]]) -> list[tuple[str, T]]:
    """The points at which a process is killed; of those at the same step the first one, unless all are wanted."""
    if AT_FULL_SIZE:
        return points
    return [point for index, point in enumerate(points) if point[0] not in {step for step, _ in points[:index]}]


def spread(*axes: Sequence[object]) -> list[ParameterSet]:
    """All combinations of the values of some parameters; of those of the first one each has another of the rest by day."""
    rest = list(product(*axes[1:]))
    marks = [
        () if other == index % len(rest) else pytest.mark.slow
        for index in range(len(axes[0]))
        for other in range(len(rest))
    ]
    return [pytest.param(*point, marks=mark) for point, mark in zip(product(*axes), marks, strict=True)]


def every(step: int, values: Iterable[object]) -> list[ParameterSet]:
    """All values of a parameter; by day one of so many, the first and the last among them."""
    found = list(values)
    return [
        pytest.param(value, marks=() if index % step == 0 or index == len(found) - 1 else pytest.mark.slow)
        for index, value in enumerate(found)
    ]


def matrix(*axes: Sequence[object]) -> list[ParameterSet]:
    """All combinations of the values of some parameters; all but so many as meet each value once are slow."""
    few = {tuple(axis[index % len(axis)] for axis in axes) for index in range(max(map(len, axes)))}
    return [pytest.param(*point, marks=() if point in few else pytest.mark.slow) for point in product(*axes)]
