"""A process killed inside an erase has erased nothing, and one killed behind it everything; the rest is finished later."""

import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.forks import Forks

import everfold
from everfold import Everfold
from everfold.testing.kit.builders import assistant, talk, user

FORGETTER = Path(__file__).with_name("forgetter.py")
NEEDLE = "zugzwang"
ON = {"memory": {"system": "structured"}}
POINTS = [
    ("wipe", "anonymise_user_calls"),
    ("wipe", "bury_session"),
    ("wipe", "erase_session_words"),
    ("wipe", "erase_session_messages"),
    ("wipe", "erase_session_row"),
    ("wipe", "optimize_search"),
    ("wipe", "write_memory_head"),
    ("wipe", "wipe_items"),
    ("wipe", "wipe_session_memory"),
    ("wipe", "insert_audit"),
    ("session", "update_item"),
    ("session", "erase_session_digests"),
    ("session", "optimize_search"),
    ("message", "erase_message"),
    ("message", "delete_evidence"),
    ("message", "optimize_search"),
]


async def fill(path: Path) -> dict[str, object]:
    """A database in which the word is nearly everywhere, and what can be read of it."""
    async with everfold.open(f"sqlite:///{path}", settings=ON) as engine:
        session = await engine.session(user="ada", limit=3000)
        await session.append([user(f"Remember: my boat is called {NEEDLE}."), assistant("Noted.")])
        await session.append(talk(30))
        await session.window()
        await (await engine.memory(user="ada")).dream()
        return await read(engine)


async def read(engine: Everfold) -> dict[str, object]:
    """What memory and the log hold."""
    document = await engine.export_user("ada")
    sessions = [await engine.session(id=record.id) for record in await engine.list_sessions(user="ada")]
    logs = [[message.view.text for message in await session.messages(1, 99)] for session in sessions]
    return {**document, "audit": None, "logs": logs}


@dataclass(frozen=True)
class Filled:
    """A database, and what it holds."""

    path: Path
    before: dict[str, object]


@pytest.fixture(scope="module")
async def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A database with a user's sessions and memory, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "log.db"
    return Filled(path=path, before=await fill(path))


@pytest.fixture
def path(filled: Filled, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(filled.path, tmp_path / "log.db"))


def run_forgetter(forks: Forks, path: Path, what: str, statement: str) -> None:
    """Run an erase until it is killed."""
    done = forks.run(FORGETTER.read_text("utf-8"), str(path), what, statement)
    assert done.returncode == -signal.SIGKILL, f"{statement} was never reached: {done.stderr[-800:]}"


@pytest.mark.parametrize(("what", "statement"), POINTS)
async def test_an_erase_killed_within_has_erased_nothing(
    forks: Forks, what: str, statement: str, filled: Filled, path: Path
) -> None:
    """Everything is as it was, whatever the erase had done by then; done again it is whole."""
    run_forgetter(forks, path, what, statement)
    async with everfold.open(f"sqlite:///{path}", settings=ON) as engine:
        assert await engine.admin.check_store() == []
        assert await read(engine) == filled.before
        await engine.wipe("ada", transcripts=True)
        assert await engine.admin.verify_erased(user="ada", words=[NEEDLE]) == []
        assert not _holds(path.parent)


@pytest.mark.parametrize("what", ["wipe", "session", "message"])
async def test_an_erase_killed_behind_its_commit_is_finished_later(forks: Forks, what: str, path: Path) -> None:
    """Nothing of it can be read, and a later pass clears the files."""
    run_forgetter(forks, path, what, "after")
    async with everfold.open(f"sqlite:///{path}", settings=ON) as engine:
        assert await engine.admin.verify_erased(user="ada", words=[NEEDLE]) == []
        assert await engine.admin.finish_erasing()
        assert not _holds(path.parent)
        assert await engine.admin.check_store() == []


def _holds(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if NEEDLE.encode() in file.read_bytes().lower()]
