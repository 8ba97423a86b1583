"""What is decided anew because other writers were first ends: with the change, or with an error that says so."""

import itertools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest

import everfold
from everfold import Everfold, Session
from everfold.adapters.sqlite.store import SqliteStore
from everfold.config import Overrides
from everfold.errors import ConflictError
from everfold.services.telling import tries
from everfold.testing.kit.builders import assistant, user

pytestmark = pytest.mark.anyio
SETTINGS: Overrides = {"memory": {"system": "structured"}, "compaction": {"synchronous": True}}
SAFETY_SECS = 20

Call = Callable[[Everfold, Session], Awaitable[object]]


async def observe(_: Everfold, session: Session) -> object:
    """Tell what a provider counted."""
    window = await session.window()
    return await session.observe_usage(window, counted_tokens=5_000)


async def show_memory(engine: Everfold, _: Session) -> object:
    """A first window, which stores a snapshot of memory."""
    session = await engine.session(user="ada", agent="helper", new=True)
    await session.append(user("Good morning."))
    return await session.window()


async def cancel(_: Everfold, session: Session) -> object:
    """Cancel a pending compaction."""
    await session.append([user("Where is the boat?"), assistant("At the pier.")] * 8)
    await session.compact(keep_recent=8)
    [done] = await session.inspect.compactions()
    await session.append([user("And the oars?"), assistant("In the shed.")] * 8)
    committer = session._background.worker.compactor(session._live).committer
    pending = await committer.begin(done.plan, digest="pending", extraction="off")
    return await session.inspect.cancel(pending.id)


CALLS: dict[str, tuple[str, Call]] = {
    "add a user": ("add_user", lambda engine, _: engine.add_user("ben")),
    "a user by name": ("add_user", lambda engine, _: engine.session(user="ben")),
    "change a user": ("change_user", lambda engine, _: engine.change_user("ada", name="Ada Lovelace")),
    "open a session": ("create_session", lambda engine, _: engine.session(user="ada", agent="clerk")),
    "a session beside": ("create_session", lambda engine, _: engine.session(user="ada", agent="clerk", beside=True)),
    "branch": ("create_session", lambda _, session: session.branch(2)),
    "another prompt": (
        "change_settings",
        lambda engine, _: engine.session(user="ada", agent="helper", system="Be brief."),
    ),
    "usage": ("write_state", observe),
    "cancel a compaction": ("end_compaction", cancel),
    "a snapshot": ("write_session_memory", show_memory),
}


@contextmanager
def losing(monkeypatch: pytest.MonkeyPatch, method: str, *, times: int | None) -> Iterator[list[int]]:
    """A store to whose writers another one is always first, or so many times."""
    whole, lost = getattr(SqliteStore, method), [0]

    async def lose(self: SqliteStore, *given: object, **more: object) -> object:
        if times is None or lost[0] < times:
            lost[0] += 1
            raise ConflictError("another writer was first")
        return await whole(self, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, method, lose)
        yield lost


async def prepare(engine: Everfold) -> Session:
    """A session with a turn."""
    session = await engine.session(user="ada", agent="helper")
    await session.append([user("Remember: the tide is at nine."), assistant("Noted.")])
    return session


def few_tries() -> tries.Patience:
    """Patience for a handful of tries, whatever the machine does meanwhile: each look at the time takes a second."""
    return tries.Patience(deadline_secs=5, jitter=lambda: 0.0, read_secs=map(float, itertools.count()).__next__)


@pytest.mark.parametrize("name", list(CALLS))
async def test_writers_that_never_win_are_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others are first at every try, the tries end in a conflict that says what it was about."""
    monkeypatch.setattr(tries, "PATIENCE", few_tries())
    method, call = CALLS[name]
    async with everfold.open("memory://", settings=SETTINGS) as engine:
        session = await prepare(engine)
        with (
            anyio.fail_after(SAFETY_SECS),
            losing(monkeypatch, method, times=None) as lost,
            pytest.raises(ConflictError, match="nothing was written, try again"),
        ):
            await call(engine, session)
        assert lost[0] > 1


@pytest.mark.parametrize("name", list(CALLS))
async def test_a_lost_race_is_run_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others are first a few times, the change is made all the same."""
    method, call = CALLS[name]
    async with everfold.open("memory://", settings=SETTINGS) as engine:
        session = await prepare(engine)
        with losing(monkeypatch, method, times=3) as lost:
            await call(engine, session)
        assert lost == [3]


async def test_users_of_the_settings_that_never_win_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening an engine whose users cannot be stored ends, too."""
    monkeypatch.setattr(tries, "PATIENCE", few_tries())
    settings: Overrides = {"users": [{"name": "Ada"}]}  # type: ignore[dict-item]
    with (
        anyio.fail_after(SAFETY_SECS),
        losing(monkeypatch, "change_user", times=None),
        losing(monkeypatch, "add_user", times=None),
        pytest.raises(ConflictError, match="try again"),
    ):
        async with everfold.open("memory://", settings=settings):
            pass
