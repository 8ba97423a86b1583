"""Ids from time and randomness."""

import re
import time

import pytest

from everfold.adapters.system.ids import RandomIds
from everfold.ports.system import Ids


def test_ids_of_one_maker_sort_by_creation() -> None:
    """Ten thousand ids in a row are all different and rise as texts."""
    ids: Ids = RandomIds()
    made = [ids.new_id("evt_") for _ in range(10_000)]
    assert len(set(made)) == len(made)
    assert sorted(made) == made


def test_a_clock_that_is_set_back_keeps_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that is made after the machine's clock was set back still sorts behind those before it."""
    ids = RandomIds()
    first = ids.new_id("ses_")
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000)
    assert first < ids.new_id("ses_") < ids.new_id("ses_")


def test_makers_in_one_moment_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two makers that never heard of each other give different ids in the same microsecond."""
    monkeypatch.setattr(time, "time_ns", lambda: 1_900_000_000_000_000_000)
    made = {RandomIds().new_id("ses_") for _ in range(1000)}
    assert len(made) == 1000
    assert len({id_[: len("ses_") + 14] for id_ in made}) == 1


def test_an_id_is_its_prefix_and_thirty_hex_digits() -> None:
    """Ids have one length and stand in paths and columns unquoted."""
    assert re.fullmatch(r"ses_[0-9a-f]{30}", RandomIds().new_id("ses_"))
