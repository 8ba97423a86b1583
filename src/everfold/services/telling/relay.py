"""Relay: what this process does is told at the others over the same store, and what they do is told here.

What was done since the last time is told at once, at most ten times a second and never within a turn. Here it reaches
those that follow changes, which are the streams of people: a metric counts what its own process did. With the events go
the requests of each API key, so that a rate holds over all processes, word that the shared settings were changed, and
which answers are to stop.

What a process did in the last tenth of a second before it was killed is told nowhere; the store has it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from everfold.core.access.api_keys import ApiKeyId
from everfold.core.observation.events import Event, EventsDropped
from everfold.core.observation.telling import event_to_bytes, find_event
from everfold.errors import StoreError
from everfold.ports.dispatch import OnError
from everfold.ports.replicas import Replicas
from everfold.services.telling.feed import Feed

TELL_SECS: Final = 0.1
"""How often is told what was done. Source: docs/adr/0039; one notification of many is as good as one of each."""

HEAR_SECS: Final = 5.0
"""How long one question to the store may wait for an answer."""

LOST_SECS: Final = 1.0
"""How long until a store that does not serve is asked again."""

REQUESTS: Final = "requests"
SETTINGS_CHANGED: Final = "settings_changed"
STOP: Final = "stop"


class Rates(Protocol):
    """What holds API keys to their rate."""

    def collect(self) -> dict[ApiKeyId, int]:
        """How many requests of each key have passed here since the last call."""
        ...

    def spend(self, key_id: ApiKeyId, count: int) -> None:
        """Take so many passes from a key that it has had elsewhere."""
        ...


class Relay:
    """The telling of one process.

    Args:
        feed: Of its engine.
        replicas: The others.
        limiter: Holds API keys to their rate; None where there is no bound.
        take_settings: Has this process go by the shared settings as they are now; does nothing where they are the same.
        stop: Stops the answer that has this holder's lease, where this process gives it.
        on_error: Told of settings that cannot be taken, when that begins and when the reason changes.
    """

    def __init__(
        self,
        feed: Feed,
        replicas: Replicas,
        *,
        limiter: Rates | None,
        take_settings: Callable[[], Awaitable[None]],
        stop: Callable[[str], object],
        on_error: OnError,
    ) -> None:
        self._feed = feed
        self._replicas = replicas
        self._limiter = limiter
        self._take_settings = take_settings
        self._stop = stop
        self._on_error = on_error
        self._refused = ""
        self._looks_at = 0.0
        self._own = feed.subscribe(changes=True)

    async def run(self) -> None:
        """Tell and hear until cancelled."""
        await asyncio.gather(self._tell_forever(), self._hear_forever())

    async def tell_settings(self) -> None:
        """Have all others read the shared settings."""
        await self._replicas.tell([_write(SETTINGS_CHANGED)])

    async def tell_stop(self, holder: str) -> None:
        """Have the process stop that gives the answer of a lease's holder. A later answer has another holder."""
        await self._replicas.tell([_write(STOP, holder=holder)])

    async def _tell_forever(self) -> None:
        dropped_count = 0
        while True:
            await asyncio.sleep(TELL_SECS)
            told = [event_to_bytes(event) for event in self._take_own(dropped_count)]
            counts = {} if self._limiter is None else self._limiter.collect()
            if counts:
                told.append(_write(REQUESTS, counts=counts))
            if told:
                try:
                    await self._replicas.tell(told)
                    dropped_count = 0
                except StoreError:
                    dropped_count += len(told)
                    await asyncio.sleep(LOST_SECS)

    def _take_own(self, dropped_count: int) -> list[Event]:
        """What was done since the last time; first, how much of it could not be told."""
        events: list[Event] = [EventsDropped(dropped_count=dropped_count)] if dropped_count else []
        while (event := self._own.take_waiting()) is not None:
            events.append(event)
        return events

    async def _hear_forever(self) -> None:
        now = asyncio.get_running_loop().time
        while True:
            try:
                contents = await self._replicas.hear(wait_secs=HEAR_SECS)
            except StoreError:
                await asyncio.sleep(LOST_SECS)
                self._looks_at = 0.0  # what was told meanwhile may be lost
                continue
            for content in contents:
                await self._hear(json.loads(content))
            if now() >= self._looks_at:
                await self.look_at_settings()
                self._looks_at = now() + HEAR_SECS

    async def _hear(self, value: Mapping[str, object]) -> None:
        match value:
            case {"kind": "requests", "counts": dict(counts)}:
                if self._limiter is not None:
                    for key_id, count in counts.items():
                        self._limiter.spend(ApiKeyId(key_id), count)
            case {"kind": "settings_changed"}:
                self._looks_at = 0.0
            case {"kind": "stop", "holder": str(holder)}:
                self._stop(holder)
            case _:
                event = find_event(value)
                if event is not None:
                    self._feed.take_other(event, besides=self._own)

    async def look_at_settings(self) -> None:
        """Go by the shared settings, also where word of a change was lost. What cannot be taken is looked at again."""
        try:
            await self._take_settings()
        except Exception as error:  # noqa: BLE001 - a task's outermost frame: told, and looked at again
            if str(error) != self._refused:
                self._on_error("shared settings", error)
            self._refused = str(error)
        else:
            self._refused = ""


def _write(kind: str, **fields: object) -> bytes:
    return json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode()
