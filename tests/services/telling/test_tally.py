"""The tally: what an engine counts, and when it is stored."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import everfold
from everfold.adapters.transcripts import parse_transcript
from everfold.bootstrap import open_store
from everfold.core.observation.activity import Activity
from everfold.errors import StoreUnavailableError
from everfold.services.telling.tally import Tally
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import FakeClock

pytestmark = pytest.mark.anyio
LONG_AGO = datetime(1971, 1, 1, tzinfo=UTC).date()
SETTINGS = {"compaction": {"synchronous": True}}


async def test_turns_are_counted_and_stored_at_the_end(tmp_path: Path) -> None:
    """After an engine closes, the store has the messages, requests and compactions of its sessions."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with everfold.open(url, settings=SETTINGS) as engine:
        session = await engine.session(limit=2000)
        for number in range(40):
            await session.append(user(f"Berth {number} has {number * 7} rings. " * 8))
            await session.window()
            await session.window()
            await session.window(preview=True)
            await session.append(assistant("Noted."))
        compactions = await session.inspect.compactions()
    store = await open_store(url)
    total = await store.sum_activity()
    await store.close()
    assert (total.messages_count, total.requests_count) == (80, 40)
    assert total.compactions_count == len(compactions) > 0
    assert total.folded_count > 0
    assert total.whole_tokens > total.sent_tokens > total.sent_cached_tokens > 0


async def test_what_is_read_has_what_was_just_counted() -> None:
    """The figures of a day have the messages of this process at once, and nothing twice."""
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        for count in (1, 2):
            await session.append(user("Berth."))
            days = await engine.admin.list_activity(since=LONG_AGO)
            assert [one.activity.messages_count for one in days] == [count]
            assert await engine.admin.sum_activity() == days[0].activity


async def test_an_import_is_counted() -> None:
    """Messages of an import are in the figures; no request was sent for them."""
    line = b'{"messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]}'
    async with everfold.open("memory://") as engine:
        async for _ in engine.import_transcript(parse_transcript(line, name="talk")):
            pass
        days = await engine.admin.list_activity(since=LONG_AGO)
    assert [(one.activity.messages_count, one.activity.requests_count) for one in days] == [(2, 0)]


class _Failing:
    """A store that takes nothing, until it does."""

    def __init__(self) -> None:
        self.fails = True
        self.taken: list[Activity] = []

    async def add_activity(self, day: object, activity: Activity) -> None:  # noqa: ARG002 - of the port
        if self.fails:
            raise StoreUnavailableError("the store is locked")
        self.taken.append(activity)


async def test_counts_outlive_a_store_that_fails() -> None:
    """What a store did not take is counted with what comes after, and stored once."""
    tally, store, clock = Tally(), _Failing(), FakeClock()
    tally.count(Activity(messages_count=2))
    with pytest.raises(StoreUnavailableError):
        await tally.keep(store, clock)  # type: ignore[arg-type]  # one method of the port
    store.fails = False
    tally.count(Activity(messages_count=1))
    await tally.keep(store, clock)  # type: ignore[arg-type]
    await tally.keep(store, clock)  # type: ignore[arg-type]
    assert store.taken == [Activity(messages_count=3)]
