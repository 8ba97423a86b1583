"""The shell completes commands and options, and the version is told."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.cli.conftest import Run

ASK = [sys.executable, "-c", "from everfold.cli.entry import run; run()"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("everfold ser", "serve"),
        pytest.param("everfold import --us", "--user", marks=pytest.mark.slow),
        ("everfold api-keys re", "revoke"),
    ],
)
def test_a_shell_is_told_what_may_follow(words: str, expected: str, tmp_path: Path) -> None:
    """Names of commands, of commands in groups and of options are completed."""
    environment = {
        **os.environ,
        "_EVERFOLD_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(ASK, env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert expected in done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_shell_has_a_script(run: Run, shell: str) -> None:
    """The script names the command and the variable that asks, and its shell takes it where it is installed."""
    script = run("completion", shell).stdout
    assert "everfold" in script
    assert "_EVERFOLD_COMPLETE" in script
    path = shutil.which(shell)
    if path is not None and shell == "bash":
        subprocess.run([path, "-n"], input=script, text=True, check=True, timeout=60)


def test_the_version_is_told(run: Run) -> None:
    """`--version` prints the version of the package, and does nothing else."""
    assert run("--version").stdout == f"everfold {version('everfold')}\n"
