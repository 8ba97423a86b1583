"""What a session holds, changed in the middle of its log."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from everfold import Everfold, Session, Window
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio


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
