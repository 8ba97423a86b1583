"""Work beside the turns: held until it is there, promoted when there is no room, and brought to its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import anyio
import pytest
from tests.support.proofs import find_suffix, flatten_prefix, list_all_compactions
from tests.support.waiting import SECS

from everfold import Everfold, Session, Window
from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.sqlite.connection_thread import ConnectionThread
from everfold.bootstrap import make_engine, open_store
from everfold.config import load_settings
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import Task, Written
from everfold.core.digests.drafts import Draft
from everfold.core.observation.events import CHANGES, BreakerOpened, Event
from everfold.core.sources.refreshing import AllowedSource
from everfold.core.text.frames import NOTE_TOKENS
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.errors import ConflictError, InvalidInputError, ModelUnavailableError, StoreUnavailableError
from everfold.ports.hooks import Hooks
from everfold.services.compaction.refresh import Refresher
from everfold.services.telling import tries
from everfold.services.telling.stream import Stream
from everfold.services.turns.background import Background
from everfold.testing.kit.builders import assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock, FakeSource
from everfold.testing.kit.hearing import Hearing

pytestmark = pytest.mark.anyio
LIMIT = 4000
HOUR = timedelta(hours=1)
QUIET_PASSES_COUNT = 50
"""After so many passes of the event loop without a call of a store, everything waits for the model or for a time."""


class AtStores:
    """How many calls of SQLite stores are under way: their answers come from other threads, whenever those run."""

    count = 0


at_stores = AtStores()


@pytest.fixture(autouse=True)
def calls_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of a store is counted while it lasts."""
    call = ConnectionThread.call

    async def call_and_count(self: ConnectionThread, work: Callable[[], object]) -> object:
        at_stores.count += 1
        try:
            return await call(self, work)
        finally:
            at_stores.count -= 1

    monkeypatch.setattr(at_stores, "count", 0)
    monkeypatch.setattr(ConnectionThread, "call", call_and_count)


class Writer:
    """A model that writes when its gate is open. `faults` are what its next calls come to instead of a digest."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.called = asyncio.Event()
        self.faults: list[str] = []
        self.tasks: list[Task] = []

    async def __call__(self, task: Task) -> Written:
        """Write, refuse, or fail."""
        self.tasks.append(task)
        self.called.set()
        await self.gate.wait()
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "refused":
            return Written(draft=None, problem="refusal: it declined")
        if fault:
            raise ModelUnavailableError("no route to the model; try again")
        text = f"A model wrote this of messages {task.compaction.plan.first_seq} to {task.compaction.plan.last_seq}."
        return Written(draft=Draft(text=text, tokens=estimate_text_tokens(text), epoch=task.epoch))


def stretches(source: FakeSource, since: datetime) -> list[tuple[float, float]]:
    """What a source was asked about, in minutes since a moment."""
    return [((first - since).total_seconds() / 60, (last - since).total_seconds() / 60) for first, last in source.asked]


class Told:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.compactions: list[Event] = []

    def hears(self, kind: type[Event]) -> bool:
        """Everything but changes."""
        return not issubclass(kind, CHANGES)

    def take(self, compaction: Event) -> None:
        """Keep it."""
        self.compactions.append(compaction)


@dataclass(kw_only=True)
class Rig:
    """An engine whose work is done beside the turns, a session, and everything that a test holds in its hands."""

    engine: Everfold
    session: Session
    clock: FakeClock
    writer: Writer
    told: Told
    turns_count: int = 0
    windows: list[Window] = field(default_factory=list)

    @property
    def background(self) -> Background:
        """What the engine does beside the turns."""
        return self.engine._background

    async def turn(self, count: int = 1, *, minutes: float = 2.0) -> Window:
        """Turns of a person who takes the time, each with a window."""
        for _ in range(count):
            self.turns_count += 1
            self.clock.advance(timedelta(minutes=minutes))
            await self.session.append(talk(1, first=self.turns_count))
            window = await self.show()
        return window

    async def show(self) -> Window:
        """A window, after those who are at work had a moment."""
        self.windows.append(await self.session.window())
        await let_run()
        return self.windows[-1]

    async def talk_until(self, is_reached: Callable[[], bool]) -> Window:
        """Turns until something is so."""
        for _ in range(60):
            window = await self.turn()
            if is_reached():
                return window
        raise AssertionError("sixty turns did not get there")

    async def talk_until_called(self) -> Window:
        """Turns until the model is at a digest."""
        return await self.talk_until(self.writer.called.is_set)

    async def wait_for_call(self) -> None:
        """Wait until the model is at as many digests as it is asked for at once."""
        async with asyncio.timeout(SECS):
            await self.writer.called.wait()
        await let_run()

    async def finish(self) -> None:
        """Let the model write, and wait until no task is at work."""
        self.writer.gate.set()
        await self.rest()

    async def rest(self) -> None:
        """Wait until no task is at work."""
        dispatcher = self.background.dispatcher
        assert isinstance(dispatcher, InProcessDispatcher)
        while names := list(dispatcher._tasks):
            for name in names:
                await dispatcher.join(name)

    async def recovery(self, *, after: timedelta = HOUR) -> None:
        """Some time later, look for what was left, and wait until it is done."""
        self.clock.advance(after)
        await self.background.recovery.recover()
        await self.rest()

    async def compactions(self) -> list[Compaction]:
        """Every event but revisions."""
        return [compaction for compaction in await list_all_compactions(self.session) if not compaction.revises]


async def let_run() -> None:
    """Let work go on as far as it can without the model: until no store is at a call, and stays at none."""
    quiet_passes_count = 0
    while quiet_passes_count < QUIET_PASSES_COUNT:
        quiet_passes_count = 0 if at_stores.count else quiet_passes_count + 1
        await asyncio.sleep(0)


@asynccontextmanager
async def opened(
    url: str,
    *,
    writer: Writer | None = None,
    source: FakeSource | None = None,
    clock: FakeClock | None = None,
    limit: int = LIMIT,
    has_model: bool = True,
    hooks: Sequence[Hooks] = (),
    strict: bool = False,
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[Rig]:
    """A rig over a store."""
    clock, writer, told = clock or FakeClock(), writer or Writer(), Told()
    compaction = {
        "synchronous": False,
        "trigger_ratio": 0.8,
        "suffix_ratio": 0.1,
        **(settings or {}),
    }  # as where a model is configured
    loaded = load_settings(overrides={"compaction": compaction})
    ids, store = CountingIds(), await open_store(url, clock=clock)
    stream = Stream(hooks=hooks, timeout_secs=1.0, strict=strict, listeners=(told,))
    engine = make_engine(store, loaded, clock=clock, ids=ids, stream=stream)
    background = engine._background
    write = writer if has_model else None
    refresher = None
    if source is not None:
        refresher = Refresher(
            store=store,
            clock=clock,
            stream=stream,
            dispatcher=background.dispatcher,
            ids=ids,
            sources=[(source, AllowedSource(name=source.name))],
        )
    background.worker = replace(background.worker, write_digest=write, refresher=refresher)
    background.recovery = replace(background.recovery, wake=background.worker.wake)
    engine.start()
    try:
        session = await engine.session(limit=limit)
        yield Rig(engine=engine, session=session, clock=clock, writer=writer, told=told)
    finally:
        await engine.close(drain_secs=0.0)


@pytest.fixture
async def rig(url: str) -> AsyncIterator[Rig]:
    """A rig over each store."""
    async with opened(url) as made:
        yield made


def several(url: str) -> AbstractAsyncContextManager[Rig]:
    """A rig whose session begins several events at once, when it has many messages."""
    return opened(
        url, limit=32_000, settings={"row_window": 20, "row_headroom": 4, "rows_per_digest": 10, "min_fold_tokens": 0}
    )


def said(window: Window) -> str:
    """All that a window says."""
    return str(window.render("openai"))


def shown(window: Window) -> list[int]:
    """The messages that a window shows."""
    seqs = [entry.message.seq for entry in window.entries if isinstance(entry, MessageEntry)]
    seqs += [message.seq for entry in window.entries if isinstance(entry, RangeEntry) for message in entry.kept]
    return sorted(seqs)


def notes(window: Window) -> list[str]:
    """The continuity note of a window, as a list of one or none."""
    return [line for line in find_suffix(window).split("\n\n") if "left this window a moment ago" in line]


def reasons(window: Window) -> list[str]:
    """Why the beginning of a window changed."""
    return [one.reason for one in window.report.cache_breaks]


# --- hold and swap


async def test_nothing_leaves_before_its_digest_is_there(rig: Rig) -> None:
    """While the model writes the window only grows; the first one after shows the digest, with one break, no note."""
    await rig.talk_until_called()
    window = await rig.turn(2)
    state = await rig.session.inspect.state()
    assert len(state.pending_compactions) == 1
    assert shown(window) == list(range(1, state.last_seq + 1))
    flat = [flatten_prefix(one) for one in rig.windows]
    assert all(new[: len(old)] == old for old, new in pairwise(flat))
    assert all(not reasons(one) for one in rig.windows)
    await rig.finish()
    after = await rig.show()
    assert "A model wrote this of messages 1 to" in said(after)
    assert reasons(after) == ["compaction: tokens"]
    assert notes(after) == []
    (compaction,) = await rig.compactions()
    assert (compaction.state, compaction.digest, compaction.attempts) == ("done", "done", 1)
    assert reasons(await rig.show()) == []


async def test_a_digest_is_swapped_in_between_two_steps(rig: Rig) -> None:
    """A digest that is finished within a turn is shown by the turn's next request."""
    await rig.talk_until_called()
    await rig.session.append([user("Look at both berths."), calls("a"), result("a", "One is free.")])
    assert "A model wrote" not in said(await rig.show())
    await rig.finish()
    await rig.session.append([calls("b"), result("b", "Two is taken.")])
    window = await rig.show()
    assert "A model wrote" in said(window)
    assert shown(window)[-5:] == list(range(window.report.last_seq - 4, window.report.last_seq + 1))
    assert (await rig.session.verify()).is_sound


async def test_the_model_reads_exactly_what_is_folded(rig: Rig) -> None:
    """The messages of the task are those that the plan folds, in order."""
    await rig.talk_until_called()
    await rig.finish()
    (task,) = rig.writer.tasks
    assert tuple(message.seq for message in task.messages) == task.compaction.plan.folded != ()
    assert tuple(note.seq for note in task.notes) == task.compaction.plan.folded


# --- overflow


async def test_a_held_event_is_promoted_when_there_is_no_room(rig: Rig) -> None:
    """Its extractive digest stands under a note, the model goes on, and its digest takes the place; both are told."""
    await rig.talk_until_called()
    (held,) = (await rig.session.inspect.state()).pending_compactions
    window = await rig.talk_until(lambda: rig.windows[-1].report.compacted_through > 0)
    (compaction, *_) = await rig.compactions()
    assert (compaction.id, compaction.is_committed, compaction.state) == (held, True, "running")
    assert window.report.tokens <= window.report.budget_tokens
    (note,) = notes(window)
    assert f"essages {compaction.plan.first_seq}-{compaction.plan.last_seq}" in note
    assert await rig.session.inspect.note() == note
    assert any(reason.startswith("compaction") for reason in reasons(window))
    again = await rig.turn()
    old, new = flatten_prefix(window), flatten_prefix(again)
    assert new[: len(old)] == old
    await rig.finish()
    after = await rig.show()
    assert "compaction: revision" in reasons(after)
    assert notes(after) == []
    assert await rig.session.inspect.note() == ""
    assert f"A model wrote this of messages {compaction.plan.first_seq} to {compaction.plan.last_seq}." in said(after)
    assert len(rig.writer.tasks) == 1
    assert (await rig.session.verify()).is_sound


async def test_an_overflow_wakes_a_worker(rig: Rig) -> None:
    """The model's digest of what an overflow folded is begun at once, not at the next sweep."""
    await rig.turn(3)
    await rig.session.append(talk(22, first=100))
    window = await rig.show()
    assert window.report.compacted_through > 0
    assert notes(window)
    await rig.wait_for_call()
    await rig.finish()
    assert notes(await rig.show()) == []


async def test_a_patient_digest_waits_for_a_break(url: str) -> None:
    """Where the log grows too fast to wait for a model, its digest comes with the next break, and makes none itself."""
    async with opened(url, limit=8000) as rig:
        for _ in range(60):
            await rig.turn(minutes=0.0)
            if (await rig.session.inspect.state()).awaited:
                break
        await rig.show()
        (one, *_) = (await rig.session.inspect.state()).awaited
        assert one.is_patient
        rig.writer.gate.set()
        before = await rig.show()
        await rig.finish()
        assert (await rig.compactions())[0].state == "ready"
        after = await rig.show()
        assert reasons(after) == []
        assert after.render("openai") == before.render("openai")
        assert len(notes(after)) == 1
        while True:
            window = await rig.turn(minutes=0.0)
            if reasons(window):
                break
            assert (await rig.compactions())[0].state == "ready" or (await rig.session.inspect.state()).cache_breaks
        first = (await rig.compactions())[0]
        assert first.state == "done"
        assert len(reasons(window)) > 1
        await rig.finish()
        assert (await rig.session.verify()).is_sound


async def test_a_branch_inherits_what_a_patient_digest_stands_for(url: str) -> None:
    """A fold whose model's digest is written and waits for a break is inherited with the digest that is shown."""
    async with opened(url, limit=8000) as rig:
        for _ in range(60):
            await rig.turn(minutes=0.0)
            if (await rig.session.inspect.state()).awaited:
                break
        await rig.show()
        rig.writer.gate.set()
        before = await rig.show()
        await rig.finish()
        assert (await rig.compactions())[0].state == "ready"
        branch = await rig.session.branch(rig.turns_count * 2)
        window = await branch.window()
        assert window.report.compacted_through == before.report.compacted_through > 0
        assert notes(window) == []
        await rig.finish()
        assert (await branch.verify()).is_sound


async def test_a_note_that_leaves_costs_no_cache(rig: Rig) -> None:
    """The note comes first in the suffix of each request of a turn, and none reads anything again because it is gone."""
    await rig.turn(3)
    rig.writer.faults = ["refused"] * 9
    await rig.session.append(talk(22, first=100))
    first = await rig.session.window(suffix="It is noon.")
    (note,) = notes(first)
    assert find_suffix(first) == f"{note}\n\nIt is noon."
    assert first.estimate.by_slice["suffix"] <= NOTE_TOKENS + 8
    last = first.render("openai")["messages"][-1]
    assert note in str(last)
    await rig.session.append(calls("a"))
    await rig.session.append(result("a", "free"))
    second = await rig.session.window()
    assert notes(second) == [note]
    await rig.wait_for_call()
    await rig.finish()
    while notes(third := await rig.session.window()):
        assert notes(third) == [note]
        await rig.turn()
    row = [flatten_prefix(one) for one in (first, second, third)]
    assert [new[: len(old)] == old for old, new in pairwise(row)] == [True, True]
    assert (reasons(second), reasons(third)) == ([], [])


# --- several at once


async def test_several_events_are_begun_at_once(url: str) -> None:
    """What is much becomes several held events in one pass; each is planned as if those before it were done."""
    async with several(url) as rig:
        await rig.session.append(talk(40))
        window = await rig.show()
        await rig.wait_for_call()
        compactions = await rig.compactions()
        assert len(compactions) > 2
        assert [compaction.state for compaction in compactions] == [
            *["running"] * 2,
            *["pending"] * (len(compactions) - 2),
        ]
        assert [compaction.id for compaction in compactions] == list(
            (await rig.session.inspect.state()).pending_compactions
        )
        firsts = [compaction.plan.first_seq for compaction in compactions]
        assert firsts == [1, *(compaction.plan.last_seq + 1 for compaction in compactions[:-1])]
        assert shown(window) == list(range(1, 81))
        await rig.finish()
        assert [compaction.state for compaction in await rig.compactions()] == ["done"] * len(compactions)
        assert said(await rig.show()).count("A model wrote this") >= 1
        assert (await rig.session.verify()).is_sound


async def test_a_later_event_waits_for_the_one_before(url: str) -> None:
    """Ready before its turn, an event changes nothing in the window; then all are committed in their order."""
    async with several(url) as rig:
        rig.writer.faults = ["error"]
        rig.writer.gate.set()
        await rig.session.append(talk(40))
        await rig.show()
        await rig.finish()
        compactions = await rig.compactions()
        assert [compaction.state for compaction in compactions] == ["pending", *["ready"] * (len(compactions) - 1)]
        assert compactions[0].problem == "no route to the model; try again"
        window = await rig.show()
        assert (window.report.compacted_through, reasons(window)) == (0, [])
        branch = await (await rig.session.branch(80)).window(preview=True)
        assert (branch.report.compacted_through, shown(branch)) == (0, list(range(1, 81)))
        await rig.recovery()
        done = await rig.compactions()
        assert {compaction.state for compaction in done} == {"done"}
        assert [compaction.ordinal for compaction in done] == list(range(1, len(done) + 1))
        assert len(rig.writer.tasks) == len(compactions) + 1
        assert (await rig.session.verify()).is_sound


async def test_cancelling_cancels_what_follows(url: str) -> None:
    """A held event is cancelled with every later one, the last first; those before it go on, and nothing has left."""
    async with several(url) as rig:
        await rig.session.append(talk(40))
        await rig.show()
        await rig.wait_for_call()
        compactions = await rig.compactions()
        cancelled = await rig.session.inspect.cancel(compactions[1].id)
        assert cancelled == [compaction.id for compaction in reversed(compactions[1:])]
        assert (await rig.session.inspect.state()).pending_compactions == (compactions[0].id,)
        with pytest.raises(ConflictError, match="cancelled"):
            await rig.session.inspect.cancel(compactions[1].id)
        assert shown(await rig.session.window()) == list(range(1, 81))
        await rig.finish()
        states = {compaction.id: compaction.state for compaction in await rig.compactions()}
        assert states[compactions[0].id] == "done"
        assert {states[compaction.id] for compaction in compactions[1:]} == {"cancelled"}
        with pytest.raises(ConflictError, match=r"shown already|done"):
            await rig.session.inspect.cancel(compactions[0].id)
        assert (await rig.session.verify()).is_sound


async def test_cancelling_what_the_model_is_at(rig: Rig) -> None:
    """A digest that comes after its event was cancelled is thrown away."""
    await rig.talk_until_called()
    (compaction,) = await rig.compactions()
    assert await rig.session.inspect.cancel(compaction.id) == [compaction.id]
    rig.writer.faults = []
    rig.writer.called.clear()
    rig.writer.gate.set()
    await let_run()
    (same, *_) = await rig.compactions()
    assert (same.state, same.draft, same.certificate) == ("cancelled", None, None)
    assert "A model wrote" not in said(rig.windows[-1])


# --- asked for


async def test_a_person_waits_for_the_digest(rig: Rig) -> None:
    """A compaction by hand gives the model's digest when it is there."""
    await rig.turn(8)
    rig.writer.gate.set()
    (done,) = await rig.session.compact(keep_recent=4)
    assert [digest.generator for digest in done.digests] == ["abstractive"]
    (compaction,) = await rig.compactions()
    assert (compaction.state, compaction.plan.trigger) == ("done", "manual")


async def test_a_person_does_not_wait_for_ever(url: str) -> None:
    """After the time the extractive digest stands under its note; the model's comes later and takes its place."""
    async with opened(url, settings={"summary_timeout_secs": 0.05}) as rig:
        await rig.turn(8)
        (done,) = await rig.session.compact(keep_recent=4)
        assert [digest.generator for digest in done.digests] == ["extractive"]
        window = await rig.show()
        assert len(notes(window)) == 1
        rig.writer.gate.set()
        await rig.recovery()
        after = await rig.show()
        assert (notes(after), reasons(after)) == ([], ["compaction: revision"])
        assert "A model wrote this" in said(after)


# --- faults


async def test_a_refused_digest_is_degraded_and_may_be_retried(rig: Rig) -> None:
    """The extractive digest is final and says why; a person's retry shows the note, then the model's digest."""
    rig.writer.faults = ["refused"]
    rig.writer.gate.set()
    await rig.talk_until_called()
    await rig.finish()
    window = await rig.show()
    (compaction,) = await rig.compactions()
    assert (compaction.state, compaction.digest, compaction.problem) == ("degraded", "failed", "refusal: it declined")
    assert (notes(window), "A model wrote" in said(window)) == ([], False)
    retried = await rig.session.inspect.retry(compaction.id)
    assert (retried.state, retried.digest) == ("done", "done")
    after = await rig.show()
    assert reasons(after) == ["compaction: revision"]
    assert "A model wrote this" in said(after)
    with pytest.raises(ConflictError, match="done"):
        await rig.session.inspect.retry(compaction.id)
    assert (await rig.session.verify()).is_sound


async def test_a_retry_that_never_wins_is_told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where other writers are first at every try, a person's retry ends in a conflict and leaves the compaction as it was."""
    rig.writer.faults = ["refused"]
    rig.writer.gate.set()
    await rig.talk_until_called()
    await rig.finish()
    (compaction,) = await rig.compactions()

    async def lose(*_: object, **__: object) -> None:
        raise ConflictError("another writer was first")

    with monkeypatch.context() as patch:
        patch.setattr(tries, "PATIENCE", tries.Patience(deadline_secs=0.02))
        patch.setattr(type(rig.session._store), "reopen_compaction", lose)
        with anyio.fail_after(20), pytest.raises(ConflictError, match="nothing was written, try again"):
            await rig.session.inspect.retry(compaction.id)
    assert (await rig.compactions())[0] == compaction


async def test_attempts_are_durable_and_end(rig: Rig) -> None:
    """A failing event is put off each time, counts its attempts, and is degraded at the last; the transcript is whole."""
    rig.writer.faults = ["error"] * 9
    rig.writer.gate.set()
    await rig.talk_until_called()
    await rig.finish()
    for attempt in (1, 2):
        (compaction,) = await rig.compactions()
        assert (compaction.state, compaction.attempts, compaction.digest) == ("pending", attempt, "pending")
        assert compaction.lease_until == rig.clock.now() + timedelta(minutes=10) or attempt == 1
        assert shown(await rig.show()) == list(range(1, rig.turns_count * 2 + 1))
        await rig.recovery()
    (compaction,) = await rig.compactions()
    assert (compaction.state, compaction.attempts, compaction.digest) == ("degraded", 3, "failed")
    assert compaction.is_committed
    assert len(rig.writer.tasks) == 3
    assert (await rig.session.verify()).is_sound


async def test_a_retry_that_fails_leaves_the_note_until_it_ends(rig: Rig) -> None:
    """While a retried event is on its way its note is shown, and is gone when the attempts are exhausted again."""
    rig.writer.faults = ["refused", *["error"] * 9]
    rig.writer.gate.set()
    await rig.talk_until_called()
    await rig.finish()
    (compaction,) = await rig.compactions()
    assert (await rig.session.inspect.retry(compaction.id)).state == "pending"
    assert len(notes(before := await rig.turn())) == 1
    await rig.recovery()
    await rig.recovery()
    assert (await rig.compactions())[0].state == "degraded"
    same_turn = await rig.show()
    assert same_turn.render("openai") == before.render("openai")
    window = await rig.turn()
    assert (notes(window), reasons(same_turn), reasons(window)) == ([], [], [])
    assert flatten_prefix(window)[: len(flatten_prefix(before))] == flatten_prefix(before)


async def test_a_lease_that_cannot_be_renewed_once_costs_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not serve while a lease is renewed is asked again, and the digest is committed all the same."""
    async with opened(url, settings={"lease_secs": 0.01}) as rig:
        asked: list[None] = []
        asked_again = asyncio.Event()

        async def refuse(*_: object, **__: object) -> None:
            asked.append(None)
            if len(asked) > 1:
                asked_again.set()
            raise StoreUnavailableError("the database is locked; try again")

        monkeypatch.setattr(rig.engine._store, "renew_compaction", refuse)
        await rig.talk_until_called()
        async with asyncio.timeout(SECS):
            await asked_again.wait()
        await rig.finish()
        (compaction,) = await rig.compactions()
        assert (compaction.state, compaction.attempts) == ("done", 1)


# --- from one process to the next


async def test_a_closed_engine_leaves_its_work_to_the_next(file_url: str) -> None:
    """A slow model's event is pending and due when the engine has closed; the next engine's first sweep finishes it."""
    clock = FakeClock()
    async with opened(file_url, clock=clock) as rig:
        await rig.talk_until_called()
        (compaction,) = await rig.compactions()
        assert compaction.state == "running"
        assert await rig.engine.close(drain_secs=0.0) == 1
    writer = Writer()
    writer.gate.set()
    async with opened(file_url, clock=clock, writer=writer) as rig:
        (pending,) = await rig.compactions()
        assert (pending.id, pending.state, pending.lease_until) == (compaction.id, "pending", None)
        await writer.called.wait()
        await rig.finish()
        (done,) = await rig.compactions()
        assert (done.id, done.state, done.attempts) == (compaction.id, "done", 2)
        assert "A model wrote this" in said(await rig.show())


async def test_of_two_engines_one_has_the_event(file_url: str) -> None:
    """While one engine's model is at an event another leaves it alone; it is written and committed once."""
    clock, first, second = FakeClock(), Writer(), Writer()
    async with opened(file_url, clock=clock, writer=first) as one:
        await one.talk_until_called()
        async with opened(file_url, clock=clock, writer=second) as other:
            second.gate.set()
            await other.recovery(after=timedelta(0))
            await other.show()
            await let_run()
            assert second.tasks == []
            await one.finish()
            (compaction,) = await other.compactions()
            assert (compaction.state, compaction.attempts) == ("done", 1)
            assert "A model wrote this" in said(await other.show())
        assert (await one.session.verify()).is_sound


async def test_a_worker_that_lost_its_lease_is_too_late(file_url: str) -> None:
    """Of two that write the same event's digest, after a lease that ran out, the later claim wins and nothing doubles."""
    clock, first, second = FakeClock(), Writer(), Writer()
    async with opened(file_url, clock=clock, writer=first) as one:
        await one.talk_until_called()
        async with opened(file_url, clock=clock, writer=second) as other:
            second.gate.set()
            await other.recovery()
            (compaction,) = await other.compactions()
            assert (compaction.state, compaction.attempts) == ("done", 2)
            await one.finish()
            assert await other.compactions() == [compaction]
            assert len(await list_all_compactions(other.session)) == 1
        assert (await one.session.verify()).is_sound


# --- occasions


async def test_cadence(url: str) -> None:
    """Every so many exchanges the sources are asked for the time since they answered, and a compaction begins."""
    source, clock = FakeSource(), FakeClock()
    start = clock.now()
    settings = {"continuous_interval": 5, "min_fold_tokens": 0, "keep_recent": 4}
    async with opened(url, clock=clock, source=source, limit=32_000, settings=settings) as rig:
        rig.writer.gate.set()
        for _ in range(12):
            await rig.turn()
            await rig.finish()
        assert stretches(source, start) == [(0, 10), (10, 20)]
        compactions = await rig.compactions()
        assert {(compaction.plan.trigger, compaction.state) for compaction in compactions} == {("cadence", "done")}
        assert [compaction.plan.last_seq for compaction in compactions] == [
            6,
            17,
        ]  # the first refresh is one message more


async def test_a_cadence_is_met_before_the_next_message(url: str) -> None:
    """The answer that ends an exchange begins what is due; what is finished stands before the user's next message."""
    source = FakeSource()
    async with opened(url, source=source, limit=32_000, settings={"continuous_interval": 3}) as rig:
        await rig.turn(2)
        await rig.session.append(talk(1, first=3))
        await rig.rest()
        assert len(source.asked) == 1
        (seq,) = await rig.session.append(user("What is new?"))
        state = await rig.session.inspect.state()
        assert state.refresh_seq == seq - 1
        assert shown(await rig.show())[-2:] == [seq - 1, seq]
        await rig.session.append([calls("a"), result("a", "free")])
        await rig.rest()
        assert len(source.asked) == 1


async def test_a_gap_is_met_before_the_message_that_ends_it(url: str) -> None:
    """What the sources said and what was folded stand before the user's question; the window asks no source again."""
    source, clock = FakeSource(), FakeClock()
    settings = {"gap_secs": 600, "keep_recent": 2, "min_fold_tokens": 0}
    async with opened(url, clock=clock, source=source, has_model=False, settings=settings) as rig:
        await rig.turn(9)
        start = clock.now()
        clock.advance(HOUR)
        await rig.session.append(assistant("Good night."))
        assert source.asked == []
        (seq,) = await rig.session.append(user("What is new?"), client_id="back")
        state = await rig.session.inspect.state()
        assert (state.refresh_seq, state.compactions_count) == (seq - 1, 1)
        assert stretches(source, start) == [(0, 60)]
        assert shown(await rig.show())[-2:] == [seq - 1, seq]
        clock.advance(HOUR)
        assert await rig.session.append(user("What is new?"), client_id="back") == [seq]
        with pytest.raises(InvalidInputError):
            await rig.session.append([user("And now?"), result("nobody", "asked")])
        other = await rig.engine.session(id=rig.session.id)
        await rig.show()
        assert len(source.asked) == 1
        await asyncio.gather(rig.session.append(user("And now?")), other.append(user("Anything?")))
        await rig.show()
        assert len(source.asked) == 2


async def test_ticks_and_injections_are_no_activity(url: str) -> None:
    """However many come, neither cadence nor gap: only what the user said counts."""
    source, clock = FakeSource(), FakeClock()
    async with opened(url, clock=clock, source=source, settings={"continuous_interval": 3, "gap_secs": 600}) as rig:
        await rig.turn(2)
        for number in range(12):
            clock.advance(HOUR)
            await rig.session.append(user(f"It is {number}."), source="tick", origin="system")
            await rig.session.append(user(f"News {number}."), source="injection", origin="external")
            await rig.show()
        assert source.asked == []


async def test_gap(url: str) -> None:
    """The user's return is met before the window is shown: the sources are asked for the time away, and it is folded."""
    source, clock = FakeSource(), FakeClock()
    start = clock.now()
    async with opened(
        url, clock=clock, source=source, settings={"gap_secs": 600, "keep_recent": 2, "min_fold_tokens": 0}
    ) as rig:
        await rig.turn(9)
        assert source.asked == []
        window = await rig.turn(minutes=60)
        assert stretches(source, start) == [(18, 78)]
        assert reasons(window) == ["compaction: gap"]
        assert window.report.compacted_through >= 16
        await rig.show()
        await rig.turn(2)
        assert len(source.asked) == 1
        await rig.turn(minutes=30)
        assert stretches(source, start)[1:] == [(78, 112)]


@pytest.mark.parametrize("hook", [Hearing(), None], ids=["a plug-in", "strict without one"])
async def test_a_gap_folds_nothing_before_the_plug_ins_saw_it(url: str, hook: Hearing | None) -> None:
    """Where plug-ins are asked first, a gap only begins its compaction; strict without a success folds nothing at all."""
    settings = {"gap_secs": 600, "keep_recent": 2, "min_fold_tokens": 0}
    hooks = () if hook is None else (hook,)
    async with opened(url, has_model=False, hooks=hooks, strict=True, settings=settings) as rig:
        await rig.turn(9)
        window = await rig.turn(minutes=60)
        assert reasons(window) == []
        assert window.report.compacted_through == 0
        await rig.rest()
        assert bool((await rig.show()).report.compacted_through) == (hook is not None)


async def test_strict_folds_nothing_that_still_fits(url: str) -> None:
    """Where no checkpoint succeeds, neither a log that grows fast nor a lowered limit folds what has not to go."""
    async with opened(url, strict=True, limit=8000) as rig:
        window = await rig.turn(minutes=0.0)
        while not (await rig.session.inspect.state()).pending_compactions:
            window = await rig.turn(minutes=0.0)
        await let_run()
        assert window.report.compacted_through == 0
        assert (await rig.show()).report.compacted_through == 0
        lower = int(8000 * 0.95)
        assert (await rig.session.window(limit=lower)).report.compacted_through == 0
        assert (await rig.session.window(limit=lower // 2)).report.compacted_through > 0


@pytest.mark.parametrize("is_appended", [False, True], ids=["at once", "after an append"])
async def test_a_break_is_reported_once(url: str, is_appended: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    """By the window that shows it first, and by no later one of this handle or another."""
    async with opened(url) as rig:
        rig.writer.gate.set()
        while not (window := await rig.turn()).report.cache_breaks:
            pass
        assert reasons(window) == ["compaction: tokens"]
        if is_appended:
            await rig.session.append(talk(1, first=1000))
        else:
            await rig.rest()
        other = await rig.engine.session(id=rig.session.id)
        assert reasons(await other.window()) == reasons(await rig.show()) == []


@pytest.mark.parametrize(
    "source",
    [FakeSource(error=ModelUnavailableError("the calendar does not answer; try again")), FakeSource(secs=60.0)],
    ids=["an error", "past the deadline"],
)
async def test_a_refresh_that_fails_keeps_its_stretch(file_url: str, source: FakeSource) -> None:
    """The turn goes on, and the time that no source answered for is asked for again, also by the next process."""
    clock = FakeClock()
    start = clock.now()
    settings = {"gap_secs": 600, "gap_deadline_secs": 0.02, "enabled": False}
    async with opened(file_url, clock=clock, source=source, settings=settings) as rig:
        await rig.turn(3)
        await rig.turn(minutes=60)
        assert stretches(source, start) == [(6, 66)]
    answering = FakeSource()
    async with opened(file_url, clock=clock, source=answering, settings=settings) as rig:
        await rig.show()
        assert answering.asked == []
        await rig.turn(minutes=60)
        assert stretches(answering, start) == [(6, 126)]


async def test_counters_survive_a_restart(file_url: str) -> None:
    """Exchanges, activity and the last success are counted on by the next process."""
    clock, source = FakeClock(), FakeSource()
    settings = {"continuous_interval": 4, "min_fold_tokens": 0}
    async with opened(file_url, clock=clock, source=source, settings=settings) as rig:
        rig.writer.gate.set()
        await rig.turn(3)
        await rig.finish()
        before = await rig.session.inspect.state()
    async with opened(file_url, clock=clock, source=source, settings=settings) as rig:
        rig.writer.gate.set()
        assert await rig.session.inspect.state() == before
        rig.turns_count = 3
        await rig.turn(2)
        await rig.finish()
        assert len(source.asked) == 1
        rig.clock.advance(HOUR)
        await rig.session.compact(keep_recent=1)
        succeeded_at = (await rig.session.inspect.state()).succeeded_at
        assert succeeded_at is not None
    async with opened(file_url, clock=clock, settings=settings) as rig:
        assert (await rig.session.inspect.state()).succeeded_at == succeeded_at


# --- the latch


async def test_the_latch_pauses_work(url: str) -> None:
    """Two compactions that stay above the trigger begin no third beside the turns, and one warning is told."""
    async with opened(url, limit=16_000, has_model=False) as rig:
        head, paste = ([f"{word}{number}" for number in range(count)] for word, count in (("h", 415), ("p", 4000)))
        await rig.session.append([user(" ".join(head)), assistant("ok"), user(" ".join(paste))])
        rig.session = await rig.engine.session(limit=LIMIT)
        for number in range(6):
            words = " ".join(f"step{number}x{count}" for count in range(64))
            await rig.session.append([calls("a"), result("a", words)])
            await rig.show()
            await rig.finish()
            if (await rig.session.inspect.state()).stuck_count >= 2:
                break
        assert (await rig.session.inspect.state()).stuck_count >= 2
        assert len([one for one in rig.told.compactions if isinstance(one, BreakerOpened)]) == 1
        before = len(await rig.compactions())
        await rig.show()
        await rig.finish()
        assert len(await rig.compactions()) == before
