"""What a replay reports: the same figures for people and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from typer.testing import Result

GOOD = '{"digest": "echo", "cost_usd": 0.25}'
BAD = '{"fault": "refusal", "cost_usd": 0.125}'
GONE = '{"fault": "unavailable"}'


def read(result: Result) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


def write_script(folder: Path, text: str) -> Path:
    """A script of these steps."""
    path = folder / f"script{len(list(folder.glob('script*')))}.jsonl"
    path.write_text(text, "utf-8")
    return path


def test_replay_reports_what_it_did(run: Run, transcript: Path) -> None:
    """A person reads every figure of the report; a program reads the same ones as JSON."""
    text = run("replay", transcript, "--limit", "6000").stdout
    for label in "messages,tokens in,in the window,compactions,kept,folded,digests,stable prefix".split(","):
        assert label in text
    document = read(run("replay", transcript, "--limit", "6000", "--json"))
    [replay] = document["replays"]
    assert replay["is_sound"]
    assert replay["report"]["over_budget_count"] == replay["invalid_count"] == 0
    assert replay["report"]["messages_count"] == len(transcript.read_text("utf-8").splitlines())
    assert sum(replay["report"]["compactions"].values()) > 1


def test_replay_reports_what_a_model_wrote(run: Run, transcript: Path, here: Path) -> None:
    """Digests that passed, those that did not and why, calls, tokens and cost are told, and add up."""
    script = write_script(here, f'{BAD[:-1]}, "times": 2}}\n{GOOD}')
    document = read(run("replay", transcript, "--limit", "6000", "--script", script, "--json"))
    report = document["replays"][0]["report"]
    use = report["model_use"]
    assert use["accepted_count"] == use["swapped_count"] + use["revised_count"] > 0
    assert use["faults"]["refusal"] == 2
    assert use["calls_count"] >= use["accepted_count"] + 2
    assert use["cost_usd"] == pytest.approx(2 * 0.125 + (use["calls_count"] - 2) * 0.25)
    text = run("replay", transcript, "--limit", "6000", "--script", script).stdout
    assert "2 refusal" in text
    assert "USD" in text


def test_replay_without_a_model_says_nothing_of_one(run: Run, transcript: Path) -> None:
    """No model, no row about it."""
    assert "model" not in run("replay", transcript, "--limit", "6000").stdout
    assert read(run("replay", transcript, "--limit", "6000", "--json"))["replays"][0]["report"]["model_use"] is None


def test_replay_tells_calls_that_were_not_answered(run: Run, transcript: Path, here: Path) -> None:
    """A model that is out of reach leaves a sound replay, digests on their way, and the code of its error."""
    document = read(run("replay", transcript, "--limit", "6000", "--script", write_script(here, GONE), "--json"))
    [replay] = document["replays"]
    assert replay["is_sound"]
    assert set(replay["report"]["model_use"]["errors"]) == {"model_unavailable"}
    assert replay["report"]["model_use"]["waiting_count"] > 0
