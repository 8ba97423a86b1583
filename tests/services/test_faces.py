"""The handles that a program gets fit in the head, and completion shows nothing of what is behind them."""

import inspect
from types import FunctionType

import pytest

import everfold
from everfold import Session, SyncSession

MOST_METHODS = 17
"""What a conversation needs; what integrations, operators and servers need is behind a property of its own."""


@pytest.mark.parametrize("face", [Session, SyncSession])
def test_a_session_fits_in_the_head(face: type) -> None:
    """A session offers at most seventeen methods."""
    assert len([name for name, _ in inspect.getmembers(face, inspect.isfunction) if name[0] != "_"]) <= MOST_METHODS


def list_bare(handle: object) -> list[str]:
    """The public names of a handle that are neither a method nor a property."""
    members = {name: member for cls in type(handle).__mro__[::-1] for name, member in vars(cls).items()}
    public = [name for name in dir(handle) if not name.startswith("_")]
    return [name for name in public if not isinstance(members.get(name), property | FunctionType)]


@pytest.mark.anyio
async def test_completion_shows_no_internals() -> None:
    """Every public name of a handle is a method or a property, and no part that it works with."""
    async with everfold.open("memory://") as engine:
        session, memory = await engine.session(), await engine.memory()
        handles = [engine, engine.admin, session, session.inspect, session.integration, memory]
        assert [(type(handle).__name__, bare) for handle in handles if (bare := list_bare(handle))] == []


def test_completion_shows_no_internals_of_the_sync_face() -> None:
    """Neither do the classes whose methods block show what they stand before."""
    with everfold.open_sync("memory://") as engine:
        session = engine.session()
        handles = [engine, engine.admin, session, session.inspect, session.integration, engine.memory()]
        assert [(type(handle).__name__, bare) for handle in handles if (bare := list_bare(handle))] == []
        assert not any(hasattr(handle, "wrapped") for handle in handles)
