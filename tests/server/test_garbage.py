"""Full collections of garbage come when no request waits for them."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from everfold.server.garbage import IDLE_SECS, MOST_SECS, FullCollections


class Ring:
    """An object that only a collection ends."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def secs() -> list[float]:
    """What the clock says; the last counts."""
    return [0.0]


@pytest.fixture
def collections(secs: list[float]) -> Iterator[FullCollections]:
    """Taken over from Python, and given back."""
    taken = FullCollections(lambda: secs[-1])
    taken.begin()
    yield taken
    taken.end()


@pytest.mark.parametrize(("is_idle", "due_secs"), [(True, IDLE_SECS), (False, MOST_SECS)], ids=["idle", "busy"])
def test_garbage_ends_when_a_collection_is_due(
    collections: FullCollections, secs: list[float], *, is_idle: bool, due_secs: float
) -> None:
    """Not before it is time, then at once, and again only after as long."""
    for round_secs in (0.0, due_secs):
        ring = ref(Ring())
        gc.collect(1)
        ring = ref(Ring()) if ring() is None else ring
        secs.append(round_secs + due_secs - 0.1)
        assert not collections.look(is_idle=is_idle)
        assert ring() is not None
        secs.append(round_secs + due_secs)
        assert collections.look(is_idle=is_idle)
        assert ring() is None


def test_python_has_its_settings_back_at_the_end() -> None:
    """What was frozen is thawed and the thresholds are as before; meanwhile only those of young objects are."""
    before = gc.get_threshold()
    taken = FullCollections()
    taken.begin()
    assert gc.get_threshold()[:2] == before[:2]
    assert gc.get_threshold()[2] > 1_000_000
    assert gc.get_freeze_count() > 0
    taken.end()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
