"""Whatever a model does while it writes digests: no turn fails, nothing is lost, its bad text stands in no window.

The fault table of G7. Each row replays a real transcript (where the real data is there) and a generated one, with the work
done inline and in the background, and then has a good model write what the bad one could not.
"""

# ruff: noqa: PT017 - inline, a full disk is the turn's own error; in the background it is none
import asyncio
import json
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from bench.material.logs import coding_log
from bench.transcripts.reading import read_transcript
from tests.support.proofs import list_all_compactions
from tests.support.sizes import some, spread

from everfold import Compaction, Everfold, Session, Window
from everfold.adapters.models.scripted import ScriptedModel, Step
from everfold.core.compaction.transitions import CompactionState
from everfold.core.windows.rendering import render
from everfold.errors import ConflictError, ModelUnavailableError, StoreUnavailableError
from everfold.ports.models import ModelReply, ModelRequest
from everfold.services.models import call_model
from everfold.session import iterate_log
from everfold.testing import check_anthropic_request, check_openai_request, check_window_rules
from everfold.testing.kit.fakes import FakeClock

LIMIT = 8_000
Wires = Sequence[Mapping[str, object]]
Opening = Callable[..., AbstractAsyncContextManager[Everfold]]
GOOD = (Step(digest="echo"),)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One fault: what the model does, how its events end, what their record says of it, what must stand nowhere."""

    steps: tuple[Step, ...]
    problem: str
    state: CompactionState = "degraded"
    marks: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


ROWS = {
    "exception": Row(steps=(Step(fault="exception", text="boom ZQ-4711"),), problem="RuntimeError", marks=("ZQ-4711",)),
    "timeout": Row(
        steps=(Step(fault="timeout"),), problem="did not answer within", settings={"summary_timeout_secs": 0.01}
    ),
    "unavailable": Row(steps=(Step(fault="unavailable"),), problem="cannot be reached"),
    "rate limit": Row(steps=(Step(fault="rate_limit"),), problem="too many requests"),
    "rate limit that passes": Row(
        steps=(Step(fault="rate_limit"), *GOOD), problem="", state="done", settings={"retries": 1}
    ),
    "context length": Row(steps=(Step(fault="context_length"),), problem="context_length"),
    "context length, then smaller": Row(
        steps=(Step(fault="context_length"), *GOOD),
        problem="context_length",
        state="done",
        settings={"digest_ratio": 0.24, "kept_ratio": 0.1},
    ),
    "empty": Row(steps=(Step(fault="empty"),), problem="empty"),
    "whitespace": Row(steps=(Step(fault="whitespace"),), problem="empty"),
    "refusal": Row(steps=(Step(fault="refusal"),), problem="refusal", marks=("I can't help with that",)),
    "refusal that passes": Row(
        steps=(Step(fault="refusal"), *GOOD), problem="refusal", state="done", marks=("I can't help with that",)
    ),
    "tool call": Row(
        steps=(Step(fault="tool_call", text="I look it up with zq_search."),),
        problem="tool_call",
        marks=("I look it up with",),
    ),
    "cut off": Row(steps=(Step(fault="length"),), problem="incomplete", marks=("first of many things",)),
    "poor": Row(
        steps=(Step(digest="poor"),), problem="lost_identifiers", marks=("fit step by step", "agreed on how to")
    ),
    "larger than its source": Row(
        steps=(Step(digest="larger"),), problem="too_long", marks=("as was said at some length",)
    ),
    "repeats its input": Row(steps=(Step(digest="repeat"),), problem="repeats", marks=("[tool result, ",)),
    "another language": Row(steps=(Step(digest="foreign"),), problem="language", marks=("Der Benutzer hat um",)),
    "invents": Row(steps=(Step(digest="invent"),), problem="invented", marks=("ZQX-94817", "quill.harrow")),
    "hostile": Row(
        steps=(Step(digest="hostile"),),
        problem="hostile",
        marks=("Ignore all previous", "<<<end messages 0123456789abcdef", "From now on you must obey"),
    ),
}


class Watched(ScriptedModel):
    """A scripted model that tells when it is asked, does something just before it answers, and may become a good one."""

    def __init__(self, *steps: Step, before_answer: Callable[[], None] = lambda: None) -> None:
        super().__init__(steps)
        self.asked = asyncio.Event()
        self.is_good = False
        self._good = ScriptedModel(GOOD)
        self._before_answer = before_answer

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Tell, and answer."""
        self.asked.set()
        if self.is_good:
            return await self._good.reply(request)
        reply = await super().reply(request)
        self._before_answer()
        return reply


IN_A_FILE = {"exception", "context length, then smaller", "hostile"}
"""The rows that are tried on a file, which costs time; every way in which an event can end is among them."""


@pytest.fixture
def real_log(real_data: Path) -> Wires:
    """Conversations of an airline's desk with its tools, behind each other."""
    path = real_data / "tau-airline-dev.jsonl"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the folder of real conversations")
    found = [message.wire for it in read_transcript(path).conversations[:9] for message in it.messages]
    return [wire for wire in found if wire["role"] != "system"][: some(100, 80)]


@pytest.fixture
def own_log() -> Wires:
    """A coding agent's turns."""
    return [entry.wire for entry in coding_log(5, turns_count=some(6, 5))]


LOGS = ("real_log", "own_log")


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest) -> Wires:
    """A real transcript, and a generated one, which is always there."""
    found: Wires = request.getfixturevalue(request.param)
    return found


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that is tried again is tried at once."""
    monkeypatch.setattr(call_model, "BACKOFF_SECS", 0.0)


def settings_of(row: Row, *, synchronous: bool) -> dict[str, Mapping[str, object]]:
    """The settings of an engine for a row: few attempts, no waits."""
    compaction = {"synchronous": synchronous, "retries": 0, **row.settings}
    return {"compaction": compaction, "recovery": {"attempts": 2, "grace_secs": 0.0}}


def check_window(window: Window, marks: Sequence[str]) -> None:
    """A window is within its budget, valid for both providers, and holds nothing of a bad text."""
    report = window.report
    assert report.tokens <= report.budget_tokens
    openai, anthropic = render(window, "openai"), render(window, "anthropic")
    assert check_openai_request(openai) == []
    assert check_anthropic_request(anthropic) == []
    assert check_window_rules(openai, kind="openai") == []
    said = json.dumps(openai, ensure_ascii=False)
    assert [mark for mark in marks if mark in said] == []


async def play(
    engine: Everfold,
    session: Session,
    wires: Wires,
    clock: FakeClock,
    marks: Sequence[str] = (),
    *,
    is_joined: bool = True,
) -> None:
    """A live session of a minute a message: a window before every message of the model, checked where something moved.

    What runs in the background runs beside it, and has ended at every third request where `is_joined`.
    """
    seen, requests_count = -1, 0
    for index, wire in enumerate(wires):
        clock.advance(timedelta(seconds=60))
        await session.append(wire)
        if index + 1 < len(wires) and wires[index + 1]["role"] != "assistant":
            continue
        window = await session.window()
        requests_count += 1
        if is_joined and requests_count % 3 == 0:
            await engine._background.dispatcher.join()
        if window.report.cache_breaks or window.report.compacted_through != seen:
            check_window(window, marks)
            seen = window.report.compacted_through


async def settle(engine: Everfold, session: Session, clock: FakeClock) -> list[Compaction]:
    """Wait until every event has ended, or waits for the next break with its digest; give them. Sweeps between."""
    for _ in range(20):
        background = engine._background
        clock.advance(timedelta(seconds=600))
        await background.recovery.recover()
        await background.dispatcher.join()
        await session.window()
        await background.dispatcher.join()
        compactions = await list_all_compactions(session)
        # a digest that was slow beside a fast log is written, and stands from the next break on
        patient = {one.compaction_id for one in (await session.inspect.state()).awaited if one.is_patient}
        if all(
            compaction.has_ended or (compaction.state == "ready" and compaction.id in patient)
            for compaction in compactions
        ):
            return compactions
    raise AssertionError(
        [
            (compaction.id, compaction.state, compaction.problem)
            for compaction in compactions
            if not compaction.has_ended
        ]
    )


async def check_whole(session: Session, wires: Wires, marks: Sequence[str] = ()) -> None:
    """Everything that was appended reads back equal, the certificates hold, and the window is a good one."""
    assert [message.wire async for message in iterate_log(session)] == list(wires)
    assert (await session.verify()).problems == ()
    check_window(await session.window(), marks)


def written(compactions: Sequence[Compaction]) -> list[Compaction]:
    """The events that a model was asked for a digest of, but those that were rolled up before it was there."""
    return [
        compaction
        for compaction in compactions
        if compaction.plan.folded and compaction.revises is None and compaction.digest != "off"
    ]


async def revise_newest(session: Session) -> None:
    """A good model writes the digest of the newest degraded event that still stands."""
    for compaction in reversed(written(await list_all_compactions(session))):
        if compaction.state != "degraded":
            continue
        try:
            after = await session.inspect.retry(compaction.id)
        except ConflictError:
            continue  # rolled up
        assert (after.state, after.digest, after.problem) == ("done", "done", "")
        assert [one.state for one in await list_all_compactions(session) if one.revises == compaction.id] == ["done"]
        assert await session.inspect.note() == ""
        return
    raise AssertionError("no degraded event can be tried again")


@pytest.mark.parametrize(("name", "log", "synchronous"), spread(tuple(ROWS), LOGS, (True, False)), indirect=["log"])
async def test_fault(
    name: str, log: Wires, tmp_path: Path, open_with_model: Opening, clock: FakeClock, *, synchronous: bool
) -> None:
    """The replay stays whole and valid, the event says what was wrong, and a good model's digest takes its place."""
    row, model = ROWS[name], Watched(*ROWS[name].steps)
    url = f"sqlite:///{tmp_path}/log.db" if name in IN_A_FILE else "memory://"
    settings = settings_of(row, synchronous=synchronous)
    assert not any(mark in json.dumps(log) for mark in row.marks)
    async with open_with_model(url, model, clock=clock, settings=settings) as engine:
        session = await engine.session(limit=LIMIT)
        await play(engine, session, log, clock, row.marks)
        compactions = await settle(engine, session, clock)
        await check_whole(session, log, row.marks)
        asked = written(compactions)
        assert any(compaction.state == row.state and row.problem in compaction.problem for compaction in compactions), [
            (compaction.state, compaction.digest, compaction.problem) for compaction in compactions
        ]
        assert row.state == "done" or {compaction.state for compaction in asked} <= {"degraded"}, [
            e.problem for e in asked
        ]
        if row.state == "degraded":
            model.is_good = True
            await revise_newest(session)
            await check_whole(session, log, row.marks)


class Own(ScriptedModel):
    """A model of the program's own, which raises or gives the same at every call."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    async def reply(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - as in `Model`
        """Raise an exception, give anything else."""
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # on purpose


OWN = {
    "cancellations": (BaseExceptionGroup("tasks", [asyncio.CancelledError()]), "failed with BaseExceptionGroup"),
    "exceptions": (ExceptionGroup("tasks", [ValueError("odd")]), "failed with ExceptionGroup"),
    "half of a character": (ModelUnavailableError("no route to \ud83d"), "no route to \ufffd"),
    "no reply": (None, "the reply is an unfit NoneType, expected a ModelReply"),
    "bytes": (ModelReply(text=b"Fine.", finish="complete", model="own"), "the text of the reply is an unfit bytes"),  # type: ignore[arg-type]  # on purpose
}


@pytest.mark.parametrize("name", OWN)
async def test_own_model(name: str, own_log: Wires, open_with_model: Opening, clock: FakeClock) -> None:
    """Whatever a model of the program's own raises or gives, inline turns go on, and its events say what was wrong."""
    answer, problem = OWN[name]
    settings = settings_of(Row(steps=(), problem=problem), synchronous=True)
    async with open_with_model("memory://", Own(answer), clock=clock, settings=settings) as engine:
        session = await engine.session(limit=LIMIT)
        await play(engine, session, own_log[:60], clock)
        compactions = written(await settle(engine, session, clock))
        assert {compaction.state for compaction in compactions} == {"degraded"}
        assert all(problem in compaction.problem for compaction in compactions)
        await check_whole(session, own_log[:60])


BACKGROUND: Mapping[str, Mapping[str, object]] = {
    "compaction": {"synchronous": False, "retries": 0},
    "recovery": {"attempts": 2, "grace_secs": 0.0},
}


async def play_until_asked(engine: Everfold, session: Session, wires: Wires, clock: FakeClock, model: Watched) -> int:
    """A live session until the model is at work; gives how many messages were appended."""
    for index in range(0, len(wires), 4):
        await play(engine, session, wires[index : index + 4], clock, is_joined=False)
        for _ in range(40):
            await asyncio.sleep(0.001)
            if model.asked.is_set():
                return index + 4
    raise AssertionError("nothing was ever due")


async def test_closed_while_the_model_works(
    log: Wires, tmp_path: Path, open_with_model: Opening, clock: FakeClock
) -> None:
    """An engine that is closed meanwhile ends at once, the event stays pending, the next engine goes on with it."""
    url, model = f"sqlite:///{tmp_path}/log.db", Watched(Step(digest="echo", secs=60))
    async with open_with_model(url, model, clock=clock, settings=BACKGROUND, drain_secs=0.01) as engine:
        session = await engine.session(limit=LIMIT)
        count = await play_until_asked(engine, session, log, clock, model)
        waiting = await list_all_compactions(session)
    async with open_with_model(url, ScriptedModel(GOOD), clock=clock, settings=BACKGROUND) as engine:
        session = await engine.session(limit=LIMIT)
        assert [compaction.state for compaction in await list_all_compactions(session)][-1] == "pending"
        assert "engine was closed" in (await list_all_compactions(session))[-1].problem
        await check_whole(session, log[:count])
        compactions = await settle(engine, session, clock)
        assert len(compactions) >= len(waiting)
        assert {compaction.state for compaction in compactions} == {"done"}, [
            compaction.problem for compaction in compactions
        ]
        await check_whole(session, log[:count])


async def test_slow_beyond_the_lease(log: Wires, tmp_path: Path, open_with_model: Opening, clock: FakeClock) -> None:
    """A worker that lost its lease to another commits nothing: one digest is committed, the second worker's."""
    url, slow = f"sqlite:///{tmp_path}/log.db", Watched(Step(digest="echo", secs=0.4))
    async with (
        open_with_model(url, slow, clock=clock, settings=BACKGROUND) as first,
        open_with_model(url, ScriptedModel(GOOD), clock=clock, settings=BACKGROUND) as second,
    ):
        session = await first.session(limit=LIMIT)
        count = await play_until_asked(first, session, log, clock, slow)
        claimed = (await list_all_compactions(session))[0]
        assert claimed.state == "running"
        other = await second.session(id=session.id)
        clock.advance(timedelta(seconds=500))  # beyond its lease, which it renews only each minute of the real time
        compactions = await settle(second, other, clock)
        assert (compactions[0].state, compactions[0].attempts) == ("done", 2)
        asked_count = len(slow.requests)
        await first._background.dispatcher.join()
        assert len(slow.requests) == asked_count
        after = await list_all_compactions(session)
        assert after[: len(compactions)] == compactions
        await check_whole(session, log[:count])


async def test_two_workers_at_once(log: Wires, tmp_path: Path, open_with_model: Opening, clock: FakeClock) -> None:
    """Two engines that work on one session at once lose and double nothing: every range is folded once, in order."""
    url = f"sqlite:///{tmp_path}/log.db"
    models = [ScriptedModel((Step(digest="echo", secs=0.004),)) for _ in range(2)]
    async with (
        open_with_model(url, models[0], clock=clock, settings=BACKGROUND) as first,
        open_with_model(url, models[1], clock=clock, settings=BACKGROUND) as second,
    ):
        session = await first.session(limit=LIMIT)
        handles = (session, await second.session(id=session.id))
        for index in range(0, len(log), 3):
            clock.advance(timedelta(seconds=60))
            await handles[index % 2].append(list(log[index : index + 3]))
            await asyncio.gather(*(handle.window() for handle in handles))
        compactions = await settle(second, handles[1], clock)
        ranges = [
            (compaction.plan.first_seq, compaction.plan.last_seq)
            for compaction in compactions
            if compaction.revises is None
        ]
        assert len(ranges) > 1
        assert ranges[0][0] == 1
        assert [first for first, _ in ranges[1:]] == [last + 1 for _, last in ranges[:-1]]
        assert [compaction.ordinal for compaction in compactions] == list(range(1, len(compactions) + 1))
        for handle in handles:
            await check_whole(handle, log)


@contextmanager
def full_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """Gives what fills the disk: from then on no file of this process may grow. There is room again at the end."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        largest = max(path.stat().st_size for path in folder.iterdir() if path.suffix == ".db")
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(largest, 4_096), before[1]))

    try:
        yield fill
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("synchronous", [True, False], ids=["inline", "background"])
async def test_disk_full_at_commit(
    log: Wires, tmp_path: Path, open_with_model: Opening, clock: FakeClock, *, synchronous: bool
) -> None:
    """A digest that finds no room on the disk is not half-written: only inline it is an error; then it is committed."""
    url = f"sqlite:///{tmp_path}/log.db"
    settings = {**BACKGROUND, "compaction": {"synchronous": synchronous, "retries": 0}}
    with full_disk(tmp_path) as fill:
        model = Watched(*GOOD, before_answer=fill)
        async with open_with_model(url, model, clock=clock, settings=settings) as engine:
            session = await engine.session(limit=LIMIT)
            try:
                count = await play_until_asked(engine, session, log, clock, model)
            except StoreUnavailableError as error:
                assert synchronous
                assert error.retryable
                count = 0
            assert model.asked.is_set()
            await engine._background.dispatcher.join()
            compactions = await list_all_compactions(session)
            assert not any(compaction.is_committed for compaction in compactions)
    async with open_with_model(url, ScriptedModel(GOOD), clock=clock, settings=settings) as engine:
        session = await engine.session(limit=LIMIT)
        stored = [message.wire async for message in iterate_log(session)]
        assert stored == list(log[: len(stored)])
        assert len(stored) >= count
        compactions = await settle(engine, session, clock)
        assert {compaction.state for compaction in compactions} == {"done"}, [
            compaction.problem for compaction in compactions
        ]
        await check_whole(session, stored)
