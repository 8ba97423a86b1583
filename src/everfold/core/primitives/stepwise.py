"""Stepwise: long computations that pause between their steps, so that other tasks of an event loop can run."""

from collections.abc import Callable, Generator, Sequence
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
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


def finishing(stepwise: Callable[P, Steps[T]]) -> Callable[P, T]:
    """The same computation without its pauses."""

    @wraps(stepwise)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return finish(stepwise(*args, **kwargs))

    return run


def map_stepwise(function: Callable[[R], T], items: Sequence[R], *, count: int) -> Steps[list[T]]:
    """What a function gives for each of some items, in their order, with a pause between every so many."""
    given: list[T] = []
    for at in range(0, len(items), count):
        if at:
            yield
        given += map(function, items[at : at + count])
    return given
