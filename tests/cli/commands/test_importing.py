"""`everfold import` of what people have: archives, folders, databases, standard input."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.cli.conftest import Run

FIXTURES = Path(__file__).parents[2] / "data" / "transcripts"


def test_an_archive_and_a_folder_are_imported(run: Run, here: Path) -> None:
    """Sessions of every readable file are stored; others are passed over; a broken one is told, and ends with 1."""
    with zipfile.ZipFile(here / "export.zip", "w") as archive:
        archive.write(FIXTURES / "claude.json", "conversations.json")
        archive.writestr("users.json", '[{"uuid": "u", "full_name": "Ada"}]')
        archive.writestr("message_feedback.json", "[]")
    logs = here / "logs"
    logs.mkdir()
    (logs / "talk.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    (logs / "torn.json").write_text('{"mapping": ')
    told = json.loads(run("import", "export.zip", "logs", "--db", "a.db", "--json", code=1).stdout)
    assert [one["name"] for one in told["sessions"]] == [
        "A letter to the council",
        "conversations-2",
        "conversations-2 (branch 2)",
        "talk",
    ]
    assert told["passed_over"] == ["export.zip: users.json", "export.zip: message_feedback.json"]
    assert list(told["broken"]) == ["logs/torn.json"]
    shown = run("import", "export.zip", "--db", "a.db")
    assert "A letter to the council" in shown.stdout
    assert "no conversation found in: export.zip: users.json, message_feedback.json" in shown.stderr.replace("\n", " ")


def test_standard_input_is_imported(here: Path) -> None:
    """`-` reads a transcript, or an archive of one, from standard input."""
    command = [sys.executable, "-m", "everfold.cli.main", "import", "-", "--db", "a.db", "--json"]
    data = (FIXTURES / "chatgpt.json").read_bytes()
    done = subprocess.run(command, input=data, capture_output=True, cwd=here, check=True, timeout=120)
    assert [one["stored_count"] for one in json.loads(done.stdout)["sessions"]] == [6, 2, 2]


@pytest.mark.slow
def test_standard_input_is_refused_as_a_file_is(here: Path) -> None:
    """What holds no conversation, and the export of a user, end with an error where they come by a pipe."""
    command = [sys.executable, "-m", "everfold.cli.main", "import", "-", "--db", "a.db"]
    for data, told in ((b"{}", b"not a transcript"), (b'{"format": "everfold.user"}', b"import it alone")):
        done = subprocess.run(command, input=data, capture_output=True, cwd=here, check=False, timeout=120)
        assert done.returncode == 2
        assert told in done.stderr.replace(b"\n", b" ")


def test_the_hint_names_the_database(run: Run, here: Path) -> None:
    """The command that shows what was imported opens the database that holds it."""
    (here / "talk.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    assert "`everfold serve --db 'my talks.db'` shows" in run("import", "talk.jsonl", "--db", "my talks.db").stderr
    assert "`everfold serve` shows" in run("import", "talk.jsonl").stderr


def test_an_import_that_keeps_nothing_says_so(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import into memory is no longer there when it ends, and names no command that would show it."""
    (here / "talk.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    monkeypatch.setenv("EVERFOLD_STORE__URL", "memory://")
    told = run("import", "talk.jsonl").stderr
    assert "serve" not in told
    assert "--db FILE" in told
