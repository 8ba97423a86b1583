"""What the routes work on, and where they find it."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import cast

from fastapi import Request

from everfold.agents.hands import Hands
from everfold.config import Settings
from everfold.core.access import AccessKey
from everfold.engine import Everfold
from everfold.ports.system import Clock, Ids
from everfold.server.handles import Handles


@dataclass(slots=True, kw_only=True)
class Runtime:
    """The engine that a server serves, and what it runs on.

    Attributes:
        engine: Over the store.
        hands: The hands of the settings.
        settings: As they are now; a change of an agent replaces them.
        clock: Tells the time.
        ids: Makes ids.
        handles: Sessions that were opened for turns.
        started_at: When the server began.
        config: The settings file, where one was named.
        stopping: Set once the server is to end: what streams ends then.
    """

    engine: Everfold
    hands: Hands
    settings: Settings
    clock: Clock
    ids: Ids
    started_at: datetime
    config: Path | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    handles: Handles = field(default_factory=Handles)

    @property
    def is_https(self) -> bool:
        """Whether people reach it by https."""
        return (self.settings.server.public_url or "").startswith("https://")

    async def identify(self, secret: str) -> AccessKey:
        """The key with a secret.

        Raises:
            UnauthenticatedError: there is none that holds.
            RateLimitedError: it asks too often.
        """
        return await self.engine.keys.check(secret)


def runtime_of(request: Request) -> Runtime:
    """What the app of a request works on."""
    return cast("Runtime", request.app.state.runtime)
