"""What compactions tell while they work beside the turns: the feed, spans, the stored events and the calls."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest
from bench.material.logs import coding_log
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import everfold
from everfold import Everfold, OtelTracer, Session
from everfold.core.observation.events import (
    CompactionCommitted,
    CompactionDegraded,
    DigestJudged,
    Event,
    ModelCalled,
)
from everfold.errors import HookError, NotFoundError

LIMIT = 6000
NEEDLE = "BUG"
GOOD = '{"digest": "echo", "cost_usd": 0.25}'
BAD = '{"fault": "refusal", "cost_usd": 0.125}'
VAGUE = '{"digest": "poor"}'


def settings(folder: Path, script: str, *, synchronous: bool = False) -> Mapping[str, Mapping[str, object]]:
    """A model that follows a script, beside the turns or within them."""
    path = folder / "script.jsonl"
    path.write_text(script, "utf-8")
    return {"compaction": {"model": f"script:{path}", "synchronous": synchronous}}


async def talk_until_due(session: Session, *, turns_count: int = 6) -> None:
    """A conversation of a coding agent, with a window before each of its messages and time for the background."""
    for entry in coding_log(3, turns_count=turns_count):
        if entry.wire["role"] == "assistant":
            await session.window()
            await rest(session)
        await session.append(entry.wire, said_at=entry.said_at)


async def read_until(events: AsyncIterator[Event], kind: str, count: int = 1) -> list[Event]:
    """Events up to so many of a kind."""
    found: list[Event] = []
    with anyio.fail_after(30):
        while sum(it.kind == kind for it in found) < count:
            found.append(await anext(events))
    return found


async def rest(session: Session) -> None:
    """Wait until nothing of a session is being worked on."""
    with anyio.fail_after(30):
        await session._background.dispatcher.join(session.id)


async def test_a_compaction_in_the_background_tells_its_way(tmp_path: Path) -> None:
    """Beside the turns an event is begun, claimed, asked for, judged, ready and committed, in this order, with figures."""
    async with everfold.open("memory://", settings=settings(tmp_path, GOOD)) as engine:
        session = await engine.session(limit=LIMIT)
        events = engine.events(session=session.id)
        await talk_until_due(session)
        found = await read_until(events, "compaction_committed")
        await rest(session)
        [first, *_] = await session.inspect.compactions()
        assert [it.kind for it in found if getattr(it, "compaction_id", None) == first.id] == [
            "compaction_begun",
            "compaction_claimed",
            "model_called",
            "digest_judged",
            "compaction_ready",
            "compaction_committed",
        ]
        committed = found[-1]
        assert isinstance(committed, CompactionCommitted)
        assert (committed.compaction_id, committed.report) == (first.id, first.report)
        assert (committed.generator, committed.cost_usd) == ("abstractive", 0.25)
        assert committed.elapsed_secs >= 0


async def test_what_is_told_is_what_is_kept(tmp_path: Path) -> None:
    """Calls of the feed, records of the store and reports of the events say the same of tokens and cost."""
    async with everfold.open("memory://", settings=settings(tmp_path, GOOD, synchronous=True)) as engine:
        session = await engine.session(limit=LIMIT)
        events = engine.events()
        await talk_until_due(session)
        stored, calls = await session.inspect.compactions(), await session.inspect.calls()
    told = [it async for it in events]
    called = [it for it in told if isinstance(it, ModelCalled)]
    assert [(it.compaction_id, it.input_tokens, it.cost_usd) for it in called] == [
        (call.compaction_id, call.input_tokens, call.cost_usd) for call in calls
    ]
    assert [it.report for it in told if isinstance(it, CompactionCommitted)] == [event.report for event in stored]
    assert len(stored) > 1


async def test_calls_come_in_pages_and_by_event(tmp_path: Path) -> None:
    """Calls are listed page by page, or for one compaction, and never those of another user."""
    async with everfold.open("memory://", settings=settings(tmp_path, GOOD, synchronous=True)) as engine:
        session = await engine.session(user="ada", limit=LIMIT)
        await talk_until_due(session)
        calls = await session.inspect.calls()
        assert len(calls) > 1
        assert await session.inspect.calls(limit=1) == calls[:1]
        assert await session.inspect.calls(after=calls[0].id) == calls[1:]
        [first, *_] = await session.inspect.compactions()
        assert (
            await session.inspect.calls(compaction=first.id)
            == [call for call in calls if call.compaction_id == first.id]
            != []
        )
        other = await engine.session(user="ben", limit=LIMIT)
        assert await other.inspect.calls() == await other.inspect.calls(compaction=first.id) == []


async def test_an_event_is_found_by_its_id(engine: Everfold) -> None:
    """The engine gives the event with an id, whosever session it is of, and says when there is none."""
    session = await engine.session(limit=LIMIT)
    await talk_until_due(session)
    for event in await session.inspect.compactions():
        assert await engine.admin.get_compaction(event.id) == event
    with pytest.raises(NotFoundError):
        await engine.admin.get_compaction("evt_none")


async def test_a_refused_digest_is_told_with_its_faults(tmp_path: Path) -> None:
    """What was wrong is told in codes, and the event is degraded."""
    async with everfold.open("memory://", settings=settings(tmp_path, BAD, synchronous=True)) as engine:
        session = await engine.session(limit=LIMIT)
        events = engine.events()
        await talk_until_due(session)
    told = [it async for it in events]
    judged = [it for it in told if isinstance(it, DigestJudged)]
    assert judged
    assert not any(it.is_accepted for it in judged)
    assert {fault for it in judged for fault in it.faults} == {"refusal"}
    assert len([it for it in told if isinstance(it, CompactionDegraded)]) == len(judged)


async def test_a_problem_holds_no_word_of_a_message(tmp_path: Path) -> None:
    """What the store keeps of a refused digest names its faults and quotes nothing, so that an erase need not look there."""
    async with everfold.open("memory://", settings=settings(tmp_path, VAGUE, synchronous=True)) as engine:
        session = await engine.session(limit=LIMIT)
        await talk_until_due(session)
        problems = [event.problem for event in await session.inspect.compactions()]
        said = " ".join(
            [message.view.text for message in await session.messages(1, (await session.inspect.state()).last_seq)]
        )
    assert problems
    assert all("lost_identifiers" in problem for problem in problems)
    assert NEEDLE in said
    assert not any(NEEDLE in problem for problem in problems)


async def test_where_turns_wait_a_digest_is_waited_for(tmp_path: Path) -> None:
    """However fast a log has grown, it does not grow while its turn waits: the digest is swapped in, not revised later."""
    async with everfold.open("memory://", settings=settings(tmp_path, GOOD, synchronous=True)) as engine:
        session = await engine.session(limit=LIMIT)
        compactor = engine._background.worker.compactor(session._live)
        for entry in coding_log(3, turns_count=6):
            await session.append(entry.wire)
            if await compactor.find_due():
                break
        assert not compactor.may_wait()
        await session.window()
        assert [(event.state, event.digest) for event in await session.inspect.compactions()] == [("done", "done")]


def attributes(span: ReadableSpan) -> dict[str, object]:
    """What a span carries."""
    return dict(span.attributes or {})


async def test_a_compaction_is_traced(tmp_path: Path) -> None:
    """Plan, begin, claim, digest and commit are spans of one event in figures; the call of the model is in the digest's."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    given = settings(tmp_path, GOOD, synchronous=True)
    async with everfold.open("memory://", settings=given, tracer=OtelTracer(provider)) as engine:
        session = await engine.session(limit=LIMIT)
        await talk_until_due(session)
        await session.window(preview=True)
        [event, *_] = await session.inspect.compactions()
    assert event.report is not None
    spans = exporter.get_finished_spans()
    about = [span for span in spans if attributes(span).get("everfold.event.id") == event.id]
    parts = ("begin", "claim", "digest", "commit")
    assert [span.name for span in about if span.name.startswith("everfold.")] == [
        f"everfold.compaction.{part}" for part in parts
    ]
    begin, claim, call, digest, commit = about
    assert call.name.startswith("chat ")
    assert call.parent == digest.get_span_context()
    assert attributes(begin)["everfold.compaction.trigger"] == "tokens"
    assert attributes(claim)["everfold.event.attempts"] == 0
    assert attributes(commit)["everfold.compaction.tokens_after"] == event.report.tokens_after
    plan = next(span for span in spans if span.name == "everfold.compaction.plan")
    assert attributes(plan)["everfold.compaction.last_seq"] == event.plan.last_seq
    assert NEEDLE not in "".join(span.to_json() for span in spans)


async def test_a_preview_traces_no_change(tmp_path: Path) -> None:
    """A preview that would compact begins and commits nothing, and no span says that it did."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    given = settings(tmp_path, GOOD, synchronous=True)
    async with everfold.open("memory://", settings=given, tracer=OtelTracer(provider)) as engine:
        session = await engine.session(limit=LIMIT)
        await session.append([entry.wire for entry in coding_log(3, turns_count=6)])
        assert (await session.window(preview=True)).report.digest_count
    names = {span.name for span in exporter.get_finished_spans()}
    assert names == {"everfold.window", "everfold.compaction.plan"}


class Stuck(everfold.Hooks):
    """A plug-in whose checkpoint never succeeds."""

    async def on_pre_compress(self, fold: everfold.PendingFold) -> str:
        """Fail."""
        raise OSError(fold.compaction_id)


@pytest.mark.parametrize("script", ["", GOOD])
async def test_a_strict_manual_compaction_folds_nothing_unprepared(tmp_path: Path, script: str) -> None:
    """Where no checkpoint succeeds, a compaction that was asked for raises, and every message is still shown."""
    given = dict(settings(tmp_path, GOOD)) if script else {}
    async with everfold.open("memory://", settings={**given, "hooks": {"strict": True}}, hooks=[Stuck()]) as engine:
        session = await engine.session(limit=16_000)
        await session.append([entry.wire for entry in coding_log(3, turns_count=2)])
        with pytest.raises(HookError):
            await session.compact(keep_recent=2)
        [event] = await session.inspect.compactions()
        assert (event.state, event.is_committed) == ("pending", False)
        assert (await session.window()).report.digest_count == 0
