"""Stepwise: long computations that pause between their steps, so that other tasks of an event loop can run."""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator[None, None, T]
"""A computation that yields after each step of a few milliseconds and returns its result."""


def finish(steps: Steps[T]) -> T:
    """The result, without a pause."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
