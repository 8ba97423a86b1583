"""Imports of files: each goes on to its end, also when its client has left."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from anyio import to_thread

from everfold.adapters.transcripts import Found, read_transcripts
from everfold.engine import Everfold
from everfold.errors import EverfoldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that was sent, and whose sessions its conversations become.

    Attributes:
        path: Where it lies until the import ends.
        name: What its sender calls it; only shown.
    """

    path: Path
    name: str
    user: str
    agent: str
    limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far one conversation is stored."""

    conversation: str
    session_id: str
    stored_count: int
    messages_count: int
    kind: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A file that was not stored, and why; `is_other` where it is in no known format."""

    name: str
    reason: str
    is_other: bool
    kind: Literal["left"] = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end: what was stored. `session_id` is the first session; empty where there is none."""

    sessions_count: int
    messages_count: int
    session_id: str
    kind: Literal["done"] = "done"


ImportStep: TypeAlias = Progress | Left | Ended


@dataclass(slots=True)
class Imports:
    """The imports that run in this process."""

    _running: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, engine: Everfold, upload: Upload) -> AsyncIterator[ImportStep]:
        """Store an upload and tell how far it is; a reader who leaves stops nothing. The file is removed at the end."""
        steps: asyncio.Queue[ImportStep | BaseException | None] = asyncio.Queue()
        task = asyncio.create_task(_store(engine, upload, steps))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        while (step := await steps.get()) is not None:
            if isinstance(step, BaseException):
                raise step
            yield step

    async def close(self) -> None:
        """Stop what still runs: what is stored by then stays."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _store(engine: Everfold, upload: Upload, steps: "asyncio.Queue[ImportStep | BaseException | None]") -> None:
    try:
        async for step in _import_files(engine, upload):
            steps.put_nowait(step)
        steps.put_nowait(None)
    except BaseException as error:  # told to the reader, if there is still one
        steps.put_nowait(error)
        if not isinstance(error, Exception):
            raise
    finally:
        discard(upload.path)


async def _import_files(engine: Everfold, upload: Upload) -> AsyncIterator[ImportStep]:
    stored: dict[str, Progress] = {}
    found = read_transcripts(upload.path)
    while (one := await to_thread.run_sync(_read_next, found)) is not None:
        try:
            async for step in _import_one(engine, upload, one):
                if isinstance(step, Progress):
                    stored[step.session_id] = step
                yield step
        except EverfoldError as error:
            yield Left(name=_name(upload, one), reason=_tell(upload, str(error)), is_other=False)
    yield Ended(
        sessions_count=len(stored),
        messages_count=sum(step.stored_count for step in stored.values()),
        session_id=next(iter(stored), ""),
    )


async def _import_one(engine: Everfold, upload: Upload, found: Found) -> AsyncIterator[ImportStep]:
    if found.transcript is None:
        yield Left(name=_name(upload, found), reason=_tell(upload, str(found.error)), is_other=found.is_other)
        return
    imports = engine.import_transcript(found.transcript, user=upload.user, agent=upload.agent, limit=upload.limit)
    async for step in imports:
        yield Progress(
            conversation=_tell(upload, step.name),
            session_id=step.session,
            stored_count=step.stored_count,
            messages_count=step.messages_count,
        )


def discard(path: Path) -> None:
    """Remove an upload."""
    path.unlink(missing_ok=True)


def _read_next(found: Iterator[Found]) -> Found | None:
    return next(found, None)


def _name(upload: Upload, found: Found) -> str:
    return _tell(upload, found.name)


def _tell(upload: Upload, text: str) -> str:
    """A text with the name that the sender knows in the place of the file's own."""
    return text.replace(str(upload.path), upload.name).replace(upload.path.stem, Path(upload.name).stem)
