"""What commands write about users is their owner's, and what others can read is told of."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.forks import Forks

RUN = """
import os, sys
os.umask(0o022)
from everfold.cli.main import run
run()
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_databases_and_exports_are_their_owners(tmp_path: Path, command_forks: Forks) -> None:
    """A database and an export that commands make are readable by their owner only; a shared database is told of once."""

    def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = command_forks.run(RUN, *arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    run_command("users", "add", "ada", "--db", "log.db")
    done = run_command("export", "--user", "ada", "--db", "log.db", "--out", "new/ada.json")
    assert "every user" not in done.stderr
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "log.db", tmp_path / "new" / "ada.json")}
    assert modes == {"log.db": 0o600, "ada.json": 0o600}
    (tmp_path / "log.db").chmod(0o644)
    done = run_command("users", "--db", "log.db")
    assert done.stderr.count("log.db can be read or written by every user") == 1
    assert "ada" in done.stdout
