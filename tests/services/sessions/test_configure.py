"""What a session holds, changed in the middle of its log."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import pytest

import everfold
from everfold import Everfold, Session, Window
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings
from everfold.core.log.prompts import Prompt
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


class _Stopped(SqliteStore):
    """A store whose caller is stopped directly after settings were written."""

    async def change_settings(self, *given: object, **more: object) -> None:
        """See the port."""
        await super().change_settings(*given, **more)  # type: ignore[arg-type]  # as they are
        raise asyncio.CancelledError


async def test_a_change_that_is_stopped_behind_its_write_is_reported() -> None:
    """A stored change of the system prompt has its cache break, wherever its caller was stopped."""
    store = _Stopped(IN_MEMORY)
    engine = make_engine(store, Settings(), clock=FakeClock(), ids=CountingIds())
    session = await engine.session(system="Be brief.")
    await session.append(talk(2))
    await session.window()
    with pytest.raises(asyncio.CancelledError):
        await session.configure(system="Be thorough.")
    window = await (await engine.session(id=session.id)).window()
    assert window.prompt.system == "Be thorough."
    assert [one.reason for one in window.report.cache_breaks] == ["prompt"]
    await engine.close()


HUGE = 10**400
Call = Callable[[Everfold, Session, Window], Awaitable[object]]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda engine, _session, _window: engine.session(user="ben", limit=HUGE), id="open"),
        pytest.param(lambda _engine, session, _window: session.configure(limit=HUGE), id="configure"),
        pytest.param(lambda _engine, session, _window: session.window(limit=HUGE), id="window"),
        pytest.param(
            lambda _engine, session, window: session.observe_usage(window, counted_tokens=HUGE), id="observe_usage"
        ),
        pytest.param(
            lambda _engine, session, window: session.observe_context_error(window, counted_tokens=HUGE),
            id="observe_context_error",
        ),
    ],
)
async def test_a_number_that_no_model_counts_to_is_refused(engine: Everfold, call: Call) -> None:
    """A limit or count above what every reader of JSON takes is refused in one sentence, and changes nothing."""
    session = await engine.session()
    await session.append(talk(40))
    window, before = await session.window(), await session.inspect.state()
    with pytest.raises(InvalidInputError, match="9,007,199,254,740,992"):
        await call(engine, session, window)
    assert await session.inspect.state() == before
    assert (await session.window()).report.limit_tokens == window.report.limit_tokens


class _Overtaken(SqliteStore):
    """A store in which something happens directly before the next change of settings is written."""

    before: Callable[[], Awaitable[object]] | None = None

    async def change_settings(self, *given: object, **more: object) -> None:
        """See the port."""
        before, self.before = self.before, None
        if before is not None:
            await before()
        await super().change_settings(*given, **more)  # type: ignore[arg-type]  # as they are


@pytest.mark.parametrize("how", ["configured", "opened", "opened by id"])
async def test_a_change_is_made_over_another_of_the_same_moment(how: str) -> None:
    """Of two changes at once each stands in the fields that only it has; where both have one, the later one's stands."""
    store = _Overtaken(IN_MEMORY)
    engine = make_engine(store, Settings(), clock=FakeClock(), ids=CountingIds())
    session = await engine.session(system="Be brief.")
    await session.append(talk(2))
    other = await engine.session(id=session.id)
    store.before = partial(other.configure, limit=9_000, tools=[])
    if how == "configured":
        assert await session.configure(system="Be thorough.", tools=[TOOL])
    elif how == "opened":
        session = await engine.session(system="Be thorough.", tools=[TOOL])
    else:
        session = await engine.session(id=session.id, system="Be thorough.", tools=[TOOL])
    held = (await engine.session(id=session.id)).settings
    assert (held.limit_tokens, held.prompt) == (9_000, Prompt(system="Be thorough.", tools=(TOOL,)))
    assert session.settings == held
    await engine.close()


async def test_a_change_that_does_not_fit_beside_another_is_refused() -> None:
    """A prompt that leaves no room in the limit that another handle has set meanwhile is refused, not stored."""
    store = _Overtaken(IN_MEMORY)
    engine = make_engine(store, Settings(), clock=FakeClock(), ids=CountingIds())
    session = await engine.session()
    await session.append(talk(2))
    store.before = partial((await engine.session(id=session.id)).configure, limit=2_000)
    with pytest.raises(BudgetUnsatisfiableError):
        await session.configure(system="Mind the berths. " * 1_000)
    assert (await engine.session(id=session.id)).settings.limit_tokens == 2_000
    await engine.close()


async def test_changes_from_two_engines_at_once(url: str, engine: Everfold) -> None:
    """Two servers over one store that change different fields of a session at once lose neither."""
    session = await engine.session()
    await session.append(talk(2))
    async with AsyncExitStack() as stack:
        second = engine if url == IN_MEMORY else await stack.enter_async_context(everfold.open(url))
        other = await second.session(id=session.id)
        for number in range(5):
            await asyncio.gather(session.configure(system=f"Be {number}."), other.configure(limit=9_000 + number))
            held = (await engine.session(id=session.id)).settings
            assert (held.prompt.system, held.limit_tokens) == (f"Be {number}.", 9_000 + number)
