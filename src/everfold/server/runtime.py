"""What the routes work on, and where they find it."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, cast

from anyio import to_thread
from fastapi import Request

from everfold.agents.hands import Hands
from everfold.bootstrap import take_settings
from everfold.config import Overrides, Settings
from everfold.core.access.api_keys import ApiKey
from everfold.core.access.limits import RateLimit
from everfold.engine import Everfold
from everfold.errors import ConflictError, InvalidInputError, StoreError, UnauthenticatedError
from everfold.ports.replicas import Replicas, SharedSettings
from everfold.ports.system import Clock, Ids
from everfold.ports.tracing import NO_TRACER, Tracer
from everfold.server.agents_file import change_agent, read_changed
from everfold.server.chats import Chats
from everfold.server.guesses import Guesses
from everfold.server.handles import Handles
from everfold.server.imports import Imports
from everfold.server.metrics import Metrics
from everfold.server.owners import Owners
from everfold.server.stream_counts import StreamCounts
from everfold.services.access.limit import Limiter
from everfold.services.telling.relay import Relay
from everfold.services.telling.tries import Tries

_BURSTS: Final = 6
"""A key may ask at once what it may ask in this part of a minute. Source: own choice, ten seconds' worth."""


@dataclass(slots=True, kw_only=True)
class Runtime:
    """The engine that a server serves, and what it runs on.

    Attributes:
        engine: Over the store.
        hands: The hands of the settings.
        settings: As they are now; a change of an agent replaces them.
        clock: Tells the time.
        ids: Makes ids.
        started_at: When the server began.
        url: Of the store.
        config: The settings file, where one was named.
        overrides: What outranks it.
        changing: Held while the settings file is changed.
        metrics: The figures that a monitor scrapes.
        tracer: Takes a span for each request.
        replicas: The other servers and workers over the same store; None where there can be none.
        relay: Tells them what is done here, and here what they do.
        is_worker: Whether this process is there to do jobs.
        shared_version: Of the shared settings that this one goes by; 0 for none.
        limiter: Holds keys to their rate; None where there is no bound.
        guesses: Holds those who try keys to theirs; None where there is no bound.
        streams: How many event streams each key has open.
        stopping: Set once the server is to end: what streams ends then.
        handles: Sessions that were opened for turns.
        owners: Whose sessions are.
        chats: Answers that are on their way.
        imports: Imports that run.
    """

    engine: Everfold
    hands: Hands
    settings: Settings
    clock: Clock
    ids: Ids
    started_at: datetime
    url: str
    config: Path | None = None
    overrides: Overrides | None = None
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    metrics: Metrics = field(default_factory=Metrics)
    tracer: Tracer = NO_TRACER
    replicas: Replicas | None = None
    relay: Relay | None = None
    shared_version: int = 0
    is_worker: bool = False
    limiter: Limiter | None = field(init=False)
    guesses: Guesses | None = field(init=False)
    streams: StreamCounts = field(init=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    handles: Handles = field(default_factory=Handles)
    owners: Owners = field(default_factory=Owners)
    chats: Chats = field(init=False)
    imports: Imports = field(default_factory=Imports)

    def __post_init__(self) -> None:
        self.chats = Chats(stopping=self.stopping)
        server = self.settings.server
        self.streams = StreamCounts(most_count=server.streams_per_api_key)
        limit = _limit_to(server.requests_per_minute, bursts=_BURSTS)
        self.limiter = None if limit is None else Limiter(clock=self.clock, limit=limit)
        limit = _limit_to(server.failed_api_keys_per_minute)
        self.guesses = None if limit is None else Guesses(clock=self.clock, limit=limit)

    @property
    def is_https(self) -> bool:
        """Whether people reach it by https."""
        return (self.settings.server.public_url or "").startswith("https://")

    @property
    def can_work(self) -> bool:
        """Whether it does what it is there for, as far as the queue of jobs goes."""
        return not self.is_worker or self.engine.admin.is_working

    async def change_agent(self, agent: str, changes: Mapping[str, object]) -> None:
        """Have an agent be otherwise from now on, and keep it so. Errors as in `agents_file`.

        It is kept in the settings file, or where several servers share a store, in the store: all of them go by it then.
        """
        async with self.changing:
            if self.replicas is None:
                settings = await to_thread.run_sync(change_agent, self.config, agent, changes, self.overrides)
            else:
                settings = await self._change_for_all(self.replicas, agent, changes)
            self._go_by(settings)
        if self.relay is not None:
            with suppress(StoreError):  # it is changed, and the others look by themselves
                await self.relay.tell_settings()

    async def _change_for_all(self, replicas: Replicas, agent: str, changes: Mapping[str, object]) -> Settings:
        tries = Tries("the agents that the servers of this store share")
        while True:
            await tries.begin()
            with suppress(ConflictError):  # another server changed an agent first
                return await self._try_to_change(replicas, agent, changes)

    async def _try_to_change(self, replicas: Replicas, agent: str, changes: Mapping[str, object]) -> Settings:
        shared = await replicas.read_settings()
        agents = _read_agents(shared)
        agents[agent] = {**agents.get(agent, {}), **changes}
        read = partial(read_changed, self.config, agents, self.overrides, changed=(agent, changes))
        settings = await to_thread.run_sync(read)
        await replicas.write_settings(json.dumps(agents).encode(), expected_version=shared.version)
        self.shared_version = shared.version + 1
        return settings

    async def take_shared(self) -> None:
        """Go by what servers over the same store have changed of agents, where it is new.

        Raises:
            InvalidInputError: it does not fit the settings file of this one, which holds on.
        """
        if self.replicas is None:
            return
        async with self.changing:
            shared = await self.replicas.read_settings()
            if shared.version != self.shared_version:
                agents = _read_agents(shared)
                try:
                    settings = await to_thread.run_sync(read_changed, self.config, agents, self.overrides)
                except InvalidInputError as error:
                    raise InvalidInputError(
                        f"{', '.join(sorted(agents))}: what was changed of these agents at a server, and is kept in the store, "
                        f"does not fit the settings file: {error}. Until it does, the file holds alone; change one of them",
                        **error.ids,
                    ) from error
                self._go_by(settings)
                self.shared_version = shared.version

    def _go_by(self, settings: Settings) -> None:
        self.settings = settings
        take_settings(self.engine, settings)
        self.handles.clear()

    async def identify(self, secret: str, address: str) -> ApiKey:
        """The key with a secret that was sent from an address.

        Raises:
            UnauthenticatedError: there is none that holds.
            RateLimitedError: it asks too often, or too many guesses came from the address.
        """
        if self.guesses is not None:
            self.guesses.expect(secret, address)
        try:
            key = await self.engine.admin.api_keys.check(secret)
        except UnauthenticatedError:
            if self.guesses is not None:
                self.guesses.note_bad(address)
            raise
        if self.guesses is not None:
            self.guesses.note_good(secret)
        if self.limiter is not None:
            self.limiter.take(key.id)
        return key


def _read_agents(shared: SharedSettings) -> dict[str, dict[str, object]]:
    """What agents are to be otherwise, by their names."""
    return cast("dict[str, dict[str, object]]", json.loads(shared.content)) if shared.content else {}


def _limit_to(per_minute: int, *, bursts: int = 1) -> RateLimit | None:
    """The limit of so many in a minute, a part of them at once; None for 0."""
    if not per_minute:
        return None
    return RateLimit(capacity_count=max(1, per_minute // bursts), refill_per_sec=per_minute / 60)


def runtime_of(request: Request) -> Runtime:
    """What the app of a request works on."""
    return cast("Runtime", request.app.state.runtime)
