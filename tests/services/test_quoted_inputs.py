"""No error of the library repeats more than a piece of what came in."""

# ruff: noqa: PT012, PT017 - whether and where an error comes is each call's own matter
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, get_args, get_origin

import pytest
from tests.support.long_inputs import LONG, find_repeated

import everfold
from everfold import Everfold
from everfold.config import load_settings
from everfold.errors import MOST_QUOTED_CHARS, EverfoldError, NotFoundError, shorten
from everfold.testing.kit.builders import talk

pytestmark = pytest.mark.anyio

NOT_CALLED: Final = frozenset({"close", "open", "events", "start"})


@pytest.fixture
async def engine() -> AsyncIterator[Everfold]:
    """An engine that holds one session and one item."""
    async with everfold.open("memory://", settings={"memory": {"system": "structured"}}) as opened:
        session = await opened.session()
        await session.append(talk(2))
        await (await opened.memory()).add("The boat has a red hull.")
        yield opened


def fill(annotation: object, long: str) -> object:
    """A long value of a type; None where no text can stand there."""
    if annotation is str:
        return long
    if annotation is int:
        return 1
    if get_origin(annotation) is Sequence:
        return [long]
    if get_origin(annotation) is Mapping or annotation is object:
        return {long: long, "role": long, "content": long}
    texts = [fill(one, long) for one in get_args(annotation)]
    return next((one for one in texts if one is not None), None)


def list_calls(target: object, long: str) -> list[tuple[str, Callable[..., Any], dict[str, object]]]:
    """Each public method with one long argument after the other, what is required beside it too."""
    calls = []
    for name, method in inspect.getmembers(target, inspect.ismethod):
        if name.startswith("_") or name in NOT_CALLED or not inspect.iscoroutinefunction(method):
            continue
        parameters = inspect.signature(method, eval_str=True).parameters.values()
        required = {one.name: fill(one.annotation, long) for one in parameters if one.default is one.empty}
        calls += [(name, method, {**required, one.name: fill(one.annotation, long)}) for one in parameters]
    return calls


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
@pytest.mark.moves_prefix
async def test_no_method_repeats_a_long_argument(engine: Everfold, long: str) -> None:
    """Whatever public method gets a very long text, its error quotes a piece of it, in its message and in its ids."""
    targets = (engine, engine.admin, engine.admin.api_keys, await engine.memory(), await engine.session())
    errors = 0
    for target in targets:
        for name, method, arguments in list_calls(target, long):
            try:
                await method(**arguments)
            except EverfoldError as error:
                errors += 1
                said = f"{error} {error.ids}"
                assert not find_repeated(said, long), (name, arguments.keys(), said)
            except (TypeError, AttributeError):
                continue  # an argument of another type than text
    assert errors > 30


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
async def test_no_setting_repeats_a_long_value(long: str) -> None:
    """A setting that does not fit, or is unknown, is refused with a piece of its name and value."""
    fields = {
        "unknown section": {long: {"a": 1}},
        "unknown key": {"model": {long: 1}},
        "name": {"model": {"name": long}},
        "number": {"model": {"context_limit": long}},
        "source": {"compaction": {"context_sources": [{"source": long}]}},
        "agent": {"agents": {long: {"compaction": {long: 1}}}},
        "kind": {"sources": {"a": {"kind": long}}},
        "user": {"users": [{"name": long, "bindings": [long]}]},
        "store": {"store": {"url": long}},
    }
    for name, overrides in fields.items():
        with pytest.raises(EverfoldError) as refusal:
            load_settings(None, overrides)
            async with everfold.open(settings=overrides):
                pytest.fail(f"{name} was taken")
        assert not find_repeated(str(refusal.value), long), (name, str(refusal.value))


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
async def test_no_message_repeats_a_long_field(engine: Everfold, long: str) -> None:
    """A message that cannot be stored is refused with a piece of the field that is wrong."""
    session = await engine.session()
    wires: list[dict[str, Any]] = [
        {"role": long, "content": "a"},
        {"role": "user", "content": [{"type": long}]},
        {"role": "user", "content": [{"type": "text", long: 1}]},
        {"role": "tool", "tool_call_id": long, "content": "a"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": long, "content": "a"}]},
        {"role": "user", "content": {long: float("nan")}},
        {"role": "assistant", "content": "a", "tool_calls": [{"id": long, "type": long}]},
    ]
    errors = 0
    for wire in wires:
        for wire_format in ("openai", "anthropic"):
            try:
                await session.append(wire, wire_format=wire_format)  # type: ignore[arg-type]
            except EverfoldError as error:
                errors += 1
                assert not find_repeated(f"{error} {error.ids}", long), (wire.keys(), str(error))
    assert errors > 5


def test_what_is_short_is_repeated_whole() -> None:
    """A message that quotes up to the bound stays as it is; beyond it its beginning, its end and what to do stay."""
    for count in (1, MOST_QUOTED_CHARS - 9):
        message = f"there is no session {'x' * count!r}; list them"
        assert shorten(message) == message
    error = NotFoundError(f"there is no session {'a' * 999 + 'z'!r}; list them, the user's and the agent's")
    assert str(error).startswith("there is no session 'aaa")
    assert str(error).endswith("z'; list them, the user's and the agent's")
    assert shorten(str(error)) == str(error)


def test_a_huge_input_is_quoted_in_linear_work() -> None:
    """Quotes without an end in an input of megabytes cost one look each, not one for each of the others."""
    for text in (" '" * 2_000_000, " \"'`" * 1_000_000, "`" * 4_000_000):
        assert len(shorten(f"no {text}")) < 5_000
