"""Never neither, whatever happens beside the turns: a machine of turns, workers, models, crashes and people.

The machine plays the client, the dispatcher, the model and the power supply. A crash ends the process at a drawn call
of the store: everything that is not stored is gone, and a new engine goes on over the same store. After every step the
log reads back as it was given, and each message is shown or was read by a digest that is shown.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal, TypeVar, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.support.proofs import (
    PROVIDERS,
    Flat,
    find_suffix,
    flatten_prefix,
    flatten_request,
    list_all_compactions,
    says_something,
    spell,
)
from tests.support.sizes import examples

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_memories
from everfold.config import load_settings
from everfold.core.compaction.certificate import hash_text
from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.compaction.planning import list_noted
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import Task, WorkPolicy, Written
from everfold.core.digests.drafts import Draft
from everfold.core.log.budget import Policy
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.core.text.frames import RECALL_TITLE, continuity_note
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.core.windows.rendering import render
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import BudgetUnsatisfiableError, ConflictError, InvalidInputError, ModelUnavailableError
from everfold.ports.dispatch import DoJob
from everfold.ports.jobs import Job
from everfold.ports.stores import Store
from everfold.services.compaction.recover import Recovery
from everfold.services.compaction.work import Worker
from everfold.services.sessions.live import load_session
from everfold.services.telling.stream import Stream
from everfold.services.turns.background import Background
from everfold.services.turns.do_job import do_job
from everfold.session import Session
from everfold.testing.judges.requests import check_anthropic_request, check_openai_request, check_window_rules
from everfold.testing.kit.builders import assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, CountingSecrets, FakeClock
from everfold.testing.kit.log_wire import UNKNOWN_MEMBER

T = TypeVar("T")
Behaviour = Literal["good", "refused", "error"]
BEHAVIOURS = st.sampled_from(["good", "good", "refused", "error"])
MOST_SESSIONS = 3
SETTINGS = load_settings()
GRACE_SECS = 600.0
MOST_CALLS = 24
MOST_WORK = 200
MOST_MARKS = 6
"""How many of its messages a model speaks of: a digest has a cap."""


class CrashError(BaseException):
    """The process is dead. No `except` of the engine's may catch it."""


def spell_stored(said: "Said") -> str:
    """A message as its bytes are stored."""
    return encode_json(said.wire).decode("utf-8", "surrogatepass")


class MortalStore:
    """A store that dies at a call that was drawn, before or after it did its work, and stays dead."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._calls_left: int | None = None
        self._is_after = False
        self._is_dead = False

    def arm(self, calls_count: int, *, is_after: bool) -> None:
        """Die at the call after so many."""
        self._calls_left, self._is_after = calls_count, is_after

    def disarm(self) -> None:
        """Do not die."""
        self._calls_left = None

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        call = getattr(self._store, name)

        async def reached(*arguments: object, **options: object) -> object:
            is_due = self._calls_left == 0
            if self._calls_left is not None:
                self._calls_left -= 1
            if self._is_dead or (is_due and not self._is_after):
                self._is_dead = True
                raise CrashError
            given = await call(*arguments, **options)
            if is_due:
                self._is_dead = True
                raise CrashError
            return cast("object", given)

        return reached


class Waking:
    """A dispatcher that remembers what it was given; the machine runs it."""

    def __init__(self) -> None:
        self.work: dict[str, Job] = {}
        self.running: list[Job] = []

    def serve(self, do: DoJob) -> None:
        """Have jobs done so."""
        self.do = do

    def submit(self, job: Job) -> None:
        """Remember it."""
        self.work[job.name] = job

    def list_jobs(self) -> list[Job]:
        """What is remembered, and what is being done."""
        return [*self.work.values(), *self.running]

    async def run(self, job: Job) -> None:
        """Do it here."""
        await self.do(job)

    async def run_all(self) -> None:
        """Do everything that was submitted, and what that submits."""
        for _ in range(MOST_WORK):
            if not self.work:
                return
            name = next(iter(self.work))
            self.running = [self.work.pop(name)]
            try:
                await self.do(self.running[0])
            finally:
                self.running = []
        raise AssertionError(f"work is submitted without end: {list(self.work)}")

    async def join(self, name: str) -> None:
        """Nothing runs by itself."""

    async def close(self, *, drain_secs: float) -> int:  # noqa: ARG002 - the port's
        """Nothing runs by itself."""
        return 0


def mark(content_hash: str) -> str:
    """What a model says of a message: a word that no other message has."""
    return content_hash[:10]


@dataclass(kw_only=True)
class Script:
    """The model: what it does next, and the call that it is at while it is slow."""

    behaviours: list[Behaviour] = field(default_factory=list)
    is_slow: bool = False
    called: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, task: Task) -> Written:
        """Answer as the next behaviour says; a good one where none is left."""
        if self.is_slow:
            self.called.set()
            await self.go_on.wait()
        match self.behaviours.pop(0) if self.behaviours else "good":
            case "error":
                raise ModelUnavailableError("no route to the model; try again")
            case "refused":
                return Written(draft=None, problem="refusal: it declined")
            case _:
                marks = " ".join(mark(message.content_hash) for message in task.messages[:MOST_MARKS])
                text = f"A model read {len(task.messages)} messages up to {task.compaction.plan.last_seq}: {marks}"
                tokens = estimate_text_tokens(text)
                return Written(draft=Draft(text=text, tokens=tokens, epoch=task.epoch, digest_secs=2.0))


@dataclass(kw_only=True)
class Said:
    """A message that was given. Branches share theirs."""

    wire: JsonObject
    is_erased: bool = False


@dataclass(kw_only=True)
class Process:
    """All that is gone with a crash."""

    store: MortalStore
    engine: Everfold
    worker: Worker
    recovery: Recovery
    dispatcher: Waking
    script: Script
    handles: dict[str, Session] = field(default_factory=dict)
    working: asyncio.Task[object] | None = None
    seen: dict[str, Flat] = field(default_factory=dict)
    noted: dict[str, tuple[tuple[int, str], str]] = field(default_factory=dict)


class BackgroundMachine(RuleBasedStateMachine):
    """One client of up to three sessions, with work done beside its turns."""

    is_file = False

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(mkdtemp())
        self.clock, self.ids = FakeClock(step=timedelta(seconds=1)), CountingIds()
        self.logs: dict[str, list[Said]] = {}
        self.touched: set[str] = set()
        self.turns_count = 0
        self.said_at = self.clock.now()
        self.limit = 0
        self.store: Store = SqliteStore(IN_MEMORY, self.clock)
        self.is_open = False
        self.start()

    # --- the process

    def start(self) -> None:
        """Open an engine over what is stored."""
        self.process = self.runner.run(self._start())

    async def _start(self) -> Process:
        if self.is_file:
            if self.is_open:
                await self.store.close()
            self.store = await SqliteStore.open(str(self.folder / "log.db"), self.clock)
        self.is_open = True
        mortal = MortalStore(self.store)
        store, script, dispatcher = cast("Store", mortal), Script(), Waking()
        worker = Worker(
            store=store,
            clock=self.clock,
            ids=self.ids,
            dispatcher=dispatcher,
            policy=WorkPolicy(grace_secs=GRACE_SECS, attempts=3),
            write_digest=script.write,
        )
        recovery = Recovery(store=store, clock=self.clock, wake=worker.wake, stream=Stream())
        background = Background(worker=worker, dispatcher=dispatcher, recovery=recovery)
        memories = make_memories(store, SETTINGS, clock=self.clock, ids=self.ids, stream=Stream())
        dispatcher.serve(partial(do_job, background, memories))
        engine = Everfold(
            store,
            clock=self.clock,
            ids=self.ids,
            secrets=CountingSecrets(),
            defaults_of=lambda _: SessionSettings(policy=Policy(min_fold_tokens=100)),
            stream=Stream(),
            background=background,
            memories=memories,
        )
        return Process(
            store=mortal, engine=engine, worker=worker, recovery=recovery, dispatcher=dispatcher, script=script
        )

    def run(self, doing: Callable[[], Awaitable[T]]) -> T | None:
        """Do something; None when the process died of it, and a new one has been started."""

        async def attempt() -> tuple[bool, T | None]:
            try:
                return True, await doing()
            except CrashError:
                return False, None

        is_alive, given = self.runner.run(attempt())
        if not is_alive:
            self.crash()
        return given

    def crash(self) -> None:
        """Lose everything that is not stored."""
        working, self.process.working = self.process.working, None
        self.process.store.arm(0, is_after=False)
        if working is not None:
            self.runner.run(_end(working))
        self.start()

    async def session(self, session_id: str) -> Session:
        """The handle of a session; its client has one for as long as the process lives."""
        handles = self.process.handles
        if session_id not in handles:
            handles[session_id] = await self.process.engine.session(id=session_id)
        return handles[session_id]

    def pick(self, index: int) -> str:
        """One of the sessions."""
        session_id = list(self.logs)[index % len(self.logs)]
        self.touched.add(session_id)
        return session_id

    # --- turns

    @initialize(limit=st.sampled_from([2_500, 6_000]), count=st.integers(0, 24))
    def open_first(self, limit: int, count: int) -> None:
        """There is always one session, and perhaps much was said in it already."""
        self.limit = limit
        session = self.run(lambda: self.process.engine.session(limit=limit))
        assert session is not None
        self.logs[session.id] = []
        self.touched.add(session.id)
        for _ in range(count):
            self.talk(0, 1)

    def add(self, index: int, wires: Sequence[JsonObject]) -> None:
        """Append; after a crash all of it is there or none of it."""
        session_id = self.pick(index)
        log = self.logs[session_id]

        async def append() -> bool:
            await (await self.session(session_id)).append(wires, said_at=self.said_at)
            return True

        self.said_at += timedelta(minutes=2)  # people take their time: there is often room to wait for a model

        if self.run(append) is None:
            state = self.runner.run(self.read_state(session_id))
            assert state.last_seq in {len(log), len(log) + len(wires)}
            if state.last_seq == len(log):
                return
        log += [Said(wire=wire) for wire in wires]

    async def read_state(self, session_id: str) -> SessionState:
        """A session's state, past the client."""
        return await self.store.read_state(SessionId(session_id))

    @rule(index=st.integers(0, 9), count=st.integers(1, 8))
    def talk(self, index: int, count: int) -> None:
        """Turns of a user and an assistant."""
        self.turns_count += count
        self.add(index, talk(count, first=self.turns_count))

    @rule(index=st.integers(0, 9), count=st.integers(1, 12), behaviours=st.lists(BEHAVIOURS, max_size=2))
    def converse(self, index: int, count: int, behaviours: list[Behaviour]) -> None:
        """The same with a window for each, and with workers that are there when they are wanted."""
        for _ in range(count):
            self.talk(index, 1)
            self.window(index, None)
            if self.process.dispatcher.work and self.process.working is None:
                self.serve(behaviours)

    @rule(index=st.integers(0, 9), count=st.integers(1, 3), is_closed=st.booleans())
    def use_tools(self, index: int, count: int, *, is_closed: bool) -> None:
        """Steps of an agent, the last of which may stay open."""
        wires: list[JsonObject] = []
        for number in range(count):
            wires.append(calls("a", "b"))
            wires.append(result("a", f"Berth {number} is free. " * 12))
            if is_closed or number < count - 1:
                wires.append(result("b", f"Crane {number} is at rest. " * 12))
        self.add(index, wires)

    @rule(index=st.integers(0, 9), is_user=st.booleans())
    def paste(self, index: int, *, is_user: bool) -> None:
        """Much at once: an overflow, most often."""
        self.turns_count += 1
        text = " ".join(f"crate{number} of lot {self.turns_count}" for number in range(150))
        many = [user(f"And lot {self.turns_count}?"), *(assistant(f"{text} {part}") for part in range(4))]
        self.add(index, [user(text), assistant("Noted.")] if is_user else many)

    @rule(index=st.integers(0, 9), share=st.sampled_from([None, None, None, 0.75]))
    def window(self, index: int, share: float | None) -> None:
        """Ask for a window, perhaps for a lower limit, and look at all that it must hold to."""
        session_id = self.pick(index)

        async def show() -> None:
            session = await self.session(session_id)
            before = await session.inspect.state()
            try:
                window = await session.window(limit=None if share is None else int(self.limit * share))
            except BudgetUnsatisfiableError:
                assert await session.inspect.state() == before, "a refused window has written something"
                return
            await self.check_window(session, window)

        self.run(show)

    @rule(index=st.integers(0, 9))
    def preview(self, index: int) -> None:
        """A preview writes nothing."""
        session_id = self.pick(index)

        async def show() -> None:
            session = await self.session(session_id)
            before = await session.inspect.state(), await list_all_compactions(session)
            with suppress(BudgetUnsatisfiableError):
                await session.window(preview=True)
            assert (await session.inspect.state(), await list_all_compactions(session)) == before

        self.run(show)

    # --- work

    @precondition(lambda self: self.process.working is None)
    @rule(index=st.integers(0, 9), behaviours=st.lists(BEHAVIOURS, max_size=3))
    def dispatch(self, index: int, behaviours: list[Behaviour]) -> None:
        """A worker goes through a session, inline."""
        session_id = self.pick(index)
        self.process.script.behaviours = behaviours
        self.run(lambda: self.work(session_id))
        self.process.script.behaviours = []

    async def work(self, session_id: str) -> None:
        """Do what a caller does that waits for the work."""
        record = await self.process.engine._store.get_session(SessionId(session_id))
        await self.process.worker.work(await load_session(self.process.worker.store, record))

    @precondition(lambda self: self.process.working is None)
    @rule(behaviours=st.lists(BEHAVIOURS, max_size=3))
    def serve(self, behaviours: list[Behaviour]) -> None:
        """The dispatcher does what it was given, beside the turns."""
        self.touched.update(self.logs)
        self.process.script.behaviours = behaviours
        self.run(self.process.dispatcher.run_all)
        self.process.script.behaviours = []

    @precondition(lambda self: self.process.working is None)
    @rule(index=st.integers(0, 9))
    def dispatch_to_a_slow_model(self, index: int) -> None:
        """A worker goes through a session and hangs at the model, while other things happen."""
        session_id = self.pick(index)
        script = self.process.script
        script.is_slow = True
        script.called.clear()
        script.go_on.clear()

        async def begin() -> None:
            working: asyncio.Task[object] = asyncio.get_running_loop().create_task(self.work(session_id))
            called = asyncio.get_running_loop().create_task(script.called.wait())
            await asyncio.wait([working, called], return_when=asyncio.FIRST_COMPLETED)
            called.cancel()
            if working.done():
                await working
            else:
                self.process.working = working

        self.run(begin)
        self.process.script.is_slow = False

    @precondition(lambda self: self.process.working is not None)
    @rule(behaviour=BEHAVIOURS, is_cancelled=st.booleans())
    def go_on(self, behaviour: Behaviour, *, is_cancelled: bool) -> None:
        """The slow model answers at last, or the engine is closed."""
        self.touched.update(self.logs)

        async def end() -> None:
            working, self.process.working = self.process.working, None
            assert working is not None
            self.process.script.behaviours = [behaviour]
            if is_cancelled:
                working.cancel()
            self.process.script.go_on.set()
            with suppress(asyncio.CancelledError):
                await working

        self.run(end)
        self.process.script.behaviours = []

    @rule()
    def recovery(self) -> None:
        """Look for what was left behind, and have a worker at it, except where one is already."""
        self.touched.update(self.logs)

        async def recovery() -> None:
            await self.process.recovery.recover()
            if self.process.working is None:
                await self.process.dispatcher.run_all()

        self.run(recovery)

    @rule(secs=st.sampled_from([5.0, 200.0, 700.0, 4000.0]))
    def wait(self, secs: float) -> None:
        """Time passes."""
        self.clock.advance(timedelta(seconds=secs))

    # --- people

    @rule(index=st.integers(0, 9), behaviours=st.lists(BEHAVIOURS, max_size=2), which=st.integers(0, 9))
    def retry(self, index: int, behaviours: list[Behaviour], which: int) -> None:
        """A person has a degraded event tried again."""
        session_id = self.pick(index)

        async def retry() -> None:
            session = await self.session(session_id)
            degraded = [
                compaction for compaction in await list_all_compactions(session) if compaction.state == "degraded"
            ]
            self.process.script.behaviours = behaviours
            if degraded:
                with suppress(ConflictError):
                    await session.inspect.retry(degraded[which % len(degraded)].id)

        self.run(retry)
        self.process.script.behaviours = []

    @rule(index=st.integers(0, 9), which=st.integers(0, 3))
    def cancel(self, index: int, which: int) -> None:
        """A person gives up a held event, and with it all later ones."""
        session_id = self.pick(index)

        async def cancel() -> None:
            session = await self.session(session_id)
            held = (await session.inspect.state()).pending_compactions
            if held:
                cancelled = await session.inspect.cancel(held[which % len(held)])
                assert list(reversed(cancelled)) == list(held[which % len(held) :])

        self.run(cancel)

    @precondition(lambda self: self.process.working is None)
    @rule(index=st.integers(0, 9), keep=st.integers(1, 9), behaviours=st.lists(BEHAVIOURS, max_size=2))
    def compact(self, index: int, keep: int, behaviours: list[Behaviour]) -> None:
        """A person asks for a compaction."""
        session_id = self.pick(index)
        self.process.script.behaviours = behaviours

        async def compact() -> None:
            with suppress(BudgetUnsatisfiableError):
                await (await self.session(session_id)).compact(keep_recent=keep)

        self.run(compact)
        self.process.script.behaviours = []

    @rule(index=st.integers(0, 9), share=st.floats(0, 1))
    def erase(self, index: int, share: float) -> None:
        """A message is erased, in every session that holds it."""
        session_id = self.pick(index)
        self.touched.update(self.logs)
        log = self.logs[session_id]
        left = [seq for seq, said in enumerate(log, 1) if not said.is_erased]
        if not left:
            return
        seq = left[int(share * (len(left) - 1))]

        async def erase() -> bool:
            await (await self.session(session_id)).erase(seq)
            return True

        if self.run(erase) is None:
            kept = self.runner.run(self.store.read_messages(SessionId(session_id), [seq]))
            if kept:
                return
        log[seq - 1].is_erased = True

    @precondition(lambda self: len(self.logs) < MOST_SESSIONS)
    @rule(index=st.integers(0, 9), share=st.floats(0, 1))
    def branch(self, index: int, share: float) -> None:
        """The conversation goes another way from some message on."""
        parent_id = self.pick(index)
        seq = int(len(self.logs[parent_id]) * share)

        async def branch() -> str:
            try:
                return (await (await self.session(parent_id)).branch(seq)).id
            except InvalidInputError:
                return ""

        child_id = self.run(branch)
        if child_id:
            self.logs[child_id] = self.logs[parent_id][:seq]
            self.touched.add(child_id)

    # --- the power supply

    @rule(calls_count=st.integers(0, 40), is_after=st.booleans())
    def cut_the_power_soon(self, calls_count: int, *, is_after: bool) -> None:
        """The process will die at some call of the store; or, for a number past those, it does not."""
        if calls_count < MOST_CALLS:
            self.process.store.arm(calls_count, is_after=is_after)

    # --- what holds

    async def check_window(self, session: Session, window: Window) -> None:
        """Within its budget, valid, an extension of the one before or with a reason, notes over what is awaited."""
        report = window.report
        suffix = find_suffix(window)
        unused = report.fixed_tokens - report.by_slice["fixed"]  # what is recalled may take it, and what else is free
        assert report.tokens <= report.budget_tokens - (0 if RECALL_TITLE in suffix else unused), report
        requests = {kind: render(window, kind) for kind in PROVIDERS}
        if report.last_seq:
            assert check_openai_request(requests["openai"], extras={UNKNOWN_MEMBER}) == []
            assert check_anthropic_request(requests["anthropic"]) == []
            assert check_window_rules(requests["openai"], kind="openai") == []
        else:
            assert [requests[kind]["messages"] for kind in PROVIDERS] == [[], []], "an empty log renders something"
        flat, before = flatten_prefix(window), self.process.seen.get(session.id, ())
        assert flat[: len(before)] == before or report.cache_breaks, "the beginning changed and no reason is told"
        if says_something(window):
            self.process.seen[session.id] = flat
        elif report.cache_breaks:  # all is erased, and that was told here
            self.process.seen.pop(session.id, None)
        state = await session.inspect.state()
        noted = continuity_note(
            [(one.first_seq, one.last_seq) for one in list_noted(state.awaited, session._live.layout)]
        )
        moment = (state.turn_seq, state.compaction_id)
        known = self.process.noted.get(session.id)
        allowed = {noted} if known is None or known[0] != moment else {noted, known[1]}
        note = suffix.partition(RECALL_TITLE)[0].removesuffix("\n\n")  # what is recalled comes after it
        assert note in allowed, (note, allowed)
        self.process.noted[session.id] = (moment, note)
        assert flat + ((flatten_request(requests["openai"])[-1],) if suffix else ()) == flatten_request(
            requests["openai"]
        )
        ranges = [entry for entry in window.entries if isinstance(entry, RangeEntry)]
        shown = {entry.message.seq for entry in window.entries if isinstance(entry, MessageEntry)}
        shown |= {message.seq for entry in ranges for message in entry.kept}
        log = self.logs[session.id]
        for compaction in await session._live.load_held(session._store):
            for seq in compaction.plan.folded:
                assert seq in shown or log[seq - 1].is_erased, f"message {seq} left for {compaction.id}, which is held"

    @invariant()
    def nothing_is_lost(self) -> None:
        """What was touched reads back, is sound, and its events are in order; past the process, in the store itself."""
        touched, self.touched = self.touched, set()
        for session_id in touched & self.logs.keys():
            self.runner.run(self.check(session_id))

    async def check(self, session_id: str) -> None:
        """One session, through a handle of its own."""
        engine = Everfold(
            self.store,
            clock=FakeClock(),
            ids=CountingIds(),
            secrets=CountingSecrets(),
            defaults_of=lambda _: SessionSettings(),
            stream=Stream(),
            background=self.process.engine._background,
            memories=self.process.engine._memories,
        )
        session, log = await engine.session(id=session_id), self.logs[session_id]
        state = await session.inspect.state()
        assert state.last_seq == len(log)
        stored = {message.seq: message for message in await session.messages(1, len(log))} if log else {}
        for seq, said in enumerate(log, 1):
            assert (seq in stored) != said.is_erased, f"G1: message {seq}"
            if seq in stored:
                assert spell(stored[seq].wire) == spell(said.wire), f"G1: message {seq}"
        verification = await session.verify()
        assert verification.is_sound, verification.problems[:3]
        await self.check_never_neither(session, state)
        self.check_events(session_id, await list_all_compactions(session), state)

    async def check_never_neither(self, session: Session, state: SessionState) -> None:
        """G2, from what the digests that are shown have read, not from the certificates; and G10 of what models wrote."""
        layout = (
            await self.store.read_layout(CompactionId(state.compaction_id)) if state.compaction_id else EMPTY_LAYOUT
        )
        digests = await self.store.read_digests([shown.digest_id for shown in layout.ranges if shown.digest_id])
        read = {seq for digest in digests.values() for seq in digest.reads}
        if layout.rollup:
            read.update(range(1, layout.rollup.last_seq + 1))
        drafts = [compaction.draft.text for compaction in await list_all_compactions(session) if compaction.draft]
        words = "\n".join([*drafts, *(digest.text for digest in digests.values())])
        spoken = {spell_stored(said) for said in self.logs[session.id] if not said.is_erased}
        for seq, said in enumerate(self.logs[session.id], 1):
            is_gone = said.is_erased and spell_stored(said) not in spoken  # the same may have been said again
            assert not (is_gone and mark(hash_text(spell_stored(said))) in words), f"G10: message {seq}"
            is_there = seq > layout.watermark or seq in layout.held_seqs or seq in read or said.is_erased
            assert is_there, f"G2: message {seq} is neither shown nor read"

    def check_events(self, session_id: str, compactions: list[Compaction], state: SessionState) -> None:
        """Committed ordinals are 1, 2, 3 ...; held events come next, in order; what is awaited is what is on its way."""
        alive = [compaction for compaction in compactions if compaction.state != "cancelled"]
        committed = [compaction for compaction in alive if compaction.is_committed]
        assert [compaction.ordinal for compaction in committed] == list(range(1, state.compactions_count + 1))
        held = [compaction for compaction in alive if not compaction.is_committed]
        assert [compaction.id for compaction in held] == list(state.pending_compactions)
        first = state.compactions_count + 1
        assert [compaction.ordinal for compaction in held] == list(range(first, first + len(held)))
        open_events = {
            compaction.id
            for compaction in committed
            if compaction.session_id == session_id and not compaction.has_ended
        }
        assert sorted(one.compaction_id for one in state.awaited) == sorted(open_events)

    def teardown(self) -> None:
        """With the power on and a good model, everything comes to its end; then close."""
        try:
            self.runner.run(self.come_to_an_end())
        finally:
            self.crash()
            self.runner.run(_close(self.store))
            self.runner.close()
            shutil.rmtree(self.folder)

    async def come_to_an_end(self) -> None:
        """No event is unfinished at last, but a digest that is ready and waits for the next break."""
        process = self.process
        process.store.disarm()
        if process.working is not None:
            process.script.go_on.set()
            await process.working
            process.working = None
        for _ in range(8):
            self.clock.advance(timedelta(seconds=1000))
            await process.recovery.recover()
            await process.dispatcher.run_all()
        for session_id in self.logs:
            session = await self.session(session_id)
            patient = {one.compaction_id for one in (await session.inspect.state()).awaited if one.is_patient}
            for compaction in await list_all_compactions(session):
                is_waiting = compaction.id in patient and compaction.state == "ready"
                assert compaction.has_ended or is_waiting or compaction.session_id != session_id, compaction
            await self.check(session_id)


async def _end(task: asyncio.Task[object]) -> None:
    """Cancel a task of a process that is dead."""
    task.cancel()
    with suppress(CrashError, asyncio.CancelledError):
        await task


async def _close(store: Store) -> None:
    """Let go of the file."""
    await store.close()


class FileMachine(BackgroundMachine):
    """The same over a file."""

    is_file = True


_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
QUICK = settings(max_examples=examples(30), stateful_step_count=30, deadline=None, suppress_health_check=_CHECKS)
THOROUGH = settings(max_examples=examples(600), stateful_step_count=50, deadline=None, suppress_health_check=_CHECKS)

TestInMemory = BackgroundMachine.TestCase
TestInMemory.settings = QUICK
TestFile = FileMachine.TestCase
TestFile.settings = settings(QUICK, max_examples=examples(15))


@pytest.mark.slow
@pytest.mark.timeout(5_400)
@pytest.mark.parametrize("machine", [BackgroundMachine, FileMachine], ids=["memory", "file"])
def test_thoroughly(machine: type[BackgroundMachine]) -> None:
    """The same, for minutes; what is asserted is in the rules and invariants of the machine."""
    run_state_machine_as_test(machine, settings=THOROUGH)
