"""What goes wrong beneath the store is an error of ours, and nothing is half-written or doubled."""

# ruff: noqa: ASYNC220, ASYNC221, ASYNC240, PT012, PT017 - a test may wait for its own processes and files
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

import apsw
import pytest
from bench.material.logs import endless_log
from tests.support.sizes import every

import everfold
from everfold.adapters.sqlite import connection
from everfold.core.log.messages import Message
from everfold.errors import CorruptStoreError, EverfoldError, StoreUnavailableError
from everfold.session import Session

HERE = Path(__file__).parent
NOBODY = 65_534
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


WIRES = [entry.wire for entry in endless_log(5, messages_count=90)]


async def fill(path: Path, messages_count: int) -> None:
    """A database with one session, and so many of the messages in it."""
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        for first in range(0, messages_count, 10):
            await session.append(WIRES[first : first + 10])
            await session.window()


@pytest.fixture(scope="module")
async def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all of the messages, to be copied."""
    path = tmp_path_factory.mktemp("full") / "log.db"
    await fill(path, len(WIRES))
    return path


@pytest.fixture
def path(full: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(full, tmp_path / "log.db"))


async def read_log(session: Session) -> list[Message]:
    """The whole log."""
    last_seq = (await session.inspect.state()).last_seq
    return await session.messages(1, last_seq) if last_seq else []


def run_restricted(path: Path, power: str) -> tuple[int, str]:
    """How many appends returned in a process of little power, and what the next one raised."""
    done = subprocess.run(
        [sys.executable, str(HERE / "restricted.py"), str(path), power],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr[-800:]
    lines = done.stdout.split("begin\n")[1].splitlines()
    return len(lines) - 1, lines[-1]


@pytest.mark.slow
async def test_processes_that_append_at_once(tmp_path: Path) -> None:
    """Four processes append to one session, with windows between: nothing is lost or doubled, each keeps its order."""
    path = tmp_path / "log.db"
    async with everfold.open(f"sqlite:///{path}") as engine:
        await engine.session(limit=2_500)
    names = ["ann", "bob", "cid", "dee"]
    processes = [
        subprocess.Popen([sys.executable, str(HERE / "appender.py"), str(path), name, "60"], env=ENVIRONMENT)
        for name in names
    ]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0, 0]
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        log = await read_log(session)
        said = [message.view.text.split(". ")[0] for message in log]
        for name in names:
            assert [text for text in said if text.startswith(name)] == [f"{name} says {number}" for number in range(60)]
        assert [message.seq for message in log] == list(range(1, 241))
        assert (await session.verify()).is_sound
        compactions = await session.inspect.compactions()
        assert len(compactions) > 3
        assert {compaction.state for compaction in compactions} <= {"done", "pending"}
        await session.window()
        assert {compaction.state for compaction in await session.inspect.compactions()} == {"done"}


@pytest.mark.parametrize("seed", every(4, range(12)))
async def test_a_damaged_file_is_noticed(seed: int, path: Path) -> None:
    """Flipped bytes give a clear error or a problem, or have hit nothing that matters; never another exception."""
    content = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for _ in range(1 + seed * 4):
        content[rng.randrange(100, len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(content))
    try:
        async with everfold.open(f"sqlite:///{path}") as engine:
            problems = await engine.admin.check_store()
            session = await engine.session(limit=2_500)
            unsound = (await session.verify()).problems
            await session.window()
            log = await read_log(session)
            assert problems or unsound or [message.wire for message in log] == WIRES
    except EverfoldError as error:
        assert len(str(error)) > 20


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET kind = kind || 'x' WHERE seq > 80",
        "UPDATE messages SET origin = origin || 'x' WHERE seq > 80",
        "UPDATE messages SET tokens = 'seven' WHERE seq > 80",
        "UPDATE messages SET sum_tokens = x'ff' WHERE seq > 80",
        "UPDATE digests SET id = id || 'x'",
        "UPDATE session_states SET revision = 'seven'",
    ],
)
async def test_a_damaged_column_is_named_and_found(damage: str, path: Path) -> None:
    """A column with what is never written there fails verification, and whatever reads it says that it is damaged."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(damage)
    async with everfold.open(f"sqlite:///{path}") as engine:
        try:
            session = await engine.session(limit=2_500)
            assert (await session.verify()).problems
        except CorruptStoreError as error:
            assert "damaged" in str(error)
        with pytest.raises(CorruptStoreError, match="damaged"):
            session = await engine.session(limit=2_500)
            for keep_recent in (8, 2):
                await session.window()
                await session.compact(keep_recent=keep_recent)
                await session.messages(80, 90)
                await session.inspect.trace()


async def test_a_missing_message_is_named(path: Path) -> None:
    """A window that would show a message whose row is gone says which one, and that the store is damaged."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("DELETE FROM messages WHERE seq = 1")
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        await session.append({"role": "user", "content": "Which harbour did I name at the very beginning?"})
        with pytest.raises(CorruptStoreError, match="message 1, which is shown, is missing"):
            await session.window()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM message_index WHERE rowid = 7", "message 7 is missing in the search index"),
        (
            "INSERT INTO message_index (rowid, own, before, scope) VALUES (9999, '1_harbour', '', '')",
            "the search index has 1 rows of no message",
        ),
    ],
)
async def test_a_search_index_of_other_messages_is_found(damage: str, problem: str, path: Path) -> None:
    """A message that cannot be searched for, or a row of the index that belongs to none, is a problem of the store."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(damage)
    async with everfold.open(f"sqlite:///{path}") as engine:
        problems = await engine.admin.check_store()
        assert len(problems) == 1
        assert problems[0].endswith(problem)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
async def test_a_cut_off_file_is_refused(share: float, path: Path) -> None:
    """A file that ends too early is reported as damaged, and is not made longer or shorter by looking at it."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CorruptStoreError):
        async with everfold.open(f"sqlite:///{path}") as engine:
            session = await engine.session(limit=2_500)
            await read_log(session)
            assert await engine.admin.check_store() == []
    assert path.stat().st_size == int(len(content) * share)


async def test_a_locked_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process holds the write lock too long, an append fails as retryable; then the same one succeeds."""
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 60)
    path = tmp_path / "log.db"
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": "First."})
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="locked") as refusal:
            await session.append({"role": "user", "content": "Second."})
        assert refusal.value.retryable
        assert len(await read_log(session)) == 1
        other.execute("COMMIT")
        other.close()
        assert await session.append({"role": "user", "content": "Second."}) == [2]


TAKE_FILE = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
"""
"""Takes the bytes that a connection takes to be alone with the file, after which it deletes the log. Source: SQLite's
documentation of its file format, the lock-byte page."""


async def test_no_other_program_gets_the_file_for_itself(tmp_path: Path) -> None:
    """While engines are open on a file, however many, no program can have it alone, and so none takes the log away."""
    path = tmp_path / "log.db"
    take = [sys.executable, "-c", TAKE_FILE, str(path)]
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        for _ in range(2):
            await session.append({"role": "user", "content": "Here."})
            refusal = subprocess.run(take, check=False, capture_output=True, text=True)
            assert "BlockingIOError" in refusal.stderr
            async with everfold.open(f"sqlite:///{path}") as other:
                await other.session(limit=2_500)
    subprocess.run(take, check=True)


@pytest.mark.parametrize("what", ["moved", "deleted", "replaced"])
async def test_a_file_that_is_no_longer_there(tmp_path: Path, what: str) -> None:
    """Once the file was moved, deleted or replaced an append says so and stores nothing; put back, the log goes on."""
    path, aside = tmp_path / "log.db", tmp_path / "aside.db"
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        await session.append({"role": "user", "content": "First."})
        path.rename(aside)
        if what == "replaced":
            shutil.copy(aside, path)
        if what == "deleted":
            aside.unlink()
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match=r"log\.db was moved, deleted or replaced"):
                await session.append({"role": "user", "content": "Second."})
        if what != "deleted":
            aside.rename(path)
            assert await session.append({"role": "user", "content": "Second."}) == [2]
    if what != "deleted":
        async with everfold.open(f"sqlite:///{path}") as engine:
            session = await engine.session(limit=2_500)
            assert [message.view.text for message in await read_log(session)] == ["First.", "Second."]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")


@needs_root
@pytest.mark.parametrize("is_folder_open", [False, True])
async def test_a_file_that_may_not_be_written(open_folder: Path, *, is_folder_open: bool) -> None:
    """A read-only file, in a read-only folder or not, is named as what cannot be written, and stays as it is."""
    path = open_folder / "log.db"
    await fill(path, 20)
    path.chmod(0o444)
    open_folder.chmod(0o777 if is_folder_open else 0o755)
    before = path.read_bytes()
    appended, failure = run_restricted(path, f"uid={NOBODY}")
    assert appended == 0
    assert failure.startswith("StoreUnavailableError")
    assert "log.db" in failure
    assert path.read_bytes() == before


@needs_root
async def test_a_folder_that_may_not_be_written(open_folder: Path) -> None:
    """A new database in a folder that may not be written is refused with the path, and nothing is made."""
    appended, failure = run_restricted(open_folder / "log.db", f"uid={NOBODY}")
    assert appended == 0
    assert failure.startswith("StoreUnavailableError")
    assert list(open_folder.iterdir()) == []


async def test_a_file_that_may_grow_no_more(tmp_path: Path) -> None:
    """When the file may not grow, the append that does not fit fails whole; what returned before is there."""
    path = tmp_path / "log.db"
    appended, failure = run_restricted(path, "file_bytes=1200000")
    assert failure.startswith("StoreUnavailableError")
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=4_000)
        assert len(await read_log(session)) == appended > 10
        assert (await session.verify()).is_sound
        assert await engine.admin.check_store() == []
        assert await session.append({"role": "user", "content": "Now there is room."}) == [appended + 1]


@pytest.fixture
def full_disk() -> Iterator[Path]:
    """A disk of a megabyte."""
    folder = Path(mkdtemp())
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)
    folder.rmdir()


@needs_root
async def test_a_full_disk(full_disk: Path) -> None:
    """When the disk is full, the append that does not fit fails whole and says so; with room again, the log goes on."""
    path = full_disk / "log.db"
    wire = {"role": "user", "content": "So be it. " * 400}
    ballast = full_disk / "ballast"
    ballast.write_bytes(b"x" * 100_000)
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=4_000)
        with pytest.raises(StoreUnavailableError, match=r"full|room") as refusal:
            for _ in range(1_000):
                await session.append(wire)
        assert refusal.value.retryable
        stored = await read_log(session)
        ballast.unlink()
        assert await session.append(wire) == [len(stored) + 1]
        assert (await session.verify()).is_sound
        assert await engine.admin.check_store() == []
