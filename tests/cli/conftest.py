"""The command line, run in this process, in a folder of its own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.material.logs import coding_log
from typer.testing import CliRunner, Result

from everfold.cli.main import app

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path) -> Run:  # noqa: ARG001 - commands run there
    """Runs a command line and gives what came of it; an exit code that is not the expected one fails."""

    def run_command(*arguments: str | Path, code: int = 0) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="everfold")
        assert result.exit_code == code, f"{result.exit_code}: {result.output}\n{result.exception!r}"
        return result

    return run_command


def write_transcript(folder: Path) -> Path:
    """A file of one conversation of a coding agent, some 10,000 tokens."""
    path = folder / "work.jsonl"
    path.write_text("".join(json.dumps(entry.wire) + "\n" for entry in coding_log(3, turns_count=6)), "utf-8")
    return path


@pytest.fixture
def transcript(here: Path) -> Path:
    """The transcript, where commands run."""
    return write_transcript(here)


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that the transcript was replayed into, to be copied."""
    folder = tmp_path_factory.mktemp("replayed")
    path = folder / "log.db"
    command = ["replay", str(write_transcript(folder)), "--limit", "6000", "--db", str(path)]
    assert CliRunner().invoke(app, command, prog_name="everfold").exit_code == 0
    return path


@pytest.fixture
def database(replayed: Path, transcript: Path) -> Path:
    """A copy of it, beside the transcript."""
    return Path(shutil.copy(replayed, transcript.with_name("log.db")))
