"""Files that hold users' words belong to their owner alone."""

import json
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.forks import Forks

from everfold.adapters.system.private_files import ensure_private, write_private

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")

UMASKS = (0o000, 0o022, 0o077, 0o277, 0o777)

PROGRAM = """
import asyncio, json, logging, os, sys
import everfold
logging.basicConfig()
os.umask(int(sys.argv[1], 8))

async def main():
    async with everfold.open("sqlite:///" + sys.argv[2]) as engine:
        session = await engine.session(user="ada")
        await session.append({"role": "user", "content": "I keep the spare key under the pot."})
        print(json.dumps({name: os.stat(name).st_mode & 0o777 for name in sorted(os.listdir("."))}))

asyncio.run(main())
"""


def mode_of(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def masked(umask: int) -> Iterator[None]:
    """Within it, new files lack these rights."""
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("umask", ["000", "022", "077", "277"])
def test_a_new_database_is_its_owners(forks: Forks, tmp_path: Path, umask: str) -> None:
    """Under every umask a new database, its log and its shared index are readable and writable by their owner only."""
    done = forks.run(PROGRAM, umask, "log.db", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"log.db": 0o600, "log.db-shm": 0o600, "log.db-wal": 0o600}


def test_a_database_behind_a_link_is_its_owners(forks: Forks, tmp_path: Path) -> None:
    """A link to a database that is not there yet leads to one that is its owner's."""
    (tmp_path / "link.db").symlink_to("real.db")
    done = forks.run(PROGRAM, "022", "link.db", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}
    assert (tmp_path / "real.db").is_file()


def test_an_existing_database_keeps_its_permissions(forks: Forks, tmp_path: Path) -> None:
    """A database that an administrator shares stays shared, and so do the files that SQLite makes beside it."""
    assert forks.run(PROGRAM, "022", "log.db", folder=tmp_path).returncode == 0
    (tmp_path / "log.db").chmod(0o640)
    done = forks.run(PROGRAM, "022", "log.db", folder=tmp_path)
    assert set(json.loads(done.stdout).values()) == {0o640}
    assert "every user" not in done.stderr


def test_a_database_that_everybody_can_read_is_told_of_once(forks: Forks, tmp_path: Path) -> None:
    """A process warns once of a database that every user of the machine can read, and goes on."""
    assert forks.run(PROGRAM, "022", "log.db", folder=tmp_path).returncode == 0
    (tmp_path / "log.db").chmod(0o644)
    done = forks.run(PROGRAM, "022", "log.db", folder=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("every user") == 1
    assert "chmod 600" in done.stderr
    assert mode_of(tmp_path / "log.db") == 0o644


@pytest.mark.parametrize("umask", UMASKS)
def test_a_new_text_is_its_owners(tmp_path: Path, umask: int) -> None:
    """Under every umask a file that is written anew is its owner's, and can be written again."""
    path = tmp_path / "out.json"
    with masked(umask):
        write_private(path, "first, longer")
        write_private(path, "second ä")
    assert (path.read_text("utf-8"), mode_of(path)) == ("second ä", 0o600)


def test_an_existing_text_keeps_its_permissions(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is written over keeps the permissions that it has, a link leads on, and a folder is refused."""
    path, link = tmp_path / "out.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o644)
    link.symlink_to(path)
    with caplog.at_level(logging.WARNING):
        write_private(link, "new")
    assert (path.read_text(), mode_of(path), link.is_symlink()) == ("new", 0o644, True)
    assert len(caplog.records) == 1
    with pytest.raises(IsADirectoryError):
        write_private(tmp_path, "no")


def test_what_cannot_be_made_is_left_to_the_opener(tmp_path: Path) -> None:
    """A folder that is missing is no error here: the code that opens the file says what is wrong."""
    ensure_private(str(tmp_path / "missing" / "log.db"))
    assert not list(tmp_path.iterdir())
