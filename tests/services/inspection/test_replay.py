"""A replay measures what a live session would have done, and changes nothing of it."""

import json
from typing import cast

import pytest
from bench.material.logs import chat_log, coding_log
from tests.support.proofs import find_suffix

import everfold
from everfold import Everfold, render
from everfold.core.log.transcripts import TranscriptMessage
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError
from everfold.services.inspection.replay import ReplayTurn
from everfold.session import Session
from everfold.testing.kit.fakes import CountingIds, FakeClock


def read_log(*, coding: bool = True) -> list[TranscriptMessage]:
    """A seeded log as the messages of a file."""
    entries = coding_log(3, turns_count=6) if coding else chat_log(3, messages_count=40)
    return [
        TranscriptMessage(wire=cast("JsonObject", entry.wire), wire_format="openai", said_at=entry.said_at, line=line)
        for line, entry in enumerate(entries, 1)
    ]


async def play(session: Session, messages: list[TranscriptMessage]) -> tuple[list[ReplayTurn], Session]:
    """Every turn of a replay."""
    return [turn async for turn in session.inspect.replay(messages).turns()], session


async def test_asks_for_a_window_whenever_the_model_speaks_next(engine: Everfold) -> None:
    """There is one request before each message of the model and one at the end, no more."""
    messages = read_log()
    turns, _ = await play(await engine.session(limit=8000), messages)
    roles = [message.wire["role"] for message in messages]
    due = [index for index in range(1, len(roles)) if roles[index] == "assistant"]
    assert [turn.played_count for turn in turns] == sorted({*due, len(roles)})


async def test_shows_what_a_live_session_shows(engine: Everfold, url: str) -> None:
    """The last request of a replay is, byte for byte, what a session fed by hand would send, in a store of its own."""
    messages = read_log()
    turns, _ = await play(await engine.session(limit=6000), messages)
    own_url = url.replace("everfold.db", "live.db")  # recall ranks by all that a store holds
    async with everfold.open(own_url, clock=FakeClock(), ids=CountingIds()) as other:
        live = await other.session(limit=6000)
        for index, message in enumerate(messages):
            await live.append(message.wire, said_at=message.said_at)
            if index + 1 == len(messages) or messages[index + 1].wire["role"] == "assistant":
                window = await live.window()
    assert json.dumps(turns[-1].request) == json.dumps(render(window, "openai"))
    assert find_suffix(window)
    assert turns[-1].compactions_count > 0


async def test_reports_what_the_events_say(engine: Everfold) -> None:
    """Counts of a report are the sums over the session's events, every message is in one group, no window is too large."""
    messages = read_log()
    session = await engine.session(limit=6000)
    replay = session.inspect.replay(messages)
    turns = [turn async for turn in replay.turns()]
    report = await replay.report()
    compactions = [compaction.report for compaction in await session.inspect.compactions()]
    assert sum(report.compactions.values()) == len(compactions) > 1
    assert report.folded_count == sum(compaction.folded_count for compaction in compactions if compaction)
    assert report.messages_count == len(messages)
    assert report.requests_count == len(turns)
    assert report.over_budget_count == 0
    assert report.largest_window_tokens == max(turn.window.report.tokens for turn in turns) <= report.budget_tokens
    assert report.verification.is_sound
    assert report.raw_tokens > report.window_tokens


async def test_only_a_compaction_moves_the_prefix(engine: Everfold) -> None:
    """Every break of a replay is accounted for by a compaction, and without one the whole request stays."""
    folded = (await engine.session(user="a", limit=6000)).inspect.replay(read_log())
    _ = [turn async for turn in folded.turns()]
    report = await folded.report()
    assert {broken.reason for broken in report.cache_breaks} == {
        f"compaction: {trigger}" for trigger in report.compactions
    }
    assert 0.5 < report.stable_share < 1
    roomy = (await engine.session(user="b", limit=120_000)).inspect.replay(read_log())
    _ = [turn async for turn in roomy.turns()]
    whole = await roomy.report()
    assert (whole.stable_share, whole.cache_breaks, dict(whole.compactions)) == (1.0, (), {})


async def test_a_limit_that_cannot_work_names_one_that_does(engine: Everfold) -> None:
    """The limit that the error of a replay names is one at which the same replay runs."""
    messages = [
        TranscriptMessage(wire={"role": "system", "content": "Follow the rules. " * 300}, wire_format="openai", line=1),
        *read_log(coding=False),
    ]
    with pytest.raises(BudgetUnsatisfiableError) as refused:
        await play(await engine.session(user="a", limit=1800), messages)
    smallest = refused.value.smallest_limit_tokens
    turns, _ = await play(await engine.session(user="b", limit=smallest), messages)
    assert turns[-1].played_count == len(messages)


async def test_a_report_needs_a_turn(engine: Everfold) -> None:
    """A replay that has not run has nothing to report."""
    with pytest.raises(ValueError, match="no report before its first turn"):
        await (await engine.session()).inspect.replay(read_log()).report()


async def test_names_the_line_of_a_broken_message(engine: Everfold) -> None:
    """A message that is none is refused with the line of the file where it stands."""
    broken = TranscriptMessage(wire={"role": "narrator", "content": "x"}, wire_format="openai", line=7)
    with pytest.raises(InvalidInputError, match="line 7") as refused:
        (await engine.session()).inspect.replay([broken])
    assert refused.value.ids["line"] == 7
