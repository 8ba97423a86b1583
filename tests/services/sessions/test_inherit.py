"""What a session has folded is folded in the sessions that go on from it, whatever became of the model's digests."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import everfold
from everfold import Everfold, Session, Window
from everfold.testing.kit.builders import assistant, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

LIMIT = 12_000
STATES = {"refusal": "degraded", "unavailable": "pending"}
Switch = Literal["branch", "rewind"]


def make_script(path: Path, fault: str) -> str:
    """A model that always fails in one way; without a fault it writes good digests."""
    path.write_text(json.dumps({"fault": fault} if fault else {"digest": "echo"}))
    return f"script:{path}"


async def go_on(session: Session, how: Switch, seq: int) -> Session:
    """The session that goes on from a message of another."""
    return await (session.branch(seq) if how == "branch" else session.rewind(seq))


def words_of(window: Window) -> str:
    """All that a window says."""
    return str(window.render("openai"))


@pytest.mark.parametrize("how", ["branch", "rewind"])
@pytest.mark.parametrize("fault", ["", "refusal", "unavailable"])
async def test_a_fold_is_inherited_whatever_its_digest_came_to(
    url: str, tmp_path: Path, fault: str, how: Switch
) -> None:
    """A branch shows the watermark and the digests of its parent, so do its own branches, and all of them verify."""
    settings = {"model": {"name": make_script(tmp_path / "model.jsonl", fault)}, "compaction": {"retries": 0}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        parent = await engine.session(limit=LIMIT)
        await parent.append(talk(12))
        await parent.compact(keep_recent=4)
        (compaction,) = await parent.inspect.compactions()
        assert compaction.state == STATES.get(fault, "done")
        before = (await parent.window()).report
        assert before.compacted_through > 0
        child = await go_on(parent, how, 24)
        grandchild = await go_on(child, how, 22)
        for session in (child, grandchild):
            report = (await session.window()).report
            assert (report.compacted_through, report.digest_count) == (before.compacted_through, before.digest_count)
            assert (await session.verify()).is_sound
            assert await session.inspect.note() == ""
        assert (await child.window()).report.tokens <= before.tokens


async def test_what_is_begun_again_stays_the_parents(url: str, tmp_path: Path) -> None:
    """A digest that a person has written again is shown by the parent; the branch keeps what it inherited."""
    script = tmp_path / "model.jsonl"
    script.write_text('{"fault": "refusal", "times": 4}\n{"digest": "echo"}\n')
    settings = {"model": {"name": f"script:{script}"}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        parent = await engine.session(limit=LIMIT)
        await parent.append(talk(12))
        await parent.compact(keep_recent=4)
        (compaction,) = await parent.inspect.compactions()
        assert compaction.state == "degraded"
        child = await parent.branch(24)
        before = await child.window()
        assert (await parent.inspect.retry(compaction.id)).state == "done"
        assert words_of(await child.window()) == words_of(before)
        assert words_of(await parent.window()) != words_of(before)
        assert (await child.verify()).is_sound
        assert (await parent.verify()).is_sound


@pytest.mark.parametrize("fault", ["refusal", "unavailable"])
async def test_an_erase_between_reaches_what_was_inherited(url: str, tmp_path: Path, fault: str) -> None:
    """After a folded message is erased, no session that inherited its fold has its words, and all of them verify."""
    settings = {"model": {"name": make_script(tmp_path / "model.jsonl", fault)}, "compaction": {"retries": 0}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        parent = await engine.session(limit=LIMIT)
        await parent.append([user("Never put the word xylograph into a letter."), *talk(12)])
        await parent.append(talk(4, topic="quarry", first=20))
        await parent.compact(keep_recent=4)
        early = await parent.branch(30)
        await parent.erase(1)
        late = await parent.branch(30)
        for session in (parent, early, late):
            window = await session.window()
            assert window.report.compacted_through > 0
            assert "xylograph" not in words_of(window)
            assert (await session.verify()).is_sound


async def test_resuming_shows_what_was_folded(url: str, tmp_path: Path) -> None:
    """A session that is made current again shows its folds, and a new one between inherits none."""
    settings = {"model": {"name": make_script(tmp_path / "model.jsonl", "refusal")}, "compaction": {"retries": 0}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        first = await engine.session(limit=LIMIT)
        await first.append(talk(12))
        await first.compact(keep_recent=4)
        before = await first.window()
        second = await first.new()
        assert (await second.window()).report.compacted_through == 0
        await first.integration.resume()
        again = await engine.session(limit=LIMIT)
        assert again.id == first.id
        assert words_of(await again.window()) == words_of(before)


async def talk_on(engine: Everfold, turns_count: int) -> tuple[int, int, list[str]]:
    """How many sessions and calls of the model so many turns make, and why their windows broke the cache."""
    session = await engine.session(user="ada", limit=LIMIT)
    reasons: list[str] = []
    for number in range(turns_count):
        await session.append(
            [user(f"And berth {number}?"), assistant(f"Berth {number} is noted as BX-{number:04}. " * 60)]
        )
        reasons += [one.reason for one in (await session.window()).report.cache_breaks]
    sessions = await engine.list_sessions(user="ada")
    calls = [call for one in sessions for call in await (await engine.session(id=one.id)).inspect.calls()]
    return len(sessions), len(calls), reasons


@pytest.mark.parametrize("fault", [pytest.param("", marks=pytest.mark.slow), "refusal"])
async def test_rotation_folds_no_oftener(tmp_path: Path, fault: str) -> None:
    """A session that rotates at each compaction compacts, and asks the model, exactly as often as one that does not."""
    made: list[tuple[int, int, list[str]]] = []
    for rotates in (False, True):
        settings = {
            "model": {"name": make_script(tmp_path / "model.jsonl", fault)},
            "compaction": {"synchronous": True, "retries": 0},
            "sessions": {"rotate_on_compaction": rotates},
        }
        async with everfold.open("memory://", settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
            made.append(await talk_on(engine, 60))
    (_, calls, staying), (sessions, rotating_calls, rotating) = made
    folds = [reason for reason in staying if reason != "session"]
    assert len(folds) > 2
    assert rotating_calls == calls > 0
    assert [reason for reason in rotating if reason != "session"] == folds
    assert sessions == 1 + len(folds)
    assert rotating.count("session") <= len(folds)


async def test_a_branch_meets_no_occasion_again(url: str) -> None:
    """The exchanges that a cadence has counted are not counted again by a branch, wherever it begins."""
    settings = {"compaction": {"synchronous": True, "continuous_interval": 5, "min_fold_tokens": 0, "keep_recent": 2}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        parent = await engine.session(limit=32_000)
        for number in range(8):
            await parent.append(talk(1, first=number))
            await parent.window()
        counted = (await parent.inspect.state()).cadence_turns
        assert counted == 5
        for seq in (16, 14):
            branch = await parent.branch(seq)
            before = len(await branch.inspect.compactions())
            await branch.window()
            assert len(await branch.inspect.compactions()) == before
            assert (await branch.inspect.state()).cadence_turns == counted


async def test_a_rotation_keeps_the_breaker_open(url: str) -> None:
    """A session that goes on where another stands knows of its stuck compactions, its last absence and its growth."""
    async with everfold.open(url, clock=FakeClock(), ids=CountingIds()) as engine:
        parent = await engine.session(limit=LIMIT)
        await parent.append(talk(4))
        state = await parent.inspect.state()
        stuck = replace(state, revision=state.revision + 1, stuck_count=2)
        await parent._store.write_state(parent.id, stuck, expected_revision=state.revision)
        child = await (await engine.session(id=parent.id)).branch(8)
        after = await child.inspect.state()
        assert (after.stuck_count, after.active_at, after.away_since, after.growth) == (
            2,
            state.active_at,
            state.away_since,
            state.growth,
        )
