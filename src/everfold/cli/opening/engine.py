"""Opening the engine for a command, and running what is async."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import typer

from everfold.agents.opening import Agents, open_agents
from everfold.cli.opening.invocation import Invocation, invocation_of
from everfold.config import load_settings
from everfold.engine import Everfold
from everfold.errors import InvalidInputError, NotFoundError
from everfold.memory import Memory
from everfold.session import Session

T = TypeVar("T")
_SQLITE = "sqlite:///"


INLINE: Mapping[str, Mapping[str, object]] = {"compaction": {"synchronous": True}}
"""A command has done its work when it returns."""


def run_async(action: Callable[[], Awaitable[T]]) -> T:
    """Run something async to its end."""
    return anyio.run(action)


@asynccontextmanager
async def open_engine(
    context: typer.Context,
    db: Path | None,
    *,
    must_exist: bool = True,
    settings: Mapping[str, Mapping[str, object]] = INLINE,
) -> AsyncIterator[Everfold]:
    """The engine over a database file, or over the store of the settings.

    Raises:
        NotFoundError: the file must exist and does not.
    """
    async with open_runtime(context, db, must_exist=must_exist, settings=settings) as opened:
        yield opened.engine


@asynccontextmanager
async def open_runtime(
    context: typer.Context,
    db: Path | None,
    *,
    must_exist: bool = True,
    settings: Mapping[str, Mapping[str, object]] = INLINE,
) -> AsyncIterator[Agents]:
    """The same with the hands of the settings.

    Raises:
        NotFoundError: the file must exist and does not.
    """
    invocation = invocation_of(context)
    url = store_url(invocation, db)
    if must_exist:
        _require_file(url)
    async with open_agents(url, config=invocation.config, settings=settings) as opened:
        yield opened


def store_url(invocation: Invocation, db: Path | None) -> str:
    """The store of a database file, or that of the settings."""
    return f"{_SQLITE}{db}" if db is not None else load_settings(invocation.config).store.url


@asynccontextmanager
async def open_memory(
    context: typer.Context, db: Path | None, user: str, agent: str | None = None, *, must_exist: bool = True
) -> AsyncIterator[Memory]:
    """What is known of a user; who need not exist is made.

    Raises:
        NotFoundError: the database, or the user, must exist and does not.
    """
    async with open_engine(context, db, must_exist=must_exist) as engine:
        try:
            await engine.get_user(user)
        except NotFoundError:
            if must_exist:
                raise
            await engine.add_user(user)
        yield await engine.memory(user=user, agent=agent)


def ask_engine(
    context: typer.Context, db: Path | None, question: Callable[[Everfold], Awaitable[T]], *, must_exist: bool = True
) -> T:
    """The answer of an engine that is open for this one question."""

    async def act() -> T:
        async with open_engine(context, db, must_exist=must_exist) as engine:
            return await question(engine)

    return run_async(act)


def ask_memory(
    context: typer.Context,
    db: Path | None,
    user: str,
    question: Callable[[Memory], Awaitable[T]],
    *,
    agent: str | None = None,
    must_exist: bool = True,
) -> T:
    """The answer of a user's memory that is open for this one question."""

    async def act() -> T:
        async with open_memory(context, db, user, agent, must_exist=must_exist) as memory:
            return await question(memory)

    return run_async(act)


def find_file(url: str) -> Path | None:
    """The file of a store, or None where it has none."""
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def _require_file(url: str) -> None:
    path = find_file(url)
    if path is not None and not path.exists():
        raise NotFoundError(
            f"there is no database {path}; name one with --db FILE, or create one with `everfold import`",
            path=str(path),
        )


@asynccontextmanager
async def open_scratch(
    context: typer.Context, db: Path | None, *, settings: Mapping[str, Mapping[str, object]] = INLINE
) -> AsyncIterator[Everfold]:
    """The engine over a database file, or in memory."""
    if db is not None:
        async with open_engine(context, db, must_exist=False, settings=settings) as engine:
            yield engine
    else:
        async with open_agents("memory://", config=invocation_of(context).config, settings=settings) as opened:
            yield opened.engine


def name_model(model: str | None, script: Path | None) -> Mapping[str, Mapping[str, object]]:
    """Settings with the model that writes digests, where one is named; else that of the settings.

    Raises:
        InvalidInputError: both are named.
    """
    if model is not None and script is not None:
        raise InvalidInputError("--model and --script exclude each other; give one of them")
    name = f"script:{script}" if script is not None else model
    return INLINE if name is None else {"compaction": {**INLINE["compaction"], "model": name}}


NO_MODEL: Mapping[str, Mapping[str, object]] = {
    "model": {"name": None},
    "compaction": {**INLINE["compaction"], "model": None},
}
"""No model is called, whatever the settings say."""


async def choose_session(engine: Everfold, session_id: str | None, *, user: str, agent: str) -> Session:
    """The session with this id, or the current one of a user and an agent.

    Raises:
        NotFoundError: there is none.
    """
    if session_id is not None:
        return await engine.session(id=session_id)
    after: str | None = None
    while records := await engine.list_sessions(user=user, agent=agent, after=after):
        for record in records:
            if record.is_current and not record.session_key:
                return await engine.session(id=record.id)
        after = records[-1].id
    raise NotFoundError(
        f"user {user!r} and agent {agent!r} have no session here; `everfold sessions` lists all sessions"
    )


def require_one(count: int, what: str) -> None:
    """Refuse an option that is about one conversation when there are several.

    Raises:
        InvalidInputError: there are several.
    """
    if count > 1:
        raise InvalidInputError(
            f"{what} needs one log, but {count} conversations were chosen; choose one with --conversation N, or join "
            "them with --conversation chain"
        )
