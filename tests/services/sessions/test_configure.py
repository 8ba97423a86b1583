"""What a session holds, changed in the middle of its log."""

import asyncio

import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings
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
