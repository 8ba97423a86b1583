"""`everfold worker` and `serve --no-work`: refused where no queue can be."""

from pathlib import Path

import pytest
from tests.cli.conftest import Run


@pytest.mark.parametrize("command", [("worker",), ("serve", "--no-work")], ids=" ".join)
def test_a_file_has_no_workers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Over SQLite both are refused in one sentence that names the store and what to set, and no file is made."""
    monkeypatch.chdir(tmp_path)
    result = run(*command, code=2)
    assert "workers need PostgreSQL" in result.stderr
    assert "sqlite:///everfold.db" in result.stderr
    assert "workers.enabled" in result.stderr
    assert list(tmp_path.iterdir()) == []
