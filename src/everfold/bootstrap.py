"""Opening Everfold: the only module that picks adapters."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.adapters.system.log_lines import LogLines
from everfold.config import Settings, load_settings
from everfold.engine import Everfold
from everfold.errors import InvalidInputError
from everfold.ports.hooks import Hooks
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.ports.tracing import Tracer
from everfold.services.background import Background
from everfold.services.observers import Observers, make_observers
from everfold.services.sweep import Sweeper
from everfold.services.work import Worker, WorkPolicy
from everfold.sync import Blocking, block_on

_FORMS = "`sqlite:///FILE` (three slashes and a path from here, four for one from the root) or `memory://`"


@asynccontextmanager
async def open(  # noqa: A001 - `everfold.open` is what a user types
    url: str | None = None,
    *,
    settings: Settings | Mapping[str, Mapping[str, object]] | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    hooks: Sequence[Hooks] = (),
    tracer: Tracer | None = None,
) -> AsyncIterator[Everfold]:
    """Open a store and give the engine; the store is let go at the end.

    Args:
        url: Where everything is kept; `store.url` of the settings when left out.
        settings: Settings by section and key, or ones that were loaded before.
        config: The settings file; `everfold.toml` in the working folder when left out.
        clock: Tells the time; the machine's when left out.
        ids: Makes ids; random ones when left out.
        hooks: Plug-ins, called in this order.
        tracer: Takes spans: `everfold.OtelTracer()`, for example. None are made when left out.

    Raises:
        InvalidInputError: the url or a setting does not fit, or a hook is no plug-in.
        StoreError: the store cannot be opened.
    """
    loaded = settings if isinstance(settings, Settings) else load_settings(config, settings)
    observers = make_observers(
        hooks=hooks,
        timeout_secs=loaded.hooks.timeout_secs,
        strict=loaded.hooks.strict,
        sinks=(LogLines(),),
        tracer=tracer,
    )
    clock, ids = clock or SystemClock(), ids or RandomIds()
    store = await open_store(url or loaded.store.url)
    engine = make_engine(store, loaded, clock=clock, ids=ids, observers=observers)
    engine.start()
    try:
        yield engine
    finally:
        await engine.close()


def open_sync(
    url: str | None = None,
    *,
    settings: Settings | Mapping[str, Mapping[str, object]] | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    hooks: Sequence[Hooks] = (),
    tracer: Tracer | None = None,
) -> AbstractContextManager[Blocking[Everfold]]:
    """The same for programs without an event loop: every method of what it gives blocks.

    Hooks stay async, and run on the thread of the engine.
    """
    opening = open(url, settings=settings, config=config, clock=clock, ids=ids, hooks=hooks, tracer=tracer)
    return block_on(opening)


def make_engine(
    store: Store, settings: Settings, *, clock: Clock, ids: Ids, observers: Observers | None = None
) -> Everfold:
    """The engine over a store that is open; its background work is not started."""
    observers = Observers() if observers is None else observers
    return Everfold(
        store,
        clock=clock,
        ids=ids,
        defaults=settings.session_settings(),
        observers=observers,
        background=make_background(store, settings, clock=clock, ids=ids, observers=observers),
    )


def make_background(store: Store, settings: Settings, *, clock: Clock, ids: Ids, observers: Observers) -> Background:
    """What an engine does beside the turns, in this process."""
    sweep = settings.sweep
    policy = WorkPolicy(
        lease_secs=settings.compaction.lease_secs,
        attempts=sweep.attempts,
        grace_secs=sweep.grace_secs,
        is_synchronous=settings.compaction.synchronous,
    )
    dispatcher = InProcessDispatcher()
    return Background(
        worker=Worker(store=store, clock=clock, ids=ids, policy=policy, observers=observers),
        dispatcher=dispatcher,
        sweeper=Sweeper(
            store=store,
            clock=clock,
            dispatcher=dispatcher,
            feed=observers.feed,
            lookback_secs=sweep.lookback_secs,
            every_secs=sweep.every_secs,
        ),
    )


async def open_store(url: str) -> Store:
    """The store that a url names.

    Raises:
        InvalidInputError: the url has no form that is known.
        StoreError: the store cannot be opened.
    """
    if url == "memory://":
        from everfold.adapters.inmemory.store import InMemoryStore

        return InMemoryStore()
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        from everfold.adapters.sqlite.store import SqliteStore

        return await SqliteStore.open(url.removeprefix("sqlite:///"))
    raise InvalidInputError(f"the store url {url!r} has no form that is known; expected {_FORMS}")
