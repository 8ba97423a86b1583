"""What commands write about users is their owner's, and what others can read is told of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import os, sys
os.umask(0o022)
from everfold.cli.main import run
run()
"""


def run_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own, under the usual umask."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_databases_and_exports_are_their_owners(tmp_path: Path) -> None:
    """A database and an export that commands make are readable by their owner only; a shared database is told of once."""
    run_command(tmp_path, "users", "add", "ada", "--db", "log.db")
    done = run_command(tmp_path, "export", "--user", "ada", "--db", "log.db", "--out", "new/ada.json")
    assert "every user" not in done.stderr
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "log.db", tmp_path / "new" / "ada.json")}
    assert modes == {"log.db": 0o600, "ada.json": 0o600}
    (tmp_path / "log.db").chmod(0o644)
    done = run_command(tmp_path, "users", "--db", "log.db")
    assert done.stderr.count("log.db can be read or written by every user") == 1
    assert "ada" in done.stdout
