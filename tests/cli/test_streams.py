"""A command works on any stream: closed, full, of another encoding, a pipe; and it can be broken off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Run

TALK = '{"role": "user", "content": "How much? 5 \u00b5g \u2192 6"}\n{"role": "assistant", "content": "As you say."}\n'


def _run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command line with `everfold` in it, in a shell of its own."""
    line = command.replace("everfold", f'"{sys.executable}" -m everfold.cli.main')
    env = {**os.environ, **environment}
    return subprocess.run(["/bin/sh", "-c", line], cwd=folder, env=env, capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a talk in it."""
    (tmp_path / "talk.jsonl").write_text(TALK, "utf-8")
    return tmp_path


def test_an_encoding_that_lacks_a_character_shows_another_for_it(folder: Path) -> None:
    """What a stream's encoding cannot say is a question mark, and the rest is printed."""
    done = _run("everfold import talk.jsonl --db t.db && everfold show --db t.db", folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"How much? 5 ?g ? 6" in done.stdout


def test_a_closed_stream_keeps_nothing_from_being_done(folder: Path, run: Run) -> None:
    """An import whose output is closed stores the file and ends well."""
    assert _run("everfold import talk.jsonl --db t.db >&- 2>&-", folder).returncode == 0
    assert "As you say." in run("show", "--db", str(folder / "t.db")).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told_in_one_sentence(folder: Path) -> None:
    """Output that cannot be written ends with an error of ours, not with a traceback."""
    done = _run("everfold config --json >/dev/full", folder)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: The output cannot be written")
    assert b"Traceback" not in done.stderr


def test_a_pipe_is_read_once_and_whole(folder: Path, run: Run) -> None:
    """A transcript that comes through a pipe is imported as one from a file is."""
    done = _run("cat talk.jsonl | everfold import /dev/stdin --db t.db", folder)
    assert done.returncode == 0, done.stderr
    assert "As you say." in run("show", "--db", str(folder / "t.db")).stdout
