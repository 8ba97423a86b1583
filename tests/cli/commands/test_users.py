"""`everfold users`, and how other commands name a user."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read(result: Result) -> Any:
    """The document that a command printed."""
    return json.loads(result.stdout)


_CHAT = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi."]}}
"""A message of a chat app's export."""


def test_a_user_is_added_shown_and_listed(run: Run) -> None:
    """Who was added is shown by name, id and in the list, with all places where they are reached."""
    bind = ("--bind", "telegram:12", "--bind", "mail:i@example.org")
    added = read(run("users", "add", "Ilse Fennel", *bind, "--db", "a.db", "--json"))
    assert UUID.fullmatch(added["user_id"])
    assert (added["user"], added["names"], added["is_default"]) == ("Ilse Fennel", ["Ilse Fennel"], False)
    assert added["bindings"] == ["mail:i@example.org", "telegram:12"]
    for reference in ("Ilse Fennel", added["user_id"]):
        assert read(run("users", "show", reference, "--db", "a.db", "--json")) == added
    run("users", "add", "ben", "--db", "a.db")
    users = read(run("users", "--db", "a.db", "--json"))["users"]
    assert users[0] == added
    assert [it["user"] for it in users] == ["Ilse Fennel", "ben"]
    assert [
        it["user"] for it in read(run("users", "--after", added["user_id"], "--db", "a.db", "--json"))["users"]
    ] == ["ben"]
    text = run("users", "--db", "a.db").stdout
    for words in (added["user_id"], "Ilse Fennel", "telegram:12", "ben"):
        assert words in text
    assert added["user_id"] in run("users", "show", "Ilse Fennel", "--db", "a.db").stdout


def test_sessions_name_their_user(run: Run, transcript: Path) -> None:
    """A list of sessions has the name that the user was given, the id beside it for programs, and takes either."""
    run("import", transcript, "--db", "a.db", "--user", "ilse")
    run("import", transcript, "--db", "a.db")
    sessions = read(run("sessions", "--db", "a.db", "--json"))["sessions"]
    assert [it["user"] for it in sessions] == ["ilse", "default"]
    users = read(run("users", "--db", "a.db", "--json"))["users"]
    assert [it["user_id"] for it in sessions] == [it["user_id"] for it in users]
    assert read(run("sessions", "--user", users[0]["user_id"], "--db", "a.db", "--json"))["sessions"] == sessions[:1]
    text = run("sessions", "--db", "a.db").stdout
    assert "ilse" in text
    assert users[0]["user_id"] not in text
    assert read(run("users", "show", "default", "--db", "a.db", "--json"))["is_default"]


def test_sessions_are_found_by_title_and_time(run: Run, here: Path) -> None:
    """A list of sessions shows their titles, and is narrowed by a part of them and by the time of their creation."""
    chats = [
        {"title": title, "mapping": {"a": {"message": _CHAT, "parent": None}}} for title in ("Berths [b]", "Cranes")
    ]
    (here / "conversations.json").write_text(json.dumps(chats), "utf-8")
    run("import", "conversations.json", "--db", "a.db")
    sessions = read(run("sessions", "--db", "a.db", "--json"))["sessions"]
    assert [it["title"] for it in sessions] == ["Berths [b]", "Cranes"]
    assert read(run("sessions", "--title", "bERTHS", "--db", "a.db", "--json"))["sessions"] == sessions[:1]
    assert read(run("sessions", "--until", "2001-01-01", "--db", "a.db", "--json"))["sessions"] == []
    assert "Berths [b]" in run("sessions", "--since", "2001-01-01", "--db", "a.db").stdout


def test_users_of_the_settings_are_there(run: Run, here: Path, transcript: Path) -> None:
    """The first user of the settings is the default one under that name, and `config` tells all of them."""
    (here / "everfold.toml").write_text('[[users]]\nname = "Ilse"\n[[users]]\nname = "ben"\n', "utf-8")
    run("import", transcript, "--db", "a.db")
    assert [it["user"] for it in read(run("sessions", "--db", "a.db", "--json"))["sessions"]] == ["Ilse"]
    assert [it["is_default"] for it in read(run("users", "--db", "a.db", "--json"))["users"]] == [True, False]
    rows = {row["key"]: (row["value"], row["from"]) for row in read(run("config", "--json"))["settings"]}
    assert rows["users.name"] == (["Ilse", "ben"], "file")
    assert "Ilse" in run("config").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("add", "ben"), 4, "name:ben"),
        (("add", "eve", "--bind", "12"), 2, "CHANNEL:ID"),
        (("add", "default"), 2, "default"),
        (("show", "nobody"), 3, "'nobody'"),
        (("show", ""), 2, "not empty"),
        (("--after", "nobody"), 3, "nobody"),
        (("--json", "show", "ben"), 2, "after `show`"),
    ],
)
def test_an_error_is_told_in_words(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    """What cannot be done ends with the exit code of its kind and says why."""
    run("users", "add", "ben", "--db", "a.db")
    line = ("users", *arguments, "--db", "a.db")
    assert words in run(*line, code=code).stderr
    assert "there is no database" in run("users", "--db", "missing.db", code=3).stderr
