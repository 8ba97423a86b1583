"""Every argument of the public face that is a time refuses one without a zone, and one that UTC cannot name."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta, timezone

import pytest

import everfold
from everfold import ApiKeys, Everfold, Memory, MemoryTools, Session
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import user

pytestmark = pytest.mark.anyio

NAIVE = datetime(2031, 1, 1)  # noqa: DTZ001 - what is refused
TOO_LATE = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
TOO_EARLY = datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))
Call = Callable[[Everfold, Session, Memory, datetime], Awaitable[object]]
CALLS: dict[str, Call] = {
    "Session.append(said_at)": lambda _e, session, _m, at: session.append(user("Hello."), said_at=at),
    "Session.search(since)": lambda _e, session, _m, at: session.search("x", since=at),
    "Session.search(until)": lambda _e, session, _m, at: session.search("x", until=at),
    "Memory.search_all(since)": lambda _e, _s, memory, at: memory.search_all("x", since=at),
    "Memory.search_all(until)": lambda _e, _s, memory, at: memory.search_all("x", until=at),
    "Memory.add(valid_to)": lambda _e, _s, memory, at: memory.add("I row until spring.", valid_to=at),
    "Memory.audit(before)": lambda _e, _s, memory, at: memory.audit(before=at),
    "Memory.audit_page(since)": lambda _e, _s, memory, at: memory.audit_page(since=at),
    "Memory.audit_page(until)": lambda _e, _s, memory, at: memory.audit_page(until=at),
    "MemoryTools.history_search(since)": lambda _e, session, _m, at: session.tools().history_search("x", since=at),
    "MemoryTools.history_search(until)": lambda _e, session, _m, at: session.tools().history_search("x", until=at),
    "Everfold.search(since)": lambda engine, _s, _m, at: engine.search("x", since=at),
    "Everfold.search(until)": lambda engine, _s, _m, at: engine.search("x", until=at),
    "Admin.browse_sessions(since)": lambda engine, _s, _m, at: engine.admin.browse_sessions(since=at),
    "Admin.browse_sessions(until)": lambda engine, _s, _m, at: engine.admin.browse_sessions(until=at),
    "Admin.search_messages(since)": lambda engine, _s, _m, at: engine.admin.search_messages("x", since=at),
    "Admin.search_messages(until)": lambda engine, _s, _m, at: engine.admin.search_messages("x", until=at),
    "ApiKeys.make(expires_at)": lambda engine, _s, _m, at: engine.admin.api_keys.make("key", expires_at=at),
}
PUBLIC = {name: getattr(everfold, name) for name in everfold.__all__} | {"JsonValue": object}


def _list_times() -> Iterator[str]:
    """The arguments of public methods that are times."""
    for cls in (Session, Memory, MemoryTools, Everfold, everfold.Admin, ApiKeys):
        for name, method in vars(cls).items():
            if not name.startswith("_") and inspect.isfunction(method):
                hints = typing.get_type_hints(method, vars(inspect.getmodule(cls)), PUBLIC)
                for argument, hint in hints.items():
                    if argument != "return" and datetime in (hint, *typing.get_args(hint)):
                        yield f"{cls.__name__}.{name}({argument})"


def test_every_time_is_tried() -> None:
    """The table of this module has a call for each time of the public face."""
    assert set(_list_times()) == set(CALLS)


@pytest.mark.parametrize("name", list(CALLS))
async def test_a_time_without_a_zone_is_refused(name: str, url: str) -> None:
    """It is refused in words of ours, and nothing is stored."""
    async with everfold.open(url, settings={"memory": {"system": "structured"}}) as engine:
        session = await engine.session(user="ada", agent="helper")
        await session.append(user("Remember: I row."))
        memory = await engine.memory(user="ada", agent="helper")
        with pytest.raises(InvalidInputError, match=r"zone|offset"):
            await CALLS[name](engine, session, memory, NAIVE)
        assert len(await memory.items()) == 1
        assert (await session.inspect.state()).last_seq == 1


@pytest.mark.parametrize("at", [TOO_LATE, TOO_EARLY], ids=["late", "early"])
@pytest.mark.parametrize("name", list(CALLS))
async def test_a_time_that_utc_cannot_name_is_refused(name: str, at: datetime, url: str) -> None:
    """Before the first and behind the last moment of UTC there is none to store: it is refused, and nothing is stored."""
    async with everfold.open(url, settings={"memory": {"system": "structured"}}) as engine:
        session = await engine.session(user="ada", agent="helper")
        await session.append(user("Remember: I row."))
        memory = await engine.memory(user="ada", agent="helper")
        with pytest.raises(InvalidInputError, match="UTC"):
            await CALLS[name](engine, session, memory, at)
        assert len(await memory.items()) == 1
        assert (await session.inspect.state()).last_seq == 1
