"""The handles that a program gets fit in the head."""

import inspect

import pytest

from everfold import Session, SyncSession

MOST_METHODS = 17
"""What a conversation needs; what integrations, operators and servers need is behind a property of its own."""


@pytest.mark.parametrize("face", [Session, SyncSession])
def test_a_session_fits_in_the_head(face: type) -> None:
    """A session offers at most seventeen methods."""
    assert len([name for name, _ in inspect.getmembers(face, inspect.isfunction) if name[0] != "_"]) <= MOST_METHODS
