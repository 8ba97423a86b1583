"""Frozen values made quickly, for the few classes of which every message makes one.

A frozen dataclass sets each field by name through `object.__setattr__`, which takes fourteen times what setting a slot
takes. A *twin* has the same slots and is not frozen; filled, it is given the class, and is from then on a value of it
like any other: equal, frozen, pickled and printed as ever. `__post_init__` of the class is not run.

Source: our measurement, `bench/turn.py`: a message of 15 fields in a third of the time.
"""

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from typing import ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Twin(Protocol[T_co]):
    """A class with the slots of another: takes the fields in their order, and gives what may still be changed.

    What it makes is of the other class only once that is assigned to its `__class__`.
    """

    def __call__(self, *values: object) -> T_co:
        """Fill every field."""
        ...


def make_twin(cls: Callable[P, T]) -> Twin[T]:
    """The twin of a frozen, slotted dataclass."""
    return cast("Twin[T]", _make_twin(cls, {}))


def quick(cls: Callable[P, T]) -> Callable[P, T]:
    """What makes values of a frozen, slotted dataclass as its own constructor does, in a third of the time."""

    def become(value: object) -> None:
        value.__class__ = cast("type", cls)

    return cast("Callable[P, T]", _make_twin(cls, {"__post_init__": become}))


def _make_twin(cls: object, namespace: dict[str, object]) -> type:
    columns = [
        (one.name, object, field(default=one.default, default_factory=one.default_factory))
        for one in fields(cast("type", cls))
    ]
    return make_dataclass("Twin", columns, slots=True, namespace=namespace)
