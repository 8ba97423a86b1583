"""`everfold api-keys`."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]
SECRET = re.compile(r"ef_[A-Za-z0-9_-]{43}")


def read(result: Result) -> Any:
    """The document that a command printed."""
    return json.loads(result.stdout)


def test_a_secret_is_printed_once(run: Run) -> None:
    """Making a key prints its secret alone on standard output, and no later command prints it or its hash."""
    made = run("api-keys", "add", "desk", "--scope", "admin", "--db", "a.db")
    assert SECRET.fullmatch(made.stdout.strip())
    assert "desk, admin" in made.stderr
    texts = [run("api-keys", "list", "--db", "a.db", *more).output for more in ((), ("--json",))]
    texts.append(run("api-keys", "revoke", "desk", "--yes", "--db", "a.db", "--json").output)
    for text in texts:
        assert made.stdout.strip() not in text
        assert "hash" not in text
        assert not re.search(r"[0-9a-f]{64}", text)


def test_keys_are_made_listed_and_revoked(run: Run) -> None:
    """A key shows what was asked for, to people and to programs, and that it ended."""
    ilse = read(run("users", "add", "ilse", "--db", "a.db", "--json"))["user_id"]
    wanted = ("phone", "--scope", "user:ilse", "--read-only", "--days", "90")
    made = read(run("api-keys", "add", *wanted, "--db", "a.db", "--json"))
    assert SECRET.fullmatch(made.pop("secret"))
    assert (made["api_key"], made["scope"], made["is_read_only"], made["state"]) == (
        "phone",
        f"user:{ilse}",
        True,
        "works",
    )
    lifetime = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert lifetime == timedelta(days=90)
    assert made["last_used_at"] is made["revoked_at"] is None
    run("api-keys", "add", "bot", "--scope", "agent:shop", "--db", "a.db")
    keys = read(run("api-keys", "list", "--db", "a.db", "--json"))["api_keys"]
    assert keys[0] == made
    assert [(it["api_key"], it["scope"], it["expires_at"]) for it in keys[1:]] == [("bot", "agent:shop", None)]
    assert (
        read(run("api-keys", "list", "--after", made["api_key_id"], "--db", "a.db", "--json"))["api_keys"] == keys[1:]
    )
    for key in ("bot", made["api_key_id"]):
        assert "revoked" in run("api-keys", "revoke", key, "--db", "a.db").stdout
    text = run("api-keys", "list", "--db", "a.db").stdout
    for words in ("user:ilse, read only", "agent:shop", "phone", "revoked", made["expires_at"][:10]):
        assert words in text
    assert [it["state"] for it in read(run("api-keys", "list", "--db", "a.db", "--json"))["api_keys"]] == [
        "revoked"
    ] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("add", "desk", "--scope", "admin"), 4, "'desk'"),
        (("add", "two", "--scope", "root"), 2, "`admin`, `user:ID` or `agent:NAME`"),
        (("add", "two", "--scope", "user:nobody"), 3, "'nobody'"),
        (("add", "key_2", "--scope", "admin"), 2, "name of an API key"),
        (("add", "two", "--scope", "admin", "--days", "0"), 2, "--days"),
        (("revoke", "two"), 3, "'two'"),
        (("revoke", "desk"), 4, "revoke this one, or confirm with --yes"),
        (("list", "--after", "key_2"), 3, "key_2"),
    ],
)
def test_an_error_is_told_in_words(run: Run, here: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    """What cannot be done ends with the exit code of its kind, says why, and makes no key."""
    run("api-keys", "add", "desk", "--scope", "admin", "--db", "a.db")
    assert words in run("api-keys", *arguments, "--db", "a.db", code=code).stderr
    assert len(read(run("api-keys", "list", "--db", "a.db", "--json"))["api_keys"]) == 1
    assert "there is no database" in run("api-keys", "list", "--db", "missing.db", code=3).stderr
    assert not (here / "missing.db").exists()
