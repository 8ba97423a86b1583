"""Files that an agent keeps: edited as the memory tool says, and part of all that memory is part of."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

import everfold
from everfold import Everfold
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import InvalidInputError, LimitError, NotFoundError
from everfold.services.memory.memory_files import MemoryFiles
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

ON = {"memory": {"system": "structured"}}
NOTES = "/memories/notes.md"


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine with structured memory over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=ON) as opened:
        yield opened


@pytest.fixture
async def files(engine: Everfold) -> MemoryFiles:
    """The files that the default agent keeps of Ada."""
    return await engine.memory_files(user="ada")


async def read(files: MemoryFiles, path: str = NOTES) -> str:
    """The lines of a file, without their numbers."""
    shown = (await files.view(path)).split("\n")[1:]
    return "\n".join(line.split("\t", 1)[1] for line in shown)


async def test_a_file_is_written_and_edited(files: MemoryFiles) -> None:
    """Each command does what the tool's definition says, and what it says is there afterwards."""
    await files.create(NOTES, "Flat in Leeds\nTwo cats\n")
    assert "York" in await files.replace(NOTES, "Leeds", "York")
    await files.insert(NOTES, 1, "Third floor")
    assert await read(files) == "Flat in York\nThird floor\nTwo cats\n"
    await files.rename(NOTES, "/memories/home/flat.md")
    assert [entry.path for entry in await files.entries()] == ["/memories/home/flat.md"]
    await files.delete("/memories/home")
    assert await files.entries() == []


async def test_what_is_not_there_is_told(files: MemoryFiles) -> None:
    """A path that nothing is at, and one that is taken, are refused, and nothing changes."""
    await files.create("/memories/a/b", "x")
    for missing in (
        files.view(NOTES),
        files.delete(NOTES),
        files.rename(NOTES, "/memories/c"),
        files.insert(NOTES, 0, "x"),
    ):
        with pytest.raises(NotFoundError, match="does not exist"):
            await missing
    for taken in (
        files.create("/memories/a/b", "y"),
        files.create("/memories/a", "y"),
        files.create("/memories/a/b/c", "y"),
        files.rename("/memories/a/b", "/memories/a"),
        files.rename("/memories/a", "/memories/a/c"),
    ):
        with pytest.raises(InvalidInputError):
            await taken
    assert await read(files, "/memories/a/b") == "x"


async def test_writers_at_once_lose_nothing(engine: Everfold) -> None:
    """Thirty edits of one file from as many handles are all in it."""
    await (await engine.memory_files(user="ada")).create(NOTES, "")

    async def note(number: int) -> None:
        await (await engine.memory_files(user="ada")).insert(NOTES, 0, f"line {number}")

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(note, number)
    lines = (await read(await engine.memory_files(user="ada"))).split("\n")
    assert sorted(lines) == sorted(["", *(f"line {number}" for number in range(30))])


async def test_a_file_is_of_one_user_and_agent(engine: Everfold, files: MemoryFiles) -> None:
    """No other user's or agent's files are seen, written or removed."""
    await files.create(NOTES, "Ada's")
    for other in (await engine.memory_files(user="ben"), await engine.memory_files(user="ada", agent="clerk")):
        assert await other.entries() == []
        await other.create(NOTES, "mine")
        await other.delete(NOTES)
    assert await read(files) == "Ada's"


async def test_looking_creates_no_user(engine: Everfold) -> None:
    """A user is stored with the first file, not with a look."""
    files = await engine.memory_files(user="cleo")
    await files.view("/memories")
    assert [one.name for one in await engine.list_users()] == []
    await files.create(NOTES, "x")
    assert [one.name for one in await engine.list_users()] == ["cleo"]
    assert await read(await engine.memory_files(user="cleo")) == "x"


async def test_topics_lie_beside_the_files(engine: Everfold, files: MemoryFiles) -> None:
    """What dreams have made of memory is listed and read there, and cannot be written."""
    session = await engine.session(user="ada")
    await session.append([user("Remember: my boat lies at berth 42 of the harbour."), assistant("Noted.")])
    await (await engine.memory(user="ada")).dream()
    (path,) = [entry.path for entry in await files.entries()]
    assert path.startswith("/memories/topics/")
    assert "berth 42" in await files.view(path)
    assert path in await files.view("/memories/topics")
    with pytest.raises(InvalidInputError, match="read-only"):
        await files.replace(path, "berth", "pier")


async def test_an_erase_takes_the_lines_that_repeat_it(engine: Everfold, files: MemoryFiles) -> None:
    """Lines that the agent wrote of an erased message go with it, the others stay, and nothing of it can be read."""
    session = await engine.session(user="ada")
    await session.append([user("My sister Mara has hepatitis."), assistant("I am sorry to hear that.")])
    await files.create(NOTES, "Two cats\nsister Mara: hepatitis\n")
    await files.create("/memories/mara.md", "Mara: hepatitis")
    places = await engine.admin.verify_erased(user="ada", words=["hepatitis"])
    assert {place.id for place in places if place.kind == "file"} == {NOTES, "/memories/mara.md"}
    await session.erase(1)
    assert await engine.admin.verify_erased(user="ada", words=["hepatitis"]) == []
    assert await read(files) == "Two cats\n"
    assert [entry.path for entry in await files.entries()] == [NOTES]


async def test_files_leave_and_come_back_with_memory(engine: Everfold, files: MemoryFiles) -> None:
    """An export holds them, a wipe removes and counts them, and an import brings back what was exported."""
    await files.create(NOTES, "Two cats")
    await (await engine.memory_files(user="ada", agent="clerk")).create(NOTES, "A dog")
    document = await engine.export_user("ada")
    wiped = await engine.wipe("ada")
    assert wiped.counts["files"] == 2
    assert await files.entries() == []
    await engine.import_user(document, user="ada")
    assert await read(files) == "Two cats"
    assert await read(await engine.memory_files(user="ada", agent="clerk")) == "A dog"


async def test_forgetting_an_agent_takes_its_files(engine: Everfold, files: MemoryFiles) -> None:
    """All that one agent keeps of a user goes; what another one keeps stays."""
    clerk = await engine.memory_files(user="ada", agent="clerk")
    await clerk.create(NOTES, "A dog")
    await files.create(NOTES, "Two cats")
    await (await engine.memory(user="ada")).forget_agent("clerk")
    assert await clerk.entries() == []
    assert await read(files) == "Two cats"


async def test_what_is_deleted_is_not_in_the_database(tmp_path: Path) -> None:
    """After a delete no file of the database has the words, byte for byte; before it one has."""
    path = tmp_path / "everfold.db"

    def holds() -> bool:
        return any(b"hepatitis" in file.read_bytes() for file in tmp_path.glob("everfold.db*"))

    async with everfold.open(path) as engine:
        files = await engine.memory_files(user="ada")
        await files.create(NOTES, "hepatitis")
        assert holds()
        await files.delete(NOTES)
        assert not holds()


async def test_a_full_folder_is_told(files: MemoryFiles) -> None:
    """A file that is too long is refused by what it would have become; nothing is written."""
    await files.create(NOTES, "x" * 64_000)
    with pytest.raises(LimitError, match="at most"):
        await files.insert(NOTES, 0, "y")
    assert len(await read(files)) == 64_000


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"command": "fly"},
        {"command": "view"},
        None,
        [],
        {"command": "view", "path": 7},
        {"command": "view", "path": NOTES, "view_range": [1]},
        {"command": "view", "path": NOTES, "view_range": [9, 10]},
        {"command": "create", "path": NOTES},
        {"command": "insert", "path": NOTES, "insert_line": "1", "insert_text": "x"},
        {"command": "str_replace", "path": NOTES, "old_str": "x", "new_str": None},
    ],
)
async def test_a_command_that_is_broken_is_answered(files: MemoryFiles, command: JsonObject) -> None:
    """Whatever a model sends, it is told what is wrong, and nothing is changed."""
    await files.create(NOTES, "x")
    answer = await files.call(command)
    assert answer.is_error
    assert await read(files) == "x"
