"""Every argument of the public face that is one of a few words refuses any other word, and says which there are."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterator

import pytest

import everfold
from everfold import Inspection, Memory, MemoryTools, Session, Window
from everfold.core.memory.items import ItemKind
from everfold.core.merging.operations import Add
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import user

pytestmark = pytest.mark.anyio

OTHER = typing.cast("typing.Any", "rumour")
HELLO: JsonObject = user("Hello.")


async def _search_anew() -> object:
    async with everfold.open("memory://") as engine:
        return await engine.search("x", roles=[OTHER])


async def _search_users() -> object:
    async with everfold.open("memory://") as engine:
        return await engine.admin.search_messages("x", roles=[OTHER])


Call = Callable[[Session, Memory, MemoryTools, Window], object]
CALLS: dict[str, Call] = {
    "Memory.items(statuses)": lambda _s, memory, _t, _w: memory.items(statuses=[OTHER]),
    "Memory.find_items(statuses)": lambda _s, memory, _t, _w: memory.find_items(statuses=[OTHER]),
    "Memory.find_items(kind)": lambda _s, memory, _t, _w: memory.find_items(kind=OTHER),
    "Memory.find_items(tier)": lambda _s, memory, _t, _w: memory.find_items(tier=OTHER),
    "Memory.search_all(places)": lambda _s, memory, _t, _w: memory.search_all("x", places=[OTHER]),
    "Memory.search_all(roles)": lambda _s, memory, _t, _w: memory.search_all("x", roles=[OTHER]),
    "Session.search(roles)": lambda session, _m, _t, _w: session.search("x", roles=[OTHER]),
    "Everfold.search(roles)": lambda _s, _m, _t, _w: _search_anew(),
    "Admin.search_messages(roles)": lambda _s, _m, _t, _w: _search_users(),
    "MemoryTools.history_search(roles)": lambda _s, _m, tools, _w: tools.history_search("x", roles=[OTHER]),
    "Memory.add(tier)": lambda _s, memory, _t, _w: memory.add("I row.", tier=OTHER),
    "Memory.add(kind)": lambda _s, memory, _t, _w: memory.add("I row.", kind=OTHER),
    "Memory.forget_topic(tier)": lambda _s, memory, _t, _w: memory.forget_topic("general", tier=OTHER),
    "Memory.get_topic(tier)": lambda _s, memory, _t, _w: memory.get_topic("general", tier=OTHER),
    "Memory.audit_page(action)": lambda _s, memory, _t, _w: memory.audit_page(action=OTHER),
    "MemoryTools.memory_add(tier)": lambda _s, _m, tools, _w: tools.memory_add("I row.", tier=OTHER),
    "MemoryTools.memory_add(kind)": lambda _s, _m, tools, _w: tools.memory_add("I row.", kind=OTHER),
    "MemoryTools.memory_replace(tier)": lambda _s, _m, tools, _w: tools.memory_replace("a", "b", tier=OTHER),
    "MemoryTools.memory_remove(tier)": lambda _s, _m, tools, _w: tools.memory_remove("a", tier=OTHER),
    "MemoryTools.memory_list(tier)": lambda _s, _m, tools, _w: tools.memory_list(OTHER),
    "MemoryTools.memory_batch(operations)": lambda _s, _m, _t, _w: Add(
        statement="I row.", tier="user", item_kind=OTHER
    ),
    "Session.append(origin)": lambda session, _m, _t, _w: session.append(HELLO, origin=OTHER),
    "Session.append(wire_format)": lambda session, _m, _t, _w: session.append(HELLO, wire_format=OTHER),
    "Window.render(provider)": lambda _s, _m, _t, window: window.render(OTHER),
    "Inspection.replay(provider)": lambda session, _m, _t, _w: session.inspect.replay([], provider=OTHER),
}

PUBLIC = {name: getattr(everfold, name) for name in everfold.__all__} | {"JsonValue": object}


def _list_words(hint: object) -> Iterator[str]:
    """The words of the literals in a type."""
    if typing.get_origin(hint) is typing.Literal:
        yield from map(str, typing.get_args(hint))
    elif hint is Add:
        yield from _list_words(ItemKind)
    else:
        yield from (word for inner in typing.get_args(hint) for word in _list_words(inner))


def list_literals() -> dict[str, list[str]]:
    """The arguments of public methods that are of literal types, with their words."""
    found: dict[str, list[str]] = {}
    for cls in (Session, Inspection, Memory, MemoryTools, Window, everfold.Everfold, everfold.Admin):
        for name, method in vars(cls).items():
            if name.startswith("_") or not inspect.isfunction(method):
                continue
            for argument, hint in typing.get_type_hints(method, vars(inspect.getmodule(cls)), PUBLIC).items():
                words = list(_list_words(hint)) if argument != "return" else []
                if words:
                    found[f"{cls.__name__}.{name}({argument})"] = words
    return found


def test_every_literal_argument_is_tried() -> None:
    """The table of this module has a call for each literal argument of the public face, and for no other."""
    assert set(CALLS) >= set(list_literals())


@pytest.mark.parametrize("name", list(CALLS))
async def test_another_word_is_refused(name: str, url: str) -> None:
    """A word that is none of them is refused with all that there are, and nothing was stored."""
    async with everfold.open(url) as engine:
        session = await engine.session(user="ada", agent="helper")
        await session.append(user("Hello."))
        memory = await engine.memory(user="ada", agent="helper")
        window = await session.window()
        with pytest.raises(InvalidInputError) as refused:  # noqa: PT012 - some calls are awaited
            called = CALLS[name](session, memory, session.tools(), window)
            if isinstance(called, Awaitable):
                await called
        for word in list_literals().get(name, ()):
            assert word in str(refused.value)
        assert len(str(refused.value)) < 200
        assert await memory.items() == []
        assert (await session.inspect.state()).last_seq == 1


async def test_a_single_text_is_not_several() -> None:
    """Where several words are expected, a text is refused and not taken letter by letter."""
    async with everfold.open("memory://") as engine:
        memory = await engine.memory()
        with pytest.raises(InvalidInputError, match="several of active"):
            await memory.items(statuses=typing.cast("typing.Any", "active"))
        with pytest.raises(InvalidInputError, match="one of fact"):
            await memory.add("I row.", kind=typing.cast("typing.Any", None))
