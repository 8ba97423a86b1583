"""The feed: everything in its order, nothing held up, and nothing kept for who is gone."""

import gc
from collections.abc import AsyncIterator

import anyio
import pytest

import everfold
from everfold.core.observation.events import Event, EventsDropped, MessagesAppended, Recovered, SessionSwitched
from everfold.core.primitives.ids import SessionId
from everfold.services.telling.feed import Feed


def switched(number: int) -> SessionSwitched:
    """An event of the session with this number."""
    return SessionSwitched(session_id=SessionId(f"ses_{number}"), parent_id=None, previous_id=None, cause="open")


def appended(number: int) -> MessagesAppended:
    """A change of the session with this number."""
    return MessagesAppended(session_id=SessionId(f"ses_{number}"), first_seq=1, last_seq=1, messages_count=1)


async def take(events: AsyncIterator[Event], count: int) -> list[Event]:
    """The next events."""
    return [await anext(events) for _ in range(count)]


async def test_every_subscriber_gets_everything_in_order() -> None:
    """Each subscription has its own copy of all that happens after it was made."""
    feed = Feed()
    feed.take(switched(0))
    first = feed.subscribe()
    feed.take(switched(1))
    second = feed.subscribe()
    feed.take(switched(2))
    assert await take(first, 2) == [switched(1), switched(2)]
    assert await take(second, 1) == [switched(2)]


async def test_one_session() -> None:
    """A subscription to a session gets what is about it, and nothing that is about none."""
    feed = Feed()
    events = feed.subscribe(SessionId("ses_2"))
    for event in (switched(1), switched(2), Recovered(found_count=1, sessions_count=1), switched(2)):
        feed.take(event)
    feed.close()
    assert [it async for it in events] == [switched(2), switched(2)]


async def test_a_waiting_reader_is_woken() -> None:
    """A reader that waits gets what is published later, and ends when the feed closes."""
    feed, read = Feed(), list[Event]()

    async def reading() -> None:
        async for it in events:
            read.append(it)

    events = feed.subscribe()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reading)
        for number in range(3):
            await anyio.wait_all_tasks_blocked()
            assert len(read) == number
            feed.take(switched(number))
        await anyio.wait_all_tasks_blocked()
        feed.close()
    assert read == [switched(number) for number in range(3)]


async def test_a_slow_reader_loses_the_oldest_and_is_told() -> None:
    """A full queue forgets its oldest events; the reader is told how many, where they are missing."""
    feed = Feed(most_waiting=3)
    events = feed.subscribe()
    for number in range(10):
        feed.take(switched(number))
    assert await take(events, 4) == [EventsDropped(dropped_count=7), switched(7), switched(8), switched(9)]
    feed.take(switched(10))
    assert await take(events, 1) == [switched(10)]


async def test_closing_gives_what_waits() -> None:
    """What was published before the feed closed is still read; what comes after, and a later subscription, is empty."""
    feed = Feed()
    events = feed.subscribe()
    feed.take(switched(1))
    feed.close()
    feed.take(switched(2))
    assert [it async for it in events] == [switched(1)]
    assert [it async for it in feed.subscribe()] == []


async def test_a_subscription_can_be_closed() -> None:
    """Closing a subscription ends it at once, without what waits, and leaves the others."""
    feed = Feed()
    first, second = feed.subscribe(), feed.subscribe()
    feed.take(switched(1))
    await first.aclose()
    feed.take(switched(2))
    assert [it async for it in first] == []
    assert await take(second, 2) == [switched(1), switched(2)]


async def test_who_is_gone_is_forgotten() -> None:
    """A subscription that is not held any more, a loop that was left for example, costs nothing further."""
    feed = Feed()
    for _ in range(3):
        feed.take(switched(0))
        events = feed.subscribe()
        feed.take(switched(1))
        async for _ in events:
            break
    assert feed.hears(SessionSwitched)
    del events
    gc.collect()
    assert not feed.hears(SessionSwitched)


async def test_changes_go_to_who_follows_them() -> None:
    """A change is given to followers, of one session where they say so, in its place among the rest."""
    feed = Feed()
    plain = feed.subscribe()
    assert not feed.hears(MessagesAppended)
    every, one = feed.subscribe(changes=True), feed.subscribe(SessionId("ses_2"), changes=True)
    assert feed.hears(MessagesAppended)
    for event in (switched(1), appended(1), appended(2)):
        feed.take(event)
    feed.close()
    assert [it async for it in plain] == [switched(1)]
    assert [it async for it in every] == [switched(1), appended(1), appended(2)]
    assert [it async for it in one] == [appended(2)]
    assert not feed.hears(MessagesAppended)


async def test_everybody_is_told_of_what_another_process_could_not_tell() -> None:
    """What was lost may have been about any session: those that follow one are told as well, and the teller is not."""
    feed = Feed()
    own, every, one = (feed.subscribe(session, changes=True) for session in (None, None, SessionId("ses_2")))
    feed.take_other(EventsDropped(dropped_count=3), besides=own)
    feed.take_other(appended(1), besides=own)
    feed.close()
    assert [it async for it in own] == []
    assert [it async for it in every] == [EventsDropped(dropped_count=3), appended(1)]
    assert [it async for it in one] == [EventsDropped(dropped_count=3)]


async def test_a_follower_who_is_gone_is_forgotten() -> None:
    """Nothing more is told of changes once every follower was closed, or is no longer held."""
    feed = Feed()
    first, second = feed.subscribe(changes=True), feed.subscribe(changes=True)
    await first.aclose()
    assert feed.hears(MessagesAppended)
    del second
    gc.collect()
    assert not feed.hears(MessagesAppended)


@pytest.mark.parametrize("session", [None, "ses_of_nobody"])
async def test_the_engine_ends_its_events(url: str, session: str | None) -> None:
    """Events end when the engine closes, for a reader that waits as for one that comes later."""
    read: list[Event] = []

    async def reading() -> None:
        read.extend([it async for it in engine.events(session=session)])

    async with anyio.create_task_group() as tasks:
        async with everfold.open(url) as engine:
            tasks.start_soon(reading)
            await anyio.wait_all_tasks_blocked()
            await engine.session()
        assert [it async for it in engine.events()] == []
    assert len(read) == (1 if session is None else 0)
