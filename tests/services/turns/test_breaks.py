"""Every break of the request's prefix is reported once, with its reason and cost (G5), and what an error teaches."""

import asyncio

import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import CompactionSettings, Settings
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import StoreUnavailableError
from everfold.session import Session
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.moves_prefix


def reasons(window: Window) -> list[str]:
    """The reasons of the breaks that a window reports."""
    return [one.reason for one in window.report.cache_breaks]


async def fill(session: Session, turns: int) -> None:
    """A conversation of some length."""
    for number in range(turns):
        await session.append({"role": "user", "content": f"Question {number} about the harbour and its boats?"})
        await session.append({"role": "assistant", "content": f"Answer {number}. " + "The tide decides. " * 30})


async def test_a_compaction_is_reported_once_with_its_cost(engine: Everfold) -> None:
    """The window that compacted names the compaction and what must be read again; the next one reports nothing."""
    session = await engine.session(limit=3_000)
    await fill(session, 40)
    window = await session.window()
    compactions = await session.inspect.compactions()
    assert reasons(window) == [f"compaction: {compaction.plan.trigger}" for compaction in compactions][-32:]
    assert all(0 < one.resent_tokens <= window.report.budget_tokens for one in window.report.cache_breaks)
    assert (await session.window()).report.cache_breaks == ()


async def test_growing_at_the_end_is_no_break(engine: Everfold) -> None:
    """Windows that only grow report no break, and neither does the very first one."""
    session = await engine.session()
    for _ in range(3):
        await fill(session, 1)
        assert (await session.window()).report.cache_breaks == ()


async def test_a_changed_prompt_is_a_break(engine: Everfold) -> None:
    """A new system prompt or tool set costs the whole window, once; the same prompt again costs nothing."""
    session = await engine.session(system="Be brief.")
    await fill(session, 2)
    await session.window()
    again = await engine.session(system="Be kind.")
    window = await again.window()
    assert [(one.reason, one.resent_tokens) for one in window.report.cache_breaks] == [("prompt", window.report.tokens)]
    same = await engine.session(system="Be kind.")
    assert (await same.window()).report.cache_breaks == ()


async def test_an_erase_and_a_switch_are_breaks(engine: Everfold) -> None:
    """An erase and the start of a following session are reported by the next window, a preview leaves them to it."""
    session = await engine.session()
    await fill(session, 2)
    await session.erase(1)
    assert reasons(await session.window(preview=True)) == ["erase"]
    assert reasons(await session.window()) == ["erase"]
    following = await session.new()
    await following.append({"role": "user", "content": "Hello again."})
    assert reasons(await following.window()) == ["session"]
    branch = await session.branch(2)
    assert reasons(await branch.window()) == ["session"]


class _Stopping(SqliteStore):
    """A store that stops what has written a state."""

    stop: BaseException

    async def write_state(self, *given: object, **more: object) -> None:
        """See the port."""
        await super().write_state(*given, **more)  # type: ignore[arg-type]  # as they are
        raise self.stop


@pytest.mark.parametrize("stop", [asyncio.CancelledError(), StoreUnavailableError("the disk is full")], ids=repr)
async def test_a_window_waits_for_no_note_of_its_breaks(stop: BaseException) -> None:
    """Where callers do the work, too, a window is given with its breaks before it is stored that it has reported them."""
    store = _Stopping(IN_MEMORY)
    settings = Settings(compaction=CompactionSettings(synchronous=True))
    session = await make_engine(store, settings, clock=FakeClock(), ids=CountingIds()).session()
    await fill(session, 2)
    await session.erase(1)
    store.stop = stop
    assert reasons(await session.window()) == ["erase"]
    assert reasons(await session.window()) == []
    await store.close()


class _Cancelling(SqliteStore):
    """A store that cancels a task just before a state is written, or just after it."""

    caller: asyncio.Task[Window] | None = None
    is_after = False

    async def write_state(self, *given: object, **more: object) -> None:
        """See the port."""
        if self.is_after:
            await super().write_state(*given, **more)  # type: ignore[arg-type]  # as they are
        if self.caller is not None:
            self.caller.cancel()
        if not self.is_after:
            await super().write_state(*given, **more)  # type: ignore[arg-type]  # as they are


async def stop_at_last_write(store: _Cancelling, session: Session) -> None:
    """A window whose caller is cancelled while it is stored what the window has reported."""
    store.caller = asyncio.create_task(session.window())
    with pytest.raises(asyncio.CancelledError):
        await store.caller
    store.caller = None


@pytest.mark.parametrize("is_after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("is_same", [False, True], ids=["another handle", "same handle"])
async def test_a_stopped_window_leaves_its_breaks_to_the_next(*, is_same: bool, is_after: bool) -> None:
    """An inline window whose caller is cancelled at its last write has reported nothing: the next one that is given does, once."""
    store = _Cancelling(IN_MEMORY)
    store.is_after = is_after
    settings = Settings(compaction=CompactionSettings(synchronous=True))
    engine = make_engine(store, settings, clock=FakeClock(), ids=CountingIds())
    session = await engine.session(system="Be brief.")
    await fill(session, 2)
    await session.erase(1)
    await stop_at_last_write(store, session)
    await session.configure(system="Be thorough.")
    await stop_at_last_write(store, session)
    if not is_same:
        session = await engine.session(id=session.id)
    assert reasons(await session.window(preview=True)) == ["erase", "prompt"]
    assert reasons(await session.window()) == ["erase", "prompt"]
    assert reasons(await session.window()) == []
    await session.append({"role": "user", "content": "Thanks."})
    assert reasons(await (await engine.session(id=session.id)).window()) == []
    await engine.close()


async def test_a_refused_request_makes_the_next_window_smaller(engine: Everfold) -> None:
    """After a provider's context-length error the budget shrinks, for this session and a new one, not after a reset."""
    session = await engine.session(limit=3_000)
    await fill(session, 40)
    before = await session.window()
    await session.observe_context_error(before, counted_tokens=int(before.report.tokens * 1.4))
    after = await session.window()
    assert after.estimate.budget_tokens < before.estimate.budget_tokens
    assert after.report.budget_tokens == before.report.budget_tokens
    following = await session.new()
    assert (await following.inspect.state()).calibration == (await session.inspect.state()).calibration
    assert (await (await following.new(keep_calibration=False)).inspect.state()).calibration.factor == 1.0
