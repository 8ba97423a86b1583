"""Opening Everfold: the only module that picks adapters."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.models.lazy import LazyModel
from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.adapters.system.log_lines import LogLines
from everfold.adapters.system.random_secrets import RandomSecrets
from everfold.config import Overrides, Settings, load_settings
from everfold.core.compaction.tasks import WorkPolicy
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.ids import AgentId, SessionId
from everfold.core.sources.refreshing import AllowedSource
from everfold.core.threats.hiding import hide_in_addresses
from everfold.engine import Everfold
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.dispatch import Dispatcher, JobQueue
from everfold.ports.hooks import Hooks
from everfold.ports.models import Model
from everfold.ports.replicas import Replicas
from everfold.ports.sources import ContextSource
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids, Secrets
from everfold.ports.tracing import Tracer
from everfold.sections import SourceSettings
from everfold.services.access.users import Users
from everfold.services.compaction.digest_compaction import digest_compaction
from everfold.services.compaction.recover import Recovery
from everfold.services.compaction.refresh import Refresher, RefreshPolicy
from everfold.services.compaction.work import Worker
from everfold.services.dreams.dream import Dreamer
from everfold.services.dreams.dream_loop import DreamLoop
from everfold.services.memory.embed import Embedding
from everfold.services.models.call_embedder import EmbedderCaller
from everfold.services.models.call_model import ModelCaller
from everfold.services.sessions.handover import Handover
from everfold.services.telling.stream import Stream, tell_failed_work
from everfold.services.turns.agent_memory import Memories
from everfold.services.turns.background import Background
from everfold.services.turns.do_job import do_job

if TYPE_CHECKING:
    from everfold.sync_classes import SyncEverfold

_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""Where each provider's own documentation has its key."""

_FORMS = (
    "`sqlite:///FILE` (three slashes and a path from here, four for one from the root), `postgresql://USER@HOST/NAME` or "
    "`memory://`"
)


@asynccontextmanager
async def open(  # noqa: A001 - `everfold.open` is what a user types
    url: str | Path | None = None,
    *,
    settings: Settings | Overrides | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    hooks: Sequence[Hooks] = (),
    tracer: Tracer | None = None,
    sources: Sequence[ContextSource] = (),
) -> AsyncIterator[Everfold]:
    """Open a store and return its engine; the store is closed at the end.

    Args:
        url: The store, a URL or the `Path` of an SQLite file; `store.url` of the settings when left out.
        settings: Settings by section and key, or loaded settings.
        config: The settings file; `everfold.toml` in the working folder when left out.
        clock: The clock; the machine's when left out.
        ids: The source of ids; random ones when left out.
        hooks: Plug-ins, called in this order.
        tracer: Receives spans, such as `everfold.OtelTracer()`. Without one no spans are made.
        sources: Context sources of the program, asked like those of the settings.

    Raises:
        InvalidInputError: the URL, a setting or a plug-in is invalid.
        ConflictError: a name or a binding of `[[users]]` belongs to another user of the store.
        StoreError: the store cannot be opened.
    """
    loaded = settings if isinstance(settings, Settings) else load_settings(config, settings)
    stream = Stream(
        (LogLines(),),
        hooks=hooks,
        timeout_secs=loaded.hooks.timeout_secs,
        strict=loaded.hooks.strict,
        tracer=tracer,
    )
    clock, ids, users = clock or SystemClock(), ids or RandomIds(), loaded.user_entries()
    place = _as_url(url) or loaded.store.url
    if loaded.workers.enabled:
        _require_queue(place)
    store = await open_store(place, clock=clock)
    queue: JobQueue | None = None
    try:
        await _require_whole(store, place)
        if loaded.embed.model is not None:
            await store.require_search()
        queue = await _open_queue(place, stream) if loaded.workers.enabled else None
        engine = make_engine(store, loaded, clock=clock, ids=ids, stream=stream, sources=sources, queue=queue)
    except BaseException:
        if queue is not None:
            await queue.close()
        await store.close()
        raise
    try:
        await Users(store=store, clock=clock, ids=ids).apply(users)
        engine.start()
        yield engine
    finally:
        await engine.close()


def open_sync(
    url: str | Path | None = None,
    *,
    settings: Settings | Overrides | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    hooks: Sequence[Hooks] = (),
    tracer: Tracer | None = None,
    sources: Sequence[ContextSource] = (),
) -> "SyncEverfold":
    """Return the same engine with blocking methods, for programs without an event loop.

    Use it with `with`, or call its `open()` and `close()`. Hooks stay async, and run on the thread of the engine.
    """
    from everfold.sync_classes import SyncEverfold

    opening = partial(
        open, url, settings=settings, config=config, clock=clock, ids=ids, hooks=hooks, tracer=tracer, sources=sources
    )
    return SyncEverfold(opening)


def make_engine(
    store: Store,
    settings: Settings,
    *,
    clock: Clock,
    ids: Ids,
    stream: Stream | None = None,
    sources: Sequence[ContextSource] = (),
    secrets: Secrets | None = None,
    queue: JobQueue | None = None,
) -> Everfold:
    """The engine over a store that is open; its background work is not started."""
    stream = Stream() if stream is None else stream
    memories = make_memories(store, settings, clock=clock, ids=ids, stream=stream, queue=queue)
    background = make_background(memories, settings, sources=sources, queue=queue)
    return Everfold(
        store,
        clock=clock,
        ids=ids,
        secrets=RandomSecrets() if secrets is None else secrets,
        defaults_of=cache(settings.session_settings),
        stream=stream,
        background=background,
        memories=memories,
        rotates=settings.sessions.rotate_on_compaction,
    )


def take_settings(engine: Everfold, settings: Settings) -> None:
    """Have an engine go by what other settings say of agents: new sessions at once, and memory from its next turn on.

    What holds for all of an engine (its store, models, sources, hooks, recovery) stays as it was opened.
    """
    engine.admin.take_policies(
        settings_of=cache(settings.session_settings),
        memory_policy_of=cache(settings.memory_policy),
        has_memory=settings.has_memory,
    )


def make_memories(
    store: Store, settings: Settings, *, clock: Clock, ids: Ids, stream: Stream, queue: JobQueue | None = None
) -> Memories:
    """What an engine does with memory, and what calls its models."""
    dispatcher = _make_dispatcher(queue, stream)
    caller = open_caller(settings, store, clock=clock, ids=ids, stream=stream)

    def policy_of(agent_id: AgentId) -> MemoryPolicy:
        return memories.policy_of(agent_id)  # as it is then: it may change

    memories = Memories(
        store=store,
        clock=clock,
        ids=ids,
        stream=stream,
        dispatcher=dispatcher,
        policy_of=cache(settings.memory_policy),
        dreamer=Dreamer(
            store=store,
            clock=clock,
            ids=ids,
            policy_of=policy_of,
            caller=caller,
            lease_secs=settings.compaction.lease_secs,
            stream=stream,
        ),
        caller=caller,
        embedding=open_embedding(store, settings, clock=clock, ids=ids),
        is_synchronous=settings.compaction.synchronous,
    )
    return memories


def _make_dispatcher(queue: JobQueue | None, stream: Stream) -> Dispatcher:
    on_error = partial(tell_failed_work, stream)
    if queue is None:
        return InProcessDispatcher(on_error)
    from everfold.adapters.dispatch.queued import QueueDispatcher

    return QueueDispatcher(queue, on_error)


def _require_queue(url: str) -> None:
    """Refuse before anything is opened.

    Raises:
        InvalidInputError: the store is not in PostgreSQL, or the extra `workers` is missing.
    """
    if not url.startswith("postgresql://"):
        raise InvalidInputError(
            f"workers need PostgreSQL, and the store is {hide_in_addresses(url)!r}; set store.url to "
            "`postgresql://USER@HOST/NAME`, or workers.enabled to false"
        )
    if find_spec("procrastinate") is None:
        raise InvalidInputError("workers need the extra `workers`: pip install 'everfold[workers]'")


def open_replicas(url: str) -> Replicas | None:
    """What the servers and workers of a store tell each other by; None where one process has the store."""
    if not url.startswith("postgresql://"):
        return None
    from everfold.adapters.postgres.replicas import PostgresReplicas

    return PostgresReplicas(url)


async def _open_queue(url: str, stream: Stream) -> JobQueue:
    from everfold.adapters.dispatch.queue import open_queue

    return await open_queue(url, on_error=partial(tell_failed_work, stream))


def make_background(
    memories: Memories, settings: Settings, *, sources: Sequence[ContextSource] = (), queue: JobQueue | None = None
) -> Background:
    """What an engine does beside the turns, in this process."""
    store, clock, dispatcher, embedding = memories.store, memories.clock, memories.dispatcher, memories.embedding

    def wake(session_id: SessionId) -> None:
        background.wake(session_id)

    background = Background(
        worker=make_worker(memories, settings, make_refresher(memories, settings, sources)),
        close_models=memories.close_models,
        dispatcher=dispatcher,
        recovery=Recovery(
            store=store,
            clock=clock,
            wake=wake,
            stream=memories.stream,
            lookback_secs=settings.recovery.lookback_secs,
            every_secs=settings.recovery.every_secs,
        ),
        dreaming=DreamLoop(
            store=store,
            clock=clock,
            dreamer=memories.dreamer,
            dispatcher=dispatcher,
            gap_secs=settings.sessions.gap_secs,
            poll_secs=settings.sessions.poll_secs,
        ),
        dreams=settings.has_memory,
        queue=queue,
        fill_vectors=partial(embedding.fill_everybody, store) if embedding and settings.has_memory else None,
    )
    dispatcher.serve(partial(do_job, background, memories))
    return background


def make_worker(memories: Memories, settings: Settings, refresher: Refresher | None) -> Worker:
    """What carries compactions out; without a model it writes no digest and reads no messages for memory."""
    caller = memories.caller
    return Worker(
        store=memories.store,
        clock=memories.clock,
        ids=memories.ids,
        policy=WorkPolicy(
            lease_secs=settings.compaction.lease_secs,
            summary_timeout_secs=settings.compaction.summary_timeout_secs,
            attempts=settings.recovery.attempts,
            grace_secs=settings.recovery.grace_secs,
            is_synchronous=settings.compaction.synchronous,
        ),
        dispatcher=memories.dispatcher,
        write_digest=None if caller is None else partial(digest_compaction, caller),
        extract=None if caller is None else memories.extract,
        extracts=memories.is_on,
        hint_found=memories.hint_found,
        refresher=refresher,
        handover=Handover() if refresher is None else refresher.handover,
        stream=memories.stream,
    )


def make_refresher(memories: Memories, settings: Settings, sources: Sequence[ContextSource]) -> Refresher | None:
    """What asks the context sources: the allowed ones, then those that the program brings; None where there is none.

    A hand that the settings allow is one of those that the program brings, under the name `hand://NAME`.

    Raises:
        InvalidInputError: a source's settings do not fit, or no source is given for a hand that is allowed.
    """
    given = {source.name: source for source in sources}
    asked: list[tuple[ContextSource, AllowedSource]] = []
    for entry in settings.compaction.context_sources:
        if entry.source is not None:
            source = open_source(entry.source, settings.sources[entry.source])
        else:
            source = _take_hand(given, str(entry.hand))
        asked.append((source, AllowedSource(name=source.name, prompt=entry.prompt)))
    asked += [(source, AllowedSource(name=source.name)) for source in given.values()]
    if not asked:
        return None
    return Refresher(
        store=memories.store,
        clock=memories.clock,
        stream=memories.stream,
        dispatcher=memories.dispatcher,
        sources=asked,
        ids=memories.ids,
        lease_secs=settings.compaction.lease_secs,
        policy=RefreshPolicy(
            cap_tokens=settings.compaction.context_token_cap,
            floor_tokens=settings.compaction.source_floor_tokens,
            timeout_secs=settings.compaction.source_timeout_secs,
        ),
    )


def _take_hand(given: dict[str, ContextSource], hand: str) -> ContextSource:
    source = given.pop(f"hand://{hand}", None)
    if source is None:
        raise InvalidInputError(
            f"compaction.context_sources names the hand {hand!r}, which `everfold.open` does not know; "
            f"use `everfold.agents.open`, or pass sources=[...] with one named hand://{hand}"
        )
    return source


def open_source(name: str, settings: SourceSettings) -> ContextSource:
    """A source of the settings; nothing is read or reached yet.

    Raises:
        InvalidInputError: its settings do not fit, or the extra `sources` is missing.
    """
    from everfold.adapters.sources.building import build_source

    return build_source({"name": name, **settings.model_dump()})


def open_embedding(store: Store, settings: Settings, *, clock: Clock, ids: Ids) -> Embedding | None:
    """What makes vectors; None when no embedder is configured, and nothing is loaded then.

    Raises:
        InvalidInputError: the embedder cannot be had.
    """
    given = settings.embed
    if given.model is None:
        return None
    from everfold.adapters.models.embedders import open_embedder

    provider = given.model.partition(":")[0]
    variable = given.api_key_env or (None if given.base_url else _KEY_VARIABLES.get(provider))
    embedder = open_embedder(
        given.model,
        base_url=given.base_url,
        api_key=_read_key(given.model, variable, key="embed.api_key_env"),
        dimensions=given.dimensions,
    )
    caller = EmbedderCaller(
        embedder=embedder, store=store, clock=clock, ids=ids, per_day_usd=settings.spend.per_day_usd
    )
    return Embedding(store=store, caller=caller)


def _as_url(place: str | Path | None) -> str | None:
    return f"sqlite:///{place}" if isinstance(place, Path) else place


async def open_store(url: str, *, clock: Clock | None = None) -> Store:
    """The store that a url names.

    Args:
        url: Where everything is kept.
        clock: Tells an SQLite store until when a lease holds; the machine's when left out. A server has a clock of its own.

    Raises:
        InvalidInputError: the url has no form that is known.
        StoreError: the store cannot be opened.
    """
    if url == "sqlite:///:memory:":
        raise InvalidInputError(f"{url} would be another database for each connection; use memory://")
    if url == "memory://" or (url.startswith("sqlite:///") and len(url) > len("sqlite:///")):
        from everfold.adapters.sqlite.store import SqliteStore

        return await SqliteStore.open(url.removeprefix("sqlite:///"), clock)
    if url.startswith("postgresql://"):
        return await _open_postgres(url)
    shown = hide_in_addresses(url)
    raise InvalidInputError(f"the store url {shown!r} has an unknown form; expected {_FORMS}")


async def _require_whole(store: Store, url: str) -> None:
    """Refuse the target of a copy that was stopped: it may lack anything."""
    from everfold.adapters.sql.copy_store import SqlCopying

    if isinstance(store, SqlCopying) and await store.is_copy_begun():
        raise ConflictError(
            f"the store {hide_in_addresses(url)} is an unfinished copy: run `everfold store copy` with the same two stores again"
        )


async def _open_postgres(url: str) -> Store:
    try:
        from everfold.adapters.postgres.store import PostgresStore
    except ImportError as error:
        raise InvalidInputError(
            "a store in PostgreSQL needs the extra `postgres`: pip install 'everfold[postgres]'"
        ) from error
    return await PostgresStore.open(url)


def open_caller(
    settings: Settings, store: Store, *, clock: Clock, ids: Ids, stream: Stream | None = None
) -> ModelCaller | None:
    """What calls the compaction model, within the limits of the settings; None when no model is configured.

    Raises:
        InvalidInputError: the model cannot be had; see `open_model`.
    """
    model = open_model(settings, settings.compaction.model or settings.model.name)
    if model is None:
        return None
    return ModelCaller(
        model=model,
        store=store,
        clock=clock,
        ids=ids,
        timeout_secs=settings.compaction.summary_timeout_secs,
        retries=settings.compaction.retries,
        per_compaction_usd=settings.spend.per_compaction_usd,
        per_day_usd=settings.spend.per_day_usd,
        stream=stream or Stream(),
    )


def open_model(settings: Settings, name: str | None) -> Model | None:
    """The model with this name, or None for none; nothing is loaded then.

    `model.base_url` and `model.api_key_env` are for models of the provider of `model.name`, and for any where that is
    left out: the server of one provider is never asked for a model of another.

    Raises:
        InvalidInputError: its script, its key or the extra `models` is missing.
    """
    if name is None:
        return None
    provider, _, rest = name.partition(":")
    if provider == "script":
        from everfold.adapters.models.scripted import load_script

        return load_script(Path(rest))
    base_url, api_key = find_model_server(settings, name)

    def make() -> Model:
        from everfold.adapters.models.pydantic_ai import Place, PydanticAIModel

        return PydanticAIModel(Place(provider=provider, name=rest, base_url=base_url, api_key=api_key))

    return LazyModel(name, make)


def find_model_server(settings: Settings, name: str) -> tuple[str | None, str | None]:
    """The server and the key of a provider's model; None for the provider's own server, and for no key.

    Raises:
        InvalidInputError: its key or the extra `models` is missing.
    """
    provider = name.partition(":")[0]
    given = settings.model
    is_meant = given.name is None or given.name.startswith(f"{provider}:")
    base_url, variable = (given.base_url, given.api_key_env) if is_meant else (None, None)
    if variable is None and base_url is None:
        variable = _KEY_VARIABLES.get(provider)
    if find_spec("pydantic_ai") is None:
        raise InvalidInputError(f"the model {name} needs the extra `models`: pip install 'everfold[models]'")
    return base_url, _read_key(name, variable)


def _read_key(name: str, variable: str | None, *, key: str = "model.api_key_env") -> str | None:
    if variable is None:
        return None
    value = os.environ.get(variable, "").strip()
    if not value:
        raise InvalidInputError(
            f"The model {name} needs an API key, and the variable {variable} is not set. Set it, or name another one in {key}.",
            variable=variable,
        )
    return value
