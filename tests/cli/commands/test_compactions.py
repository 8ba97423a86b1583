"""The commands around compactions: what there is, by hand, again, given up, and with a model."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import Result

import everfold
from everfold.core.compaction.planning import Demand
from everfold.testing.kit.builders import talk

Run = Callable[..., Result]
GOOD = '{"digest": "echo", "cost_usd": 0.25}'
BAD = '{"fault": "refusal", "cost_usd": 0.125}'
GONE = '{"fault": "unavailable"}'


def read(result: Result) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


def unwrap(text: str) -> str:
    """What was printed, without the line breaks of a narrow terminal."""
    return " ".join(text.split())


def write_script(folder: Path, text: str) -> Path:
    """A script of these steps."""
    path = folder / f"script{len(list(folder.glob('script*')))}.jsonl"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def degraded(run: Run, transcript: Path, here: Path) -> Path:
    """A database in which a model refused every digest."""
    run("replay", transcript, "--limit", "7000", "--script", write_script(here, BAD), "--db", "bad.db")
    return here / "bad.db"


def list_compactions(run: Run, database: Path) -> Any:
    """The events of the replayed session."""
    return read(run("compactions", "--db", database, "--user", "replay", "--json"))["compactions"]


def test_replay_takes_one_model(run: Run, transcript: Path) -> None:
    """A model and a script at once are refused, and so is a model that cannot be had."""
    assert "give one of them" in run("replay", transcript, "--model", "openai:m", "--script", "x", code=2).stderr
    assert "OPENAI_API_KEY" in unwrap(run("replay", transcript, "--model", "openai:m", code=2).stderr)


def test_events_tell_what_was_done(run: Run, database: Path) -> None:
    """A person reads range, counts, sizes and state of each compaction; a program reads the same by name."""
    compactions = list_compactions(run, database)
    assert [compaction["ordinal"] for compaction in compactions] == list(range(1, len(compactions) + 1))
    assert all(compaction["state"] == "done" and not compaction["is_waiting"] for compaction in compactions)
    text = run("compactions", "--db", database, "--user", "replay").stdout
    for compaction in compactions:
        report = compaction["report"]
        assert f"{compaction['first_seq']}-{compaction['last_seq']}" in text
        assert f"{report['tokens_before']:,} > {report['tokens_after']:,}" in text
        assert f"{report['folded_count']} folded, {report['kept_count']} kept" in text
    assert "waits" not in text


def test_events_come_in_pages(run: Run, database: Path) -> None:
    """The newest are shown, or those after an ordinal, as many as are asked for."""

    def ordinals(*options: str) -> list[int]:
        document = read(run("compactions", "--db", database, "--user", "replay", "--json", *options))
        return [compaction["ordinal"] for compaction in document["compactions"]]

    every = ordinals()
    assert ordinals("-n", "2") == every[-2:]
    assert ordinals("-n", "2", "--after", "0") == every[:2]
    assert ordinals("--after", str(every[-1])) == []
    assert "no compactions" in run("compactions", "--db", database, "--user", "replay", "--after", "99").stdout


def test_events_tell_what_went_wrong(run: Run, degraded: Path) -> None:
    """A degraded compaction says why, what was spent on it, and how to try again."""
    compactions = list_compactions(run, degraded)
    assert {(compaction["state"], compaction["digest"]) for compaction in compactions} == {("degraded", "failed")}
    assert all("refusal" in compaction["problem"] for compaction in compactions)
    assert all(compaction["usage"]["cost_usd"] >= 2 * 0.125 for compaction in compactions)
    text = run("compactions", "--db", degraded, "--user", "replay").stdout
    assert "refusal" in text
    assert f"everfold retry {compactions[-1]['id']}" in unwrap(text)


def test_retry_exchanges_the_digest(run: Run, degraded: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model that serves, a degraded compaction is done, and a revision shows the model's digest."""
    [*_, last] = list_compactions(run, degraded)
    monkeypatch.setenv("EVERFOLD_COMPACTION__MODEL", f"script:{write_script(here, GOOD)}")
    assert read(run("retry", last["id"], "--db", degraded, "--json"))["state"] == "done"
    compactions = list_compactions(run, degraded)
    assert (compactions[-1]["trigger"], compactions[-1]["revises"]) == ("late_digest", last["id"])
    assert f"digest of {last['ordinal']}" in run("compactions", "--db", degraded, "--user", "replay").stdout
    assert "only a degraded compaction" in unwrap(run("retry", last["id"], "--db", degraded, code=4).stderr)


def test_retry_that_fails_again(run: Run, degraded: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry whose digest is refused ends with 1 and leaves the extractive one; without a model it says so."""
    [*_, last] = list_compactions(run, degraded)
    assert "no model is configured" in run("retry", last["id"], "--db", degraded, code=1).stdout
    monkeypatch.setenv("EVERFOLD_COMPACTION__MODEL", f"script:{write_script(here, BAD)}")
    assert "refusal" in run("retry", last["id"], "--db", degraded, code=1).stdout
    run("verify", "--db", degraded)


def test_compact_by_hand(run: Run, database: Path) -> None:
    """A dry run shows what would be done and writes nothing; then it is done, down to the newest messages."""
    before = list_compactions(run, database)
    dry = read(run("compact", "--db", database, "--user", "replay", "--keep-recent", "2", "--dry-run", "--json"))
    assert dry["folds"]
    assert list_compactions(run, database) == before
    assert "would be done" in run("compact", "--db", database, "--user", "replay", "--dry-run").stdout
    text = run("compact", "--db", database, "--user", "replay", "--keep-recent", "2", "--focus", "tests").stdout
    assert "=== digest" in text
    [*_, last] = list_compactions(run, database)
    assert last["trigger"] == "manual"
    assert last["report"]["tokens_after"] == dry["folds"][-1]["report"]["tokens_after"]
    again = run("compact", "--db", database, "--user", "replay", "--keep-recent", "2").stdout
    assert "nothing to fold" in again


def test_note_tells_what_is_on_its_way(run: Run, database: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a model's digest is on its way its range is named, and the event waits; before, nothing does."""
    assert "no work is pending" in run("note", "--db", database, "--user", "replay").stdout
    monkeypatch.setenv("EVERFOLD_COMPACTION__MODEL", f"script:{write_script(here, GONE)}")
    done = run("compact", "--db", database, "--user", "replay", "--keep-recent", "2").stdout
    [*_, last] = list_compactions(run, database)
    assert last["is_waiting"]
    assert last["not_before"] > f"{datetime.now(UTC):%Y-%m-%d}"
    note = read(run("note", "--db", database, "--user", "replay", "--json"))["note"]
    assert f"{last['first_seq']}-{last['last_seq']}" in note
    assert note in done
    assert note in run("note", "--db", database, "--user", "replay").stdout
    text = run("compactions", "--db", database, "--user", "replay").stdout
    assert "waits: pending" in text
    assert "next attempt from" in text


def test_cancel_gives_up_what_is_held(run: Run, here: Path) -> None:
    """A pending compaction is cancelled and reported so; a committed one is refused."""

    async def hold() -> tuple[str, str]:
        async with everfold.open(f"sqlite:///{here}/held.db") as engine:
            session = await engine.session(limit=4000)
            await session.append(talk(30))
            compactor = engine._background.worker.compactor(session._live)
            shown = (await session.compact(keep_recent=40))[0].certificate.compaction_id
            plan, _ = await compactor.plan(demand=Demand(keep_recent=2))
            assert plan is not None
            return shown, (await compactor.begin(plan)).id

    shown, held = anyio.run(hold)
    text = run("compactions", "--db", "held.db").stdout
    assert f"everfold cancel {held}" in unwrap(text)
    assert f"cancelled {held}" in run("cancel", held, "--db", "held.db").stdout
    states = {
        compaction["id"]: compaction["state"]
        for compaction in read(run("compactions", "--db", "held.db", "--json"))["compactions"]
    }
    assert (states[shown], states[held]) == ("done", "cancelled")
    assert "and committed" in unwrap(run("cancel", shown, "--db", "held.db", code=4).stderr)
    assert "there is no compaction" in run("cancel", "evt_0", "--db", "held.db", "--json", code=3).stderr
