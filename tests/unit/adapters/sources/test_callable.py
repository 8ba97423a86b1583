"""A Python function as a source: plain or async, and whatever it does, an answer or an error of ours."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everfold.adapters.sources.building import build_source
from everfold.errors import InvalidInputError, SourceError

pytestmark = pytest.mark.anyio

FROM, TO = datetime(2026, 11, 21, 20, tzinfo=UTC), datetime(2026, 11, 22, 8, tzinfo=UTC)

MODULE = """
import asyncio
import threading

def plain(prompt, *, from_at, to_at, budget_tokens):
    return f"{prompt} {from_at.isoformat()} {to_at.isoformat()} {budget_tokens} {threading.current_thread().daemon}"

async def waiting(prompt, *, from_at, to_at, budget_tokens):
    await asyncio.sleep(0)
    return "async\\x1b[2J\\u202e " + prompt

class Made:
    async def __call__(self, prompt, **given):
        return "made"

made = Made()

def nothing(prompt, **given):
    return None

def number(prompt, **given):
    return 7

def fails(prompt, **given):
    raise LookupError("no row; password=hunter2hunter2 for sk-" + "a1B2xK9qLw7TzP4mVc8RdN3yHs6GfJ5b")

def leaves(prompt, **given):
    raise SystemExit(3)

async def leaves_later(prompt, **given):
    raise SystemExit(4)

def stops(prompt, **given):
    raise StopIteration

def refuses(prompt, **given):
    from everfold.errors import NotFoundError
    raise NotFoundError("no session")

def long(prompt, **given):
    return "\\n".join(f"line {number}" for number in range(1000))

value = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of a user's own, found by its name."""
    (tmp_path / "somebodys_source.py").write_text(MODULE, "utf-8")
    (tmp_path / "leaving_source.py").write_text("raise SystemExit(5)", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "somebodys_source", raising=False)


async def _ask(function: str, budget_tokens: int = 0) -> str:
    source = build_source({"kind": "callable", "name": "own", "function": function})
    return await source.summary("hi", from_at=FROM, to_at=TO, budget_tokens=budget_tokens)


async def test_a_plain_function_runs_on_a_thread_with_all_arguments() -> None:
    """It gets what the port gets, and cannot keep the process alive."""
    told = await _ask("somebodys_source:plain", 500)
    assert told == "hi 2026-11-21T20:00:00+00:00 2026-11-22T08:00:00+00:00 500 True"


async def test_async_functions_and_callable_objects() -> None:
    """What has to be awaited is awaited, and its answer is cleaned."""
    assert await _ask("somebodys_source:waiting") == "async[2J hi"
    assert await _ask("somebodys_source:made") == "made"


async def test_nothing_is_the_empty_text() -> None:
    """None means that nothing happened."""
    assert await _ask("somebodys_source:nothing") == ""


async def test_a_long_answer_is_cut_at_a_line() -> None:
    """What does not fit the budget is counted."""
    told = await _ask("somebodys_source:long", 100)
    assert told.startswith("line 0\nline 1\n")
    assert told.endswith(" tokens]")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("somebodys_source:number", "gave a int"),
        ("somebodys_source:leaves", "raised SystemExit: 3"),
        ("somebodys_source:leaves_later", "raised SystemExit: 4"),
        ("somebodys_source:stops", "raised RuntimeError"),
        ("somebodys_source:refuses", "raised NotFoundError: no session"),
        ("leaving_source:f", "cannot be imported: SystemExit"),
        ("somebodys_source:value", "is a int"),
        ("somebodys_source:missing", "cannot be imported: AttributeError"),
        ("no_such_module_here:f", "cannot be imported: ModuleNotFoundError"),
    ],
)
async def test_a_function_that_does_not_serve_is_an_error_of_ours(function: str, says: str) -> None:
    """The error names the function, the source and what was wrong."""
    with pytest.raises(SourceError, match=says) as caught:
        await _ask(function)
    assert function in str(caught.value)
    assert "call://own" in str(caught.value)


async def test_a_secret_in_what_it_raises_is_not_repeated() -> None:
    """The reason stays, what looks like a secret goes."""
    with pytest.raises(SourceError, match="LookupError: no row") as caught:
        await _ask("somebodys_source:fails")
    assert "hunter2" not in str(caught.value)
    assert "a1B2" not in str(caught.value)


@pytest.mark.parametrize("function", ["module", "module:", ":f", "a b:c", "module:f()", "os;system:x", "../x:f"])
def test_what_is_no_import_path_is_refused_when_it_is_built(function: str) -> None:
    """Nothing is imported to find out."""
    with pytest.raises(InvalidInputError, match="is not an import path"):
        build_source({"kind": "callable", "name": "own", "function": function})
