"""Feed: the listener behind `engine.events()`, with one queue for each subscriber.

A full queue drops its oldest events and counts them, so that a slow reader delays no turn. The feed refers to its
subscriptions weakly: a loop that was left needs no closing. Everything here belongs to one event loop.
"""

from collections import deque
from collections.abc import AsyncIterator
from weakref import WeakSet

import anyio

from everfold.core.observation.events import CHANGES, Event, EventsDropped
from everfold.core.primitives.ids import SessionId

MOST_WAITING = 1000
"""How many events wait for one subscriber; a compaction makes about five."""


class Subscription(AsyncIterator[Event]):
    """Events as they come, for one reader. Ends when the engine closes, after what is still waiting."""

    def __init__(self, session_id: SessionId | None, *, most_waiting: int) -> None:
        self.session_id = session_id
        self._waiting: deque[Event] = deque()
        self._most_waiting = most_waiting
        self._dropped_count = 0
        self._is_closed = False
        self._arrived: anyio.Event | None = None

    async def __anext__(self) -> Event:
        while (event := self.take_waiting()) is None:
            if self._is_closed:
                raise StopAsyncIteration
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return event

    def take_waiting(self) -> Event | None:
        """The oldest event that waits; None when none does. `EventsDropped` comes first when some were dropped."""
        if self._dropped_count:
            dropped = EventsDropped(dropped_count=self._dropped_count)
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

    def put(self, event: Event) -> None:
        """Add an event; drops the oldest one when the queue is full."""
        if len(self._waiting) >= self._most_waiting:
            self._waiting.popleft()
            self._dropped_count += 1
        self._waiting.append(event)
        self._wake()

    def end(self) -> None:
        """Let the reader end after what waits."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()


class Feed:
    """The subscriptions of one engine: those to everything but changes, and those that follow changes too."""

    def __init__(self, *, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._subscriptions: WeakSet[Subscription] = WeakSet()
        self._followers: WeakSet[Subscription] = WeakSet()
        self._is_closed = False

    def hears(self, kind: type[Event]) -> bool:
        """Whether a subscription is open that takes events of this class."""
        return bool(self.list_open(kind))

    def take(self, event: Event) -> None:
        """Put an event into the queue of each subscription that is about everything, or about its session."""
        for subscription in self.list_open(type(event)):
            if subscription.session_id in {None, event.session_id}:
                subscription.put(event)

    def take_other(self, event: Event, *, besides: Subscription) -> None:
        """Give what another process did to those that follow changes, but for one of them; all are told of what was lost."""
        is_for_all = isinstance(event, EventsDropped)
        for subscription in self._followers:
            is_about = is_for_all or subscription.session_id in {None, event.session_id}
            if subscription is not besides and is_about:
                subscription.put(event)

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
        self._subscriptions.add(subscription)
        if changes:
            self._followers.add(subscription)
        return subscription

    def close(self) -> None:
        """End every subscription, once its reader has taken what waits."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.end()

    def list_open(self, kind: type[Event]) -> list[Subscription]:
        """The subscriptions that take events of this class and are still read, in no order."""
        among = self._followers if issubclass(kind, CHANGES) else self._subscriptions
        return [subscription for subscription in among if not subscription.is_closed]
