"""The command line, run in this process, in a folder of its own."""

import json
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


@pytest.fixture
def transcript(here: Path) -> Path:
    """A file of one conversation of a coding agent, some 10,000 tokens."""
    path = here / "work.jsonl"
    path.write_text("".join(json.dumps(entry.wire) + "\n" for entry in coding_log(3, turns_count=6)), "utf-8")
    return path


@pytest.fixture
def database(run: Run, transcript: Path, here: Path) -> Path:
    """A database that the transcript was replayed into."""
    path = here / "log.db"
    run("replay", transcript, "--limit", "6000", "--db", path)
    return path
