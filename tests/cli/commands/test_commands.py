"""Every command does what it says, for people and for programs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from everfold.testing import check_anthropic_request, check_openai_request

Run = Callable[..., Result]


def read(result: Result) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("provider", "check"), [("openai", check_openai_request), ("anthropic", check_anthropic_request)]
)
def test_replay_writes_the_request(run: Run, transcript: Path, here: Path, provider: str, check: Any) -> None:
    """What `--out` writes is a request that the chosen provider accepts."""
    run("replay", transcript, "--limit", "6000", "--provider", provider, "--out", here / "new" / "window.json")
    assert check(json.loads((here / "new" / "window.json").read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "named",
    [
        ("--out", "work.jsonl"),
        ("--html", "./work.jsonl"),
        ("--out", "a", "--html", "a"),
        ("--out", "t.db", "--db", "t.db"),
    ],
)
def test_replay_writes_over_nothing_that_it_reads(
    run: Run, transcript: Path, here: Path, named: tuple[str, ...]
) -> None:
    """Two options that name one file are refused before anything is written; the transcript and the database stay."""
    before = transcript.read_bytes()
    assert "both name" in run("replay", transcript, *named, code=2).stderr
    assert transcript.read_bytes() == before
    assert list(here.iterdir()) == [transcript]


def test_export_does_not_write_over_its_database(run: Run, transcript: Path, here: Path) -> None:
    """An export into the file of the database that it reads is refused, and the database is as it was."""
    run("import", transcript, "--db", "t.db")
    assert "both name" in run("export", "--db", "t.db", "--out", here / "t.db", code=2).stderr
    run("verify", "--db", "t.db")


@pytest.mark.parametrize("command", [("replay",), ("import", "--db", "t.db")])
def test_a_message_that_does_not_fit_is_told_with_file_and_line(run: Run, here: Path, command: tuple[str, ...]) -> None:
    """A result that answers no call is found in the file by the error alone, in a replay as in an import."""
    path = here / "orphan.jsonl"
    result = {"role": "tool", "tool_call_id": "none", "content": "found"}
    path.write_text(json.dumps({"role": "user", "content": "Hello."}) + "\n" + json.dumps(result) + "\n", "utf-8")
    assert f"{path.name}: line 2: " in run(*command, path.name, code=2).stderr


def test_replay_chooses_conversations(run: Run, here: Path) -> None:
    """A number plays one conversation, `all` each on its own, `chain` all in one session; the default says that it is one."""
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    path = here / "two.jsonl"
    path.write_text("".join(json.dumps({"messages": talk}) + "\n" for _ in range(2)), "utf-8")

    def count(choice: str) -> list[int]:
        document = read(run("replay", path, "--conversation", choice, "--json"))
        return [replay["report"]["messages_count"] for replay in document["replays"]]

    assert (count("2"), count("all"), count("chain")) == ([2], [2, 2], [4])
    assert "two-1" in run("replay", path, "--conversation", "all").stdout
    assert "has 2 conversations" in run("replay", path).stderr
    assert "a number from 1 to 2" in run("replay", path, "--conversation", "3", code=2).stderr
    assert "--conversation chain" in run("replay", path, "--conversation", "all", "--html", "x.html", code=2).stderr


def test_replay_names_the_smallest_limit(run: Run, transcript: Path) -> None:
    """A limit that cannot work ends with 5 and names one that works."""
    message = run("replay", transcript, "--limit", "700", code=5).stderr
    smallest = message.replace("\n", " ").rsplit(maxsplit=1)[-1].strip(".").replace(",", "")
    assert run("replay", transcript, "--limit", smallest).exit_code == 0
    assert run("replay", transcript, "--limit", str(int(smallest) - 1), code=5).exit_code == 5


def test_import_stores_and_lists(run: Run, transcript: Path) -> None:
    """What was imported is listed, shown and found by search."""
    [imported] = read(run("import", transcript, "--db", "a.db", "--user", "ilse", "--json"))["sessions"]
    [listed] = read(run("sessions", "--db", "a.db", "--user", "ilse", "--json"))["sessions"]
    assert listed["id"] == imported["session"]
    assert listed["messages_count"] == imported["stored_count"] == imported["messages_count"]
    assert imported["session"] in run("sessions", "--db", "a.db").stdout.replace("\n", "")
    assert "work" in run("import", transcript, "--db", "a.db").stdout


def test_import_stores_nothing_of_a_broken_file(run: Run, here: Path) -> None:
    """A broken file ends with 2, names its line, and leaves no session."""
    path = here / "broken.jsonl"
    path.write_text(
        '{"role": "user", "content": "a"}\n{"role": "tool", "tool_call_id": "x", "content": "b"}\n', "utf-8"
    )
    assert "line 2" in run("import", path, "--db", "a.db", code=2).stderr
    assert read(run("sessions", "--db", "a.db", "--json"))["sessions"] == []


def test_show_reads_messages(run: Run, transcript: Path) -> None:
    """Messages are read by number, range, neighbourhood and page, whole and as they were given."""
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    run("import", transcript, "--db", "a.db")

    def seqs(*options: str) -> list[int]:
        return [message["seq"] for message in read(run("show", "--db", "a.db", "--json", *options))["messages"]]

    assert seqs("--seq", "3") == [3]
    assert seqs("--seq", "3-5") == [3, 4, 5]
    assert seqs("--around", "9") == list(range(6, 13))
    assert seqs() == list(range(len(lines) - 19, len(lines) + 1))
    [message] = read(run("show", "--db", "a.db", "--seq", "2", "--json"))["messages"]
    assert message["wire"] == lines[1]
    page = read(run("show", "--db", "a.db", "--seq", "1", "--page", "1", "--json"))
    assert page["text"] == lines[0]["content"]
    assert "> 9 " in run("show", "--db", "a.db", "--around", "9").stdout
    assert "page 1 of 1" in run("show", "--db", "a.db", "--seq", "1", "--page", "1").stdout


def test_show_previews_the_window(run: Run, transcript: Path) -> None:
    """The window is shown by slice, as a request, and for a lower limit, and looking at it changes nothing."""
    run("import", transcript, "--db", "a.db", "--limit", "8000")
    [before] = read(run("sessions", "--db", "a.db", "--json"))["sessions"]
    document = read(run("show", "--db", "a.db", "--window", "--limit", "2000", "--json"))
    assert document["report"]["tokens"] <= document["report"]["budget_tokens"] < 2000
    assert check_openai_request(document["request"]) == []
    text = run("show", "--db", "a.db", "--window").stdout
    assert "digest" in text
    assert "budget" in text
    whole = read(run("show", "--db", "a.db", "--window", "--json"))
    assert document["report"]["compacted_through"] > whole["report"]["compacted_through"] > 0
    [session] = read(run("sessions", "--db", "a.db", "--json"))["sessions"]
    assert session["compactions_count"] == before["compactions_count"]


def test_search_finds_words(run: Run, transcript: Path) -> None:
    """A search finds the message that says so, over all sessions of a user or in one, and says when it finds nothing."""
    text = next(json.loads(line)["content"] for line in transcript.read_text("utf-8").splitlines())
    run("import", transcript, "--db", "a.db")
    [session] = read(run("sessions", "--db", "a.db", "--json"))["sessions"]
    hits = read(run("search", text[:80], "--db", "a.db", "--json"))["hits"]
    assert hits[0]["seq"] == 1
    assert hits == read(run("search", text[:80], "--db", "a.db", "--session", session["id"], "--json"))["hits"]
    assert session["id"] in run("search", text[:80], "--db", "a.db").stdout
    assert "nothing found" in run("search", "zzyzx", "--db", "a.db").stdout
    assert read(run("search", text[:80], "--db", "a.db", "--user", "nobody", "--json"))["hits"] == []


def test_search_takes_roles_and_times(run: Run, transcript: Path) -> None:
    """A search narrows to roles and a span of time, and refuses what is none of them."""
    run("import", str(transcript), "--db", "a.db")
    asked = ("search", "order please", "--db", "a.db", "--count", "200")
    hits = read(run(*asked, "--json"))["hits"]
    for option in ((), ("--session", hits[0]["session"])):
        here = [hit for hit in hits if not option or hit["session"] == option[1]]
        assert read(run(*asked, *option, "--role", "user", "--json"))["hits"] == [
            hit for hit in here if hit["role"] == "user"
        ]
        both = read(run(*asked, *option, "--role", "user", "--role", "assistant", "--since", "2001-01-01", "--json"))
        assert both["hits"] == [hit for hit in here if hit["role"] in {"user", "assistant"}]
        assert read(run(*asked, *option, "--until", "2001-01-01", "--json"))["hits"] == []
    assert {hit["role"] for hit in hits} > {"user"}
    assert "roles must be one of" in run(*asked, "--role", "robot", code=2).stderr
    assert "--since takes a date" in run(*asked, "--since", "soon", code=2).stderr


def test_verify_finds_nothing_in_a_sound_store(run: Run, database: Path) -> None:
    """A store that was not touched verifies, as a whole and by session."""
    document = read(run("verify", "--db", database, "--json"))
    assert document["store"] == []
    [verified] = document["sessions"]
    assert verified["problems"] == []
    assert verified["compactions_count"] > 1
    assert verified["session"] in run("verify", "--db", database, "--session", verified["session"]).stdout


def test_verify_ends_with_1_and_says_what_is_wrong(run: Run, database: Path) -> None:
    """A message whose bytes were changed behind our back is found, named, and the exit code tells a script."""
    import apsw

    with apsw.Connection(str(database)) as connection:
        connection.execute("UPDATE messages SET content = CAST('{}' AS BLOB) WHERE seq = 4")
    connection.close()
    text = run("verify", "--db", database, code=1).stdout
    assert "its bytes do not match" in text
    [verified] = read(run("verify", "--db", database, "--json", code=1))["sessions"]
    assert {problem["seq"] for problem in verified["problems"]} == {4}


def test_config_tells_where_a_value_came_from(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment outranks file, file outranks default, and each value says so."""
    (here / "shop.toml").write_text("[model]\ncontext_limit = 9000\nanswer_tokens = 500\n", "utf-8")
    monkeypatch.setenv("EVERFOLD_MODEL__CONTEXT_LIMIT", "7000")
    rows = read(run("--config", "shop.toml", "config", "--json"))["settings"]
    found = {row["key"]: (row["value"], row["from"]) for row in rows}
    assert found["model.context_limit"] == (7000, "environment")
    assert found["model.answer_tokens"] == (500, "file")
    assert found["compaction.trigger_ratio"] == (None, "default")
    assert "environment" in run("--config", "shop.toml", "config").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("replay", "missing.json"), 3, "missing.json does not exist"),
        (("replay", "."), 2, "text.db: line 1, column 1: this is not JSON"),
        (("import", "missing.json"), 3, "does not exist"),
        (("sessions", "--db", "missing.db"), 3, "there is no database missing.db"),
        (("show", "--db", "missing.db"), 3, "there is no database"),
        (("search", "x", "--db", "missing.db"), 3, "there is no database"),
        (("verify", "--db", "text.db"), 7, "text.db"),
        (("--config", "missing.toml", "config"), 2, "there is no settings file"),
        (("sessions", "--count", "0"), 2, "--count"),
        (("demo", "--limit", "-5"), 2, "positive whole number"),
        (("demo", "--limit", "500"), 5, "is too small for a new session"),
        (("demo", "--folder", "text.db"), 2, "cannot be written"),
        (("nothing",), 2, "nothing"),
    ],
)
def test_an_error_is_told_in_words(run: Run, here: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    """What cannot be done ends with the exit code of its kind and says why on stderr, without a traceback."""
    (here / "text.db").write_text("this is no database at all, " * 50, "utf-8")
    result = run(*arguments, code=code)
    assert words in result.stderr.replace("\n", " ")
    assert result.stdout == ""
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "ses_0"), 3, "there is no session 'ses_0'"),
        (("show", "--user", "nobody"), 3, "'nobody'"),
        (("show", "--seq", "x"), 2, "12-20"),
        (("show", "--page", "1"), 2, "--seq"),
        (("show", "--user", "replay", "--seq", "9999"), 3, "9999"),
        (("show", "--user", "replay", "--window", "--limit", "99999"), 2, "99999"),
        (("verify", "--session", "ses_0"), 3, "ses_0"),
    ],
)
def test_an_unknown_thing_is_named(run: Run, database: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    """What a database does not have is named in the error."""
    assert words in run(*arguments, "--db", database, code=code).stderr.replace("\n", " ")


def test_debug_shows_where_an_error_comes_from(run: Run) -> None:
    """With --debug an error of ours is not caught."""
    from everfold.errors import NotFoundError

    result = run("--debug", "replay", "missing.json", code=1)
    assert isinstance(result.exception, NotFoundError)


def test_text_of_messages_cannot_reach_the_terminal(run: Run, here: Path) -> None:
    """Escape sequences, markup and lone surrogates of a message are shown as text and do nothing."""
    path = here / "evil.jsonl"
    text = "\x1b[2J[bold]wipe[/bold] \u202e gone \ud800"
    path.write_text(json.dumps({"role": "user", "content": text}) + "\n", "utf-8")
    run("import", path, "--db", "a.db")
    shown = run("show", "--db", "a.db").stdout
    assert "[bold]wipe[/bold]" in shown
    assert not {"\x1b", "\u202e", "\ud800"} & set(shown)
    [message] = read(run("show", "--db", "a.db", "--json"))["messages"]
    assert message["wire"]["content"] == text


def test_runs_as_a_program(transcript: Path, project: Path) -> None:
    """As a process of its own it prints one JSON document on stdout, nothing on stderr, and takes what the shell gives."""
    command = [sys.executable, "-m", "everfold.cli.main", "replay", str(transcript), "--limit", "6000", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout)["replays"][0]["is_sound"]
    assert done.stderr == ""
