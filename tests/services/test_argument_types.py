"""A public method refuses an argument of another type than it states, and says which one and what it expects."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Final, get_args

import pytest

import everfold
from everfold import Everfold
from everfold.core.windows.window import Window
from everfold.errors import MOST_QUOTED_CHARS, InvalidInputError
from everfold.testing.kit.builders import talk

pytestmark = pytest.mark.anyio

WRONG: Final[dict[object, tuple[object, ...]]] = {
    int: ("1", 1.5, True, None, [1]),
    str: (5, b"text", True, None, ["text"]),
    datetime: ("2026-01-01", 0, True, None),
    Window: ("window", None),
}
"""Values that are none of a type."""


@pytest.fixture
async def engine() -> AsyncIterator[Everfold]:
    """An engine that holds one session and one item."""
    async with everfold.open("memory://", settings={"memory": {"system": "structured"}}) as opened:
        await (await opened.session()).append(talk(2))
        await (await opened.memory()).add("The boat has a red hull.")
        yield opened


async def list_targets(engine: Everfold) -> list[object]:
    """The objects that a program gets from an engine."""
    session, admin = await engine.session(), engine.admin
    held = [
        engine,
        session,
        session.inspect,
        session.integration,
        session.tools(),
        await engine.memory(),
        await engine.memory_files(),
    ]
    return [*held, admin, admin.api_keys, admin.requests, admin.conversations]


def list_wrong(method: Callable[..., Any]) -> Iterator[tuple[str, object]]:
    """Each argument of a method that is a number, a text, a moment or a window, with each value that it may not have."""
    for one in inspect.signature(method).parameters.values():
        stated = get_args(one.annotation) if isinstance(one.annotation, UnionType) else (one.annotation,)
        for value in WRONG.get(next((kind for kind in stated if kind is not NoneType), None), ()):
            if value is not None or NoneType not in stated:
                yield one.name, value


async def call(method: Callable[..., Any], name: str, value: object) -> None:
    """Call a method with this argument alone, since it is refused before the others are missed."""
    done = method(**{name: value})
    if isinstance(done, Awaitable):
        await done


async def test_every_method_refuses_other_types(engine: Everfold) -> None:
    """Whatever public method gets a value of another type names the method, the argument and the value."""
    tried: set[str] = set()
    for target in await list_targets(engine):
        for method_name, method in inspect.getmembers(target, inspect.ismethod):
            if method_name.startswith("_"):
                continue
            for name, value in list_wrong(method):
                with pytest.raises(InvalidInputError) as refusal:
                    await call(method, name, value)
                assert f"{method_name}: {name} must be a" in str(refusal.value)
                assert str(refusal.value).endswith(f"got {value!r}")
                tried.add(f"{type(target).__name__}.{method_name}({name})")
    assert len(tried) > 150
    assert {"Session.read(seq)", "Integration.set_title(title)", "Inspection.read_around(after)"} <= tried


async def test_a_text_for_a_number_is_no_damage(engine: Everfold) -> None:
    """A number given as text is the caller's mistake, and the store is as sound as before."""
    session = await engine.session()
    for method in (session.read, session.erase, session.branch, session.inspect.read_message):
        with pytest.raises(InvalidInputError, match=r"seq must be a whole number, got '1'$"):
            await method("1")  # type: ignore[operator]  # what no type checker saw
    with pytest.raises(InvalidInputError, match="after_ordinal must be a whole number"):
        await session.inspect.compactions(after_ordinal="1")  # type: ignore[arg-type]
    assert (await session.read(1)).seq == 1
    assert (await session.verify()).is_sound


async def test_an_argument_by_its_place_is_checked_too(engine: Everfold) -> None:
    """What is given by its place is refused like what is given by its name, and None only where it is allowed."""
    session = await engine.session()
    with pytest.raises(InvalidInputError, match="last must be a whole number or None, got '2'"):
        await session.messages(1, "2")  # type: ignore[arg-type]
    assert len(await session.messages(1, None)) == 4


async def test_a_long_value_is_cut(engine: Everfold) -> None:
    """An error repeats at most so much of a value, whatever it is made of."""
    session = await engine.session()
    for value in ("x" * 9_000, list(range(9_000)), b"x" * 9_000):
        with pytest.raises(InvalidInputError) as refusal:
            await session.read(value)  # type: ignore[arg-type]
        assert len(str(refusal.value)) <= MOST_QUOTED_CHARS + len("Session.read: seq must be a whole number, got ")
