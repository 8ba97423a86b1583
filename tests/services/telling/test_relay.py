"""The relay of one process: what fails in it once does not end it."""

import asyncio
from collections.abc import Sequence

import pytest

from everfold.core.observation.events import EventsDropped
from everfold.core.observation.telling import event_to_bytes
from everfold.ports.replicas import SharedSettings
from everfold.services.telling import relay as relaying
from everfold.services.telling.feed import Feed
from everfold.services.telling.relay import Relay

pytestmark = pytest.mark.anyio


class EchoingReplicas:
    """Other processes of which each question brings one event."""

    async def tell(self, contents: Sequence[bytes]) -> None:
        """See the port."""

    async def hear(self, *, wait_secs: float) -> list[bytes]:
        """See the port."""
        await asyncio.sleep(wait_secs)
        return [event_to_bytes(EventsDropped(dropped_count=1))]

    async def read_settings(self) -> SharedSettings:
        """See the port."""
        return SharedSettings(version=0, content=b"")

    async def write_settings(self, content: bytes, *, expected_version: int) -> None:
        """See the port."""

    async def close(self) -> None:
        """See the port."""


async def test_the_relay_outlives_whatever_its_look_at_the_settings_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of a look that is none of ours is told once; events are heard, and the settings are looked at again."""
    monkeypatch.setattr(relaying, "HEAR_SECS", 0.0)
    looks = 0
    told: list[tuple[str, Exception]] = []
    looked = asyncio.Event()

    async def look() -> None:
        nonlocal looks
        looks += 1
        if looks <= 2:
            raise OSError("the disk is gone")
        looked.set()

    feed = Feed()
    heard = feed.subscribe(changes=True)
    relay = Relay(
        feed,
        EchoingReplicas(),
        limiter=None,
        take_settings=look,
        stop=lambda _: None,
        on_error=lambda name, error: told.append((name, error)),
    )
    running = asyncio.create_task(relay.run())
    try:
        await asyncio.wait_for(looked.wait(), 60)
    finally:
        running.cancel()
        await asyncio.wait([running])
    assert [(name, str(error)) for name, error in told] == [("shared settings", "the disk is gone")]
    assert heard.take_waiting() == EventsDropped(dropped_count=1)
