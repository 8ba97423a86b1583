"""Feed: tell everybody who listens what the engine does, and hold nobody up.

A subscription has a queue of its own that forgets its oldest happenings when nobody takes them, and says how many. The
feed knows its subscriptions weakly: one that is no longer held by who asked for it is gone. Everything here belongs to
one event loop.
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from weakref import ref

from anyio import Event

from everfold.core.happenings import Change, Happening, HappeningsDropped
from everfold.core.sessions import SessionId
from everfold.ports.feed import Sink

MOST_WAITING = 1000
"""How many happenings wait for one subscriber; a compaction makes about five."""


class Subscription(AsyncIterator[Happening]):
    """Happenings as they come, for one reader. Ends when the engine closes, after what is still waiting."""

    def __init__(self, session_id: SessionId | None, *, most_waiting: int) -> None:
        self.session_id = session_id
        self._waiting: deque[Happening] = deque()
        self._most_waiting = most_waiting
        self._dropped_count = 0
        self._is_closed = False
        self._arrived: Event | None = None

    async def __anext__(self) -> Happening:
        while (happening := self.take_waiting()) is None:
            if self._is_closed:
                raise StopAsyncIteration
            self._arrived = Event()
            await self._arrived.wait()
        return happening

    def take_waiting(self) -> Happening | None:
        """The oldest happening that waits; None when none does. Before it comes word of those that were dropped."""
        if self._dropped_count:
            dropped = HappeningsDropped(dropped_count=self._dropped_count)
            self._dropped_count = 0
            return dropped
        return self._waiting.popleft() if self._waiting else None

    @property
    def is_closed(self) -> bool:
        """Nothing more will come."""
        return self._is_closed

    async def aclose(self) -> None:
        """Take no more, and forget what waits."""
        self._waiting.clear()
        self._dropped_count = 0
        self.end()

    def put(self, happening: Happening) -> None:
        """Add a happening; forgets the oldest one when the queue is full."""
        if len(self._waiting) >= self._most_waiting:
            self._waiting.popleft()
            self._dropped_count += 1
        self._waiting.append(happening)
        self._wake()

    def end(self) -> None:
        """Let the reader end after what waits."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()


class Feed:
    """What an engine tells while it works."""

    def __init__(self, sinks: Sequence[Sink] = (), *, most_waiting: int = MOST_WAITING) -> None:
        self._sinks = tuple(sinks)
        self._most_waiting = most_waiting
        self._subscriptions: list[ref[Subscription]] = []
        self._followers: list[ref[Subscription]] = []
        self._is_closed = False

    @property
    def is_heard(self) -> bool:
        """Somebody subscribed. What costs a query to tell is only told then."""
        return bool(self._subscriptions) and bool(self._listening())

    @property
    def is_followed(self) -> bool:
        """Somebody subscribed to changes too. What tells of a change is only made then."""
        return bool(self._followers) and bool(self._following())

    def publish(self, happening: Happening) -> None:
        """Tell a happening. Never waits; costs next to nothing where nobody listens."""
        for sink in self._sinks:
            sink.take(happening)
        if self._subscriptions:
            _put(self._listening(), happening)

    def tell_change(self, change: Change) -> None:
        """Tell what changed to those who follow it. It comes with every turn: no sink, and nobody else, is told."""
        if self._followers:
            _put(self._following(), change)

    def subscribe(self, session: SessionId | None = None, *, changes: bool = False) -> Subscription:
        """What happens from now on, all of it or what is about one session.

        Args:
            session: Only what is about this one.
            changes: With what changes in logs and memory.
        """
        subscription = Subscription(session, most_waiting=self._most_waiting)
        if self._is_closed:
            subscription.end()
            return subscription
        self._subscriptions.append(ref(subscription))
        if changes:
            self._followers.append(ref(subscription))
        return subscription

    def close(self) -> None:
        """End every subscription, once its reader has taken what waits."""
        self._is_closed = True
        for subscription in self._listening():
            subscription.end()
        self._subscriptions, self._followers = [], []

    def _listening(self) -> list[Subscription]:
        """The subscriptions that somebody still holds; forgets the others."""
        found = _list_held(self._subscriptions)
        if len(found) != len(self._subscriptions):
            self._subscriptions = [ref(subscription) for subscription in found]
        return found

    def _following(self) -> list[Subscription]:
        """Those of them that follow changes."""
        found = _list_held(self._followers)
        if len(found) != len(self._followers):
            self._followers = [ref(subscription) for subscription in found]
        return found


def _list_held(subscriptions: Sequence[ref[Subscription]]) -> list[Subscription]:
    return [subscription for it in subscriptions if (subscription := it()) and not subscription.is_closed]


def _put(subscriptions: Sequence[Subscription], happening: Happening) -> None:
    for subscription in subscriptions:
        if subscription.session_id is None or subscription.session_id == happening.session_id:
            subscription.put(happening)
