"""Bytes that were flipped in pages of a table or an index give a clear error of the store, or are reported; nothing else."""

import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import anyio
import apsw
import pytest
from bench.material.logs import endless_log
from tests.support.sizes import examples

import everfold
from everfold import Everfold
from everfold.errors import EverfoldError, StoreError

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]

SETTINGS: Final[dict[str, dict[str, object]]] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": True},
}
FAMILIES: Final = (
    "messages",
    "message_",
    "session",
    "compaction",
    "digest",
    "item",
    "topic",
    "dream",
    "extraction",
    "memory_",
    "migrations",
    "user",
    "agent",
    "api_key",
    "sqlite_",
    "",
)
"""How the names of the tables and indexes begin; the last one is for all the others."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with sessions, compactions, a branch, an erase, memory, dreams and API keys."""
    path = tmp_path_factory.mktemp("filled") / "log.db"

    async def fill() -> None:
        async with everfold.open(f"sqlite:///{path}", settings=SETTINGS) as engine:
            session = await engine.session(limit=2_500)
            wires = [entry.wire for entry in endless_log(5, messages_count=60)]
            for first in range(0, len(wires), 10):
                await session.append(wires[first : first + 10])
                await session.window()
            await session.append({"role": "user", "content": "Remember: my boat is called Kestrel."})
            await session.append({"role": "assistant", "content": "Noted."})
            await session.erase(5)
            memory = await engine.memory()
            await memory.add("The berth is number 17.")
            await memory.dream()
            await engine.admin.api_keys.make("first", "admin")
            last_seq = (await session.inspect.state()).last_seq
            await (await session.branch(last_seq)).append({"role": "user", "content": "Another way."})

    anyio.run(fill)
    with closing(apsw.Connection(str(path))) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


def list_pages(content: bytes, folder: Path) -> dict[str, list[int]]:
    """The pages of each table and index, from 0, by its name."""
    path = folder / "pages.db"
    path.write_bytes(content)
    pages: dict[str, list[int]] = {}
    with closing(apsw.Connection(str(path))) as database:
        for name, page in database.execute("SELECT name, pageno FROM dbstat"):
            pages.setdefault(str(name), []).append(int(str(page)) - 1)
    return pages


def flip(content: bytes, pages: list[int], rng: random.Random) -> bytes:
    """The file with some bytes of some of these pages flipped: in the page's head, in its list of cells, or anywhere."""
    damaged = bytearray(content)
    size = int.from_bytes(content[16:18], "big") % 65_535 or 65_536
    for page in rng.sample(pages, min(len(pages), 3)):
        first = page * size + (100 if page == 0 else 0)
        reach = rng.choice((12, 64, size - 100))
        for _ in range(rng.randint(1, 6)):
            damaged[first + rng.randrange(reach)] ^= rng.randint(1, 255)
    return bytes(damaged)


Read = Callable[[Everfold], Awaitable[object]]


async def read_log(engine: Everfold) -> object:
    """Every message of every session, once what damage can be seen in them was looked for."""
    found = {}
    for record in await engine.list_sessions():
        session = await engine.session(id=record.id)
        if (await session.verify()).problems:
            return None
        last_seq = (await session.inspect.state()).last_seq
        found[record.id] = [message.wire for message in await session.messages(1, last_seq)]
    return found


async def read_searches(engine: Everfold) -> object:
    """What searches find; which of them a damaged index misses, `check_store` tells."""
    await engine.search("boat harbour crane berth")
    return await (await engine.memory()).search("boat berth")


async def read_memory(engine: Everfold) -> object:
    """Items, topics, dreams, extractions and the audit."""
    memory = await engine.memory()
    items = await memory.items()
    for item in items:
        await memory.why(item.id)
    return [items, await memory.topics(), await memory.dreams(), await memory.extractions(), await memory.audit()]


async def read_rest(engine: Everfold) -> object:
    """Users, API keys, compactions, spend, and the whole as a document."""
    await engine.list_users()
    await engine.admin.api_keys.list_api_keys()
    for record in await engine.list_sessions():
        await (await engine.session(id=record.id)).inspect.trace()
    await engine.admin.count_work()
    return await engine.export_user(transcripts=True)


async def write_turn(engine: Everfold) -> object:
    """A turn with everything that it sets off."""
    session = await engine.session(limit=2_500)
    await session.append({"role": "user", "content": "Remember: my berth is number 18."})
    await session.append({"role": "assistant", "content": "Noted."})
    return await session.window()


READS: Final[Mapping[str, Read]] = {
    "log": read_log,
    "searches": read_searches,
    "memory": read_memory,
    "rest": read_rest,
    "turn": write_turn,
}


async def try_all(path: Path) -> tuple[dict[str, object], bool]:
    """What each reading gives, or its error, and whether the store reports problems of its own."""
    found: dict[str, object] = {}
    try:
        async with everfold.open(f"sqlite:///{path}", settings=SETTINGS) as engine:
            is_reported = await _is_reported(engine)
            for name, read in READS.items():
                try:
                    found[name] = await read(engine)
                except EverfoldError as error:
                    found[name] = error
    except EverfoldError as error:
        return {"open": error}, True
    return found, is_reported


async def _is_reported(engine: Everfold) -> bool:
    try:
        return bool(await engine.admin.check_store())
    except StoreError:
        return True


def put_alone(path: Path, content: bytes) -> None:
    """Write a file, without the log and the index of the one before."""
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    path.write_bytes(content)


async def check_damage(filled: bytes, tmp_path: Path, family: str, seeds: range) -> None:
    """Flip bytes of the pages of one kind of table, and see what everything that reads them says."""
    path = tmp_path / "log.db"
    path.write_bytes(filled)
    (whole, _) = await try_all(path)
    pages = list_pages(filled, tmp_path)
    others = [one for one in FAMILIES if one]
    names = [name for name in pages if name.startswith(family or tuple(pages))]
    if not family:
        names = [name for name in names if not name.startswith(tuple(others))]
    assert names or not family, sorted(pages)
    if not names:
        return
    for seed in seeds:
        rng = random.Random(f"{family} {seed}")
        put_alone(path, flip(filled, pages[rng.choice(sorted(names))], rng))
        found, is_reported = await try_all(path)
        for name, value in found.items():
            if isinstance(value, EverfoldError):
                assert len(str(value)) > 20, (seed, name)
        if not is_reported:
            assert found["log"] is None or isinstance(found["log"], EverfoldError) or found["log"] == whole["log"], seed


@pytest.mark.parametrize("family", FAMILIES)
async def test_flipped_bytes_of_a_page_are_no_surprise(filled: bytes, tmp_path: Path, family: str) -> None:
    """Whatever pages were damaged, every call gives what was stored or an error of ours, and wrong messages are found."""
    await check_damage(filled, tmp_path, family, range(examples(4)))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
async def test_flipped_bytes_of_many_pages_are_no_surprise(filled: bytes, tmp_path: Path, family: str) -> None:
    """The same for many more of them."""
    await check_damage(filled, tmp_path, family, range(examples(4), 60))
