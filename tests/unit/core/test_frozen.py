"""Values that are made quickly are like any other."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from everfold.core.frozen import make_twin, quick


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value with a default."""

    name: str
    height: int
    tags: tuple[str, ...] = ()


def test_a_value_made_quickly_is_like_any_other() -> None:
    """It has the class, equals and hashes and prints the same, survives pickling and copying, and cannot be changed."""
    plain, made = Place(name="a", height=3), quick(Place)(name="a", height=3)
    assert type(made) is Place
    assert (made, hash(made), repr(made)) == (plain, hash(plain), repr(plain))
    assert pickle.loads(pickle.dumps(made)) == plain
    assert replace(made, height=4) == Place(name="a", height=4)
    with pytest.raises(FrozenInstanceError):
        made.height = 4  # type: ignore[misc]  # that it raises is the point


def test_what_is_missing_or_unknown_is_refused() -> None:
    """A field without a default must be given, and no other than the fields may be."""
    with pytest.raises(TypeError, match="height"):
        quick(Place)(name="a")  # type: ignore[call-arg]  # that it raises is the point
    with pytest.raises(TypeError, match="depth"):
        quick(Place)(name="a", height=3, depth=2)  # type: ignore[call-arg]  # as above


def test_a_twin_is_changed_until_it_is_given_the_class() -> None:
    """A twin takes all fields in their order, and is frozen from the moment on at which it gets the class."""
    value = make_twin(Place)("a", 3, ("x",))
    object.__setattr__(value, "height", 5)
    value.__class__ = Place
    assert value == Place(name="a", height=5, tags=("x",))
    with pytest.raises(FrozenInstanceError):
        value.height = 4  # type: ignore[misc]  # that it raises is the point
