"""What a replay reports: the same figures for people and for programs."""

import json
import re
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


def test_replay_tells_what_the_talk_costs(run: Run, transcript: Path) -> None:
    """The costs of three ways are those of the report's tokens at the given prices, for people and for programs."""
    prices = ("--price", "3", "--cached-price", "0.5")
    [replay] = read(run("replay", transcript, "--limit", "6000", *prices, "--json"))["replays"]
    read_tokens = replay["report"]["input"]
    assert replay["cost"]["prices"] == {"input": 3.0, "cached": 0.5}
    for way in ("whole", "tail", "folded"):
        tokens, cached = read_tokens[way]["tokens"], read_tokens[way]["cached_tokens"]
        assert replay["cost"][way] == pytest.approx(((tokens - cached) * 3.0 + cached * 0.5) / 1e6)
    assert replay["cost"]["folded"] < replay["cost"]["whole"]
    text = run("replay", transcript, "--limit", "6000", *prices).stdout
    assert "at 3 per million input tokens, 0.5 cached" in text
    told = [float(number) for number in re.findall(r"\d\.\d{4}", text)]
    assert pytest.approx(replay["cost"]["folded"], rel=2e-3) in told  # the marks of another session have other tokens


def test_replay_tells_tokens_sent_again(run: Run, transcript: Path) -> None:
    """Tokens sent again are the sum over the cache breaks, and stand in the report per token that came in."""
    [replay] = read(run("replay", transcript, "--limit", "6000", "--json"))["replays"]
    report = replay["report"]
    assert report["resent_tokens"] == sum(broken["resent_tokens"] for broken in report["cache_breaks"]) > 0
    text = run("replay", transcript, "--limit", "6000").stdout
    assert f"{report['resent_tokens']:,} tokens sent again, {report['resent_per_token']:.2f} per token in" in text
    assert f"{report['uncached_per_token']:.2f}" in text


def test_each_of_several_replays_tells_tokens_sent_again(run: Run, transcript: Path, here: Path) -> None:
    """A line of several replays has the tokens sent again per token in, and so has the page of one."""
    run("replay", transcript, "--limit", "6000", "--html", "report.html")
    assert "sent again per token in" in (here / "report.html").read_text("utf-8")
    talk = '{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}\n'
    (here / "talks.jsonl").write_text(talk * 2, "utf-8")
    text = run("replay", "talks.jsonl", "--conversation", "all").stdout
    assert "sent" in text
    assert "0.00" in text


def test_replay_refuses_a_price_below_nothing(run: Run, transcript: Path) -> None:
    """A negative price is no price."""
    assert "--price" in run("replay", transcript, "--price", "-1", code=2).output


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
