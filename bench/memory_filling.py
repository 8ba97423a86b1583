"""Files filled with what users said and what memory holds of them, faster than by saying it."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import apsw

from bench.measuring import hooked
from bench.opening import batched, open_engine
from bench.recall import Babble
from everfold.core.log.transcripts import Conversation, Transcript, TranscriptMessage
from everfold.core.memory.items import Item
from everfold.core.memory.records import MemoryChange
from everfold.core.primitives.ids import AgentId, UserId
from everfold.engine import DEFAULT_AGENT, Everfold
from everfold.testing.kit.memory_builders import evidence, item

USER = str(uuid.UUID(int=1))
AGENT = AgentId(DEFAULT_AGENT)
BLOCK_CHARS = 1_300
"""What the block's items have together. Source: `memory.user_char_limit`, 1,375."""


def unsynced() -> AbstractContextManager[None]:
    """Connections that are opened inside do not wait for the disk: the engine's own pragma for it is passed over."""
    return hooked(_write_lazily)


def _write_lazily(connection: apsw.Connection) -> None:
    def allow(operation: int, first: str | None, *_: object) -> int:
        is_passed_over = operation == apsw.SQLITE_PRAGMA and first == "synchronous"
        return apsw.SQLITE_IGNORE if is_passed_over else apsw.SQLITE_OK

    connection.pragma("synchronous", "off")
    connection.authorizer = allow


async def fill_user(path: Path, babble: Babble, *, messages_count: int, items_count: int) -> None:
    """A new file with one user's messages, 500 a session, and items."""
    async with open_engine(path) as engine:
        for turns in batched(babble.talk(messages_count), 500):
            await _import(engine, USER, [(turn.role, turn.text) for turn in turns])
        await _remember(engine, USER, babble, items_count)


async def fill_others(path: Path, babble: Babble, count: int) -> None:
    """So many other users in a file, each with four messages and three items."""
    async with open_engine(path) as engine:
        for number in range(count):
            user = str(uuid.UUID(int=1_000 + number))
            await _import(engine, user, [(role, babble.text(5, 45)) for role in ("user", "assistant") * 2])
            await _remember(engine, user, babble, 3)


async def _import(engine: Everfold, user: str, said: Sequence[tuple[str, str]]) -> None:
    """One more session of a user, with what was said in it."""
    messages = tuple(
        TranscriptMessage(wire={"role": role, "content": text}, wire_format="openai", line=line)
        for line, (role, text) in enumerate(said, 1)
    )
    transcript = Transcript(format="talk", conversations=(Conversation(name="talk", messages=messages),))
    async for _ in engine.import_transcript(transcript, user=user):
        pass


async def _remember(engine: Everfold, user: str, babble: Babble, count: int) -> None:
    """Give a user so many items: the first as many as the block holds, the others in the archive."""
    store, user_id = engine._store, UserId(user)  # noqa: SLF001 - what every change of memory ends in
    session = (await engine.list_sessions(user=user, limit=1))[0].id
    for batch in batched(_make_items(user_id, session, babble, count), 500):
        expected = await store.read_memory_version(user_id)
        await store.change_memory(MemoryChange(user_id=user_id, agent_id=AGENT, expected=expected, items=tuple(batch)))


def _make_items(user_id: UserId, session: str, babble: Babble, count: int) -> Iterator[Item]:
    block_chars = 0
    for number in range(count):
        statement = babble.text(6, 16)
        block_chars += len(statement)
        quote = evidence(statement, session_id=session, seq=number % 4 + 1)
        made = item(f"itm_{user_id[-8:]}_{number}", statement, quote, user_id=user_id, agent_id=AGENT)
        yield replace(made, shelf="block" if block_chars < BLOCK_CHARS else "archive")
