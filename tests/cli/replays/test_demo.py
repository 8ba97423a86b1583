"""The demonstration shows what the engine keeps, without a model."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from typer.testing import Result

from everfold.testing import check_openai_request


def read(result: Result) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


@pytest.mark.slow
def test_demo_shows_every_fact(run: Run, here: Path) -> None:
    """The demo folds its story tenfold, holds or finds every planted fact, and never shows a corrected one as current."""
    document = read(run("demo", "--json"))
    report = document["report"]
    assert document["is_sound"]
    assert report["raw_tokens"] >= 10 * report["limit_tokens"]
    for place in document["facts"]:
        is_old = place["fact"]["superseded_by"] is not None
        assert place["verbatim"] or place["quoted"] or place["search_rank"] or is_old, place
        assert not (is_old and place["quoted"]), place
    assert check_openai_request(json.loads((here / "demo" / "window.json").read_text("utf-8"))) == []
    assert {path.name for path in (here / "demo").iterdir()} == {"conversation.jsonl", "window.json", "report.html"}


def test_the_demo_calls_nobody(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever model is configured, the demo works without it, and tells its figures, its facts, and where its files are."""
    monkeypatch.setenv("EVERFOLD_MODEL__NAME", "openai:a-model-without-a-key")
    text = run("demo", "--limit", "9000", "--folder", "my out").stdout
    command = "everfold replay 'my out/conversation.jsonl'"
    told = ("planted fact", "Fennel & Clay", "corrected by message 291", "my out/report.html", "Nothing is lost.")
    for words in (*told, command):
        assert words in text
