"""Calling a model: bounded in time and money, tried again where that may help, and always recorded."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypedDict, Unpack

import anyio
import pytest
from tests.support.waiting import until

from everfold.adapters.models.scripted import Fault, ScriptedModel, Step
from everfold.bootstrap import open_store
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import (
    ConflictError,
    ContextLengthError,
    EverfoldError,
    ModelReplyError,
    ModelUnavailableError,
    OverBudgetError,
    RateLimitedError,
    StoreUnavailableError,
)
from everfold.ports.models import ModelReply, ModelRequest
from everfold.ports.stores import Store
from everfold.services.models.call_model import ModelCaller
from everfold.testing.kit.builders import ADA
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest(purpose="digest", instructions="Write.", prompt="12 The berth is free.", max_output_tokens=99)
SESSION = SessionId("ses_1")
EVENT = CompactionId("evt_1")
FINE = Step(text="Fine.", cost_usd=0.25)


class Options(TypedDict, total=False):
    """What a test may set of a caller."""

    timeout_secs: float
    retries: int
    per_compaction_usd: float
    per_day_usd: float


class Waits:
    """Waits that take no time and are written down."""

    def __init__(self) -> None:
        self.secs: list[float] = []

    async def __call__(self, secs: float) -> None:
        """Wait, in name."""
        self.secs.append(secs)
        await anyio.lowlevel.checkpoint()


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    opened = await open_store(url)
    yield opened
    await opened.close()


@pytest.fixture
def waits() -> Waits:
    """The waits between attempts."""
    return Waits()


@pytest.fixture
def make(store: Store, clock: FakeClock, waits: Waits) -> Callable[..., ModelCaller]:
    """Makes a caller of a model that follows the given steps."""
    ids = CountingIds()

    def make_caller(*steps: Step, **options: Unpack[Options]) -> ModelCaller:
        return ModelCaller(
            model=ScriptedModel(steps),
            store=store,
            clock=clock,
            ids=ids,
            sleep=waits,
            jitter=lambda: 1.0,
            **options,
        )

    return make_caller


async def call(caller: ModelCaller, compaction_id: CompactionId | None = EVENT) -> str:
    """What a call answers."""
    return (await caller.call(REQUEST, user_id=ADA, session_id=SESSION, compaction_id=compaction_id)).text


async def outcomes(store: Store) -> list[tuple[int, str]]:
    """Every attempt that was recorded, with how it ended."""
    return [(one.call_number, one.outcome) for one in await store.list_calls(limit_count=99)]


async def give_up(scope: anyio.CancelScope, caller: ModelCaller) -> None:
    """Cancel a call once the model is asked."""
    await until(lambda: asked_count(caller))
    scope.cancel()


def asked_count(caller: ModelCaller) -> int:
    """How often the model was asked."""
    assert isinstance(caller.model, ScriptedModel)
    return len(caller.model.requests)


class _Own:
    """A model of the program's own, which raises or gives what it is made with."""

    name = "own"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def reply(self, _: ModelRequest) -> ModelReply:
        """Raise an exception, give anything else."""
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # on purpose

    async def close(self) -> None:
        """See the port."""


CANCELLED = asyncio.CancelledError()


@pytest.mark.parametrize(
    "raised",
    [
        CANCELLED,
        BaseExceptionGroup("tasks", [CANCELLED]),
        BaseExceptionGroup("tasks", [ValueError("odd"), BaseExceptionGroup("more", [CANCELLED])]),
        ExceptionGroup("tasks", [ValueError("odd")]),
    ],
    ids=["cancellation", "group", "nested", "exceptions"],
)
async def test_a_cancellation_of_the_model_s_own_is_its_failure(
    make: Callable[..., ModelCaller], store: Store, raised: BaseException
) -> None:
    """A cancellation that a model raises of its own, alone or in a group, is its failure, and stops no caller."""
    with pytest.raises(ModelReplyError, match=f"failed with {type(raised).__name__}"):
        await call(replace(make(), model=_Own(raised)))
    assert await outcomes(store) == [(1, ModelReplyError.code)]


async def test_a_group_that_ends_the_program_passes_through(make: Callable[..., ModelCaller]) -> None:
    """A group that holds what is no failure of a model, such as the end of the program, is not taken for one."""
    with pytest.raises(BaseExceptionGroup, match="tasks"):
        await call(replace(make(), model=_Own(BaseExceptionGroup("tasks", [CANCELLED, SystemExit(1)]))))


class _Answering(ScriptedModel):
    """A model that never answers, and raises something of its own when it is cancelled."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__([Step(fault="timeout")])
        self.raised = raised

    async def reply(self, request: ModelRequest) -> ModelReply:
        """See the port."""
        try:
            return await super().reply(request)
        except asyncio.CancelledError:
            raise self.raised from None


ANSWERS = [
    BaseExceptionGroup("tasks", [CANCELLED]),
    ExceptionGroup("tasks", [ValueError("odd")]),
    ValueError("odd"),
    ModelUnavailableError("away"),
    asyncio.CancelledError(),
]


async def call_and_cancel(caller: ModelCaller, *, is_native: bool) -> None:
    """Call the model, and cancel the caller while it is asked: as a task, or else by a scope around the call."""
    if is_native:
        task = asyncio.create_task(call(caller))
        await until(lambda: asked_count(caller))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        with anyio.CancelScope() as scope:
            giving_up = asyncio.create_task(give_up(scope, caller))
            await call(caller)
        assert scope.cancelled_caught
        await giving_up


@pytest.mark.parametrize("is_native", [False, True], ids=["scope", "task"])
@pytest.mark.parametrize("raised", ANSWERS, ids=lambda raised: type(raised).__name__)
async def test_a_cancelled_caller_is_let_go_whatever_the_model_raises(
    make: Callable[..., ModelCaller], store: Store, raised: BaseException, *, is_native: bool
) -> None:
    """A model that answers the cancellation of its caller with an error of its own keeps no caller."""
    caller = replace(make(), model=_Answering(raised))
    await call_and_cancel(caller, is_native=is_native)
    assert await outcomes(store) == [(1, "cancelled")]


@pytest.mark.parametrize("raised", ANSWERS, ids=lambda raised: type(raised).__name__)
async def test_the_limit_holds_whatever_the_model_raises(
    make: Callable[..., ModelCaller], store: Store, raised: BaseException
) -> None:
    """A model that answers the end of its time with an error of its own is one that did not answer, at each attempt."""
    with pytest.raises(ModelUnavailableError):
        await call(replace(make(timeout_secs=0.01), model=_Answering(raised)))
    assert await outcomes(store) == [(1, "model_unavailable"), (2, "model_unavailable")]


async def test_a_cancellation_that_was_survived_is_past(make: Callable[..., ModelCaller], store: Store) -> None:
    """In a task that has gone on after a cancellation, a later failure of the model is no cancellation."""

    async def go_on() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await anyio.sleep_forever()
        with pytest.raises(ModelReplyError):
            await call(replace(make(), model=_Own(ValueError("odd"))))

    task = asyncio.create_task(go_on())
    await anyio.lowlevel.checkpoint()
    task.cancel()
    await task
    assert await outcomes(store) == [(1, ModelReplyError.code)]


@pytest.mark.parametrize(
    "answer",
    [None, b"Fine.", 7, object(), ModelReply(text=None, finish="complete", model="own")],  # type: ignore[arg-type]  # on purpose
    ids=lambda answer: type(answer).__name__,
)
async def test_a_reply_that_is_none_is_its_failure(
    make: Callable[..., ModelCaller], store: Store, answer: object
) -> None:
    """A model that gives no reply, or one without a text, has failed: one error of ours, recorded, with the compaction."""
    with pytest.raises(ModelReplyError, match=r"the model own failed for compaction evt_1: .* expected a"):
        await call(replace(make(), model=_Own(answer)))
    assert await outcomes(store) == [(1, ModelReplyError.code)]


async def test_a_call_is_recorded(make: Callable[..., ModelCaller], store: Store, clock: FakeClock) -> None:
    """A record says for whom, what for, when, how long, how it ended, and what was used and paid."""
    started_at = clock.now()
    clock.step = timedelta(seconds=2)
    caller = make(FINE)
    assert await call(caller) == "Fine."
    assert await store.list_calls(limit_count=9) == [
        ModelCall(
            id="call_000001",
            user_id=ADA,
            session_id=SESSION,
            compaction_id=EVENT,
            purpose="digest",
            model="script:given",
            answered_by="script",
            call_number=1,
            started_at=started_at,
            duration_ms=2000,
            outcome="complete",
            input_tokens=(await caller.model.reply(REQUEST)).input_tokens,
            output_tokens=2,
            cost_usd=0.25,
        )
    ]


@pytest.mark.parametrize("fault", ["empty", "whitespace", "refusal", "tool_call", "length"])
async def test_a_poor_answer_is_given_back(make: Callable[..., ModelCaller], store: Store, fault: Fault) -> None:
    """An answer that is empty, refused or cut off is not asked for again: who asked decides what it is worth."""
    reply = await make(Step(fault=fault)).call(REQUEST, user_id=ADA)
    assert await outcomes(store) == [(1, reply.finish)]
    assert reply.finish == ("complete" if fault in {"empty", "whitespace"} else fault)


@pytest.mark.parametrize(("fault", "kind"), [("unavailable", ModelUnavailableError), ("rate_limit", RateLimitedError)])
async def test_what_may_pass_is_tried_again_once(
    make: Callable[..., ModelCaller], store: Store, waits: Waits, fault: Fault, kind: type[EverfoldError]
) -> None:
    """An error that may pass is tried again once, after a wait; when it stays, it is raised, both attempts recorded."""
    assert await call(make(Step(fault=fault), FINE)) == "Fine."
    assert await outcomes(store) == [(1, kind.code), (2, "complete")]
    assert waits.secs == [1.0]
    lasting = make(Step(fault=fault))
    with pytest.raises(kind):
        await call(lasting)
    assert (await outcomes(store))[2:] == [(1, kind.code), (2, kind.code)]
    assert asked_count(lasting) == 2


@pytest.mark.parametrize("fault", ["exception", "context_length"])
async def test_what_will_not_pass_is_not_tried_again(
    make: Callable[..., ModelCaller], store: Store, waits: Waits, fault: Fault
) -> None:
    """An error that would come again is raised at once; one that is none of ours becomes ours, with its cause."""
    caller = make(Step(fault=fault), FINE, retries=5)
    with pytest.raises((ContextLengthError, ModelReplyError)) as caught:
        await call(caller)
    assert isinstance(caught.value, ContextLengthError) == (fault == "context_length")
    assert isinstance(caught.value.__cause__, RuntimeError) == (fault == "exception")
    assert await outcomes(store) == [(1, caught.value.code)]
    assert (asked_count(caller), waits.secs) == (1, [])


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_as_many_attempts_as_are_allowed(
    make: Callable[..., ModelCaller], store: Store, waits: Waits, retries: int
) -> None:
    """There are as many retries as the setting says, each after a wait twice as long."""
    with pytest.raises(ModelUnavailableError):
        await call(make(Step(fault="unavailable"), retries=retries))
    assert await outcomes(store) == [(number + 1, "model_unavailable") for number in range(retries + 1)]
    assert waits.secs == [2.0**number for number in range(retries)]


async def test_the_wait_is_spread(make: Callable[..., ModelCaller], waits: Waits) -> None:
    """A wait is between half and all of what it may be, as chance has it."""
    caller = make(Step(fault="unavailable"))
    for jitter in (lambda: 0.0, lambda: 0.5):
        with pytest.raises(ModelUnavailableError):
            await call(replace(caller, jitter=jitter))
    assert waits.secs == [0.5, 0.75]


async def test_a_model_that_does_not_answer(make: Callable[..., ModelCaller], store: Store) -> None:
    """A silent model is given up after the limit, which the error names, and tried again as one that is unavailable."""
    caller = make(Step(fault="timeout"), timeout_secs=0.01)
    with pytest.raises(ModelUnavailableError, match=r"within 0\.01 s"):
        await call(caller)
    assert await outcomes(store) == [(1, "model_unavailable"), (2, "model_unavailable")]
    assert await call(make(Step(text="late", secs=0.0), timeout_secs=5), None) == "late"


@pytest.mark.parametrize("is_native", [False, True], ids=["scope", "task"])
async def test_giving_up_passes_through(
    make: Callable[..., ModelCaller], store: Store, waits: Waits, *, is_native: bool
) -> None:
    """A caller that gives up is let go at once, the attempt is recorded as cancelled, and no task is left."""
    caller = make(Step(fault="timeout"))
    before = asyncio.all_tasks()
    await call_and_cancel(caller, is_native=is_native)
    assert await outcomes(store) == [(1, "cancelled")]
    assert (asked_count(caller), waits.secs) == (1, [])
    assert asyncio.all_tasks() == before


async def test_an_event_has_a_cap(make: Callable[..., ModelCaller], store: Store) -> None:
    """Once an event has cost its cap, the model is not called for it any more; the error names both; others go on."""
    caller = make(FINE, per_compaction_usd=0.5)
    for _ in range(2):
        await call(caller)
    with pytest.raises(OverBudgetError, match=r"evt_1 has cost 0\.5000 USD, and spend\.per_compaction_usd is 0\.5000"):
        await call(caller)
    assert asked_count(caller) == 2
    assert len(await outcomes(store)) == 2
    assert await call(caller, CompactionId("evt_2")) == "Fine."
    assert await call(caller, None) == "Fine."


async def test_a_day_has_a_cap(make: Callable[..., ModelCaller], clock: FakeClock) -> None:
    """Once all calls since midnight UTC have cost the cap, no model is called until the next midnight."""
    caller = make(FINE, per_day_usd=0.5)
    for number in range(2):
        await call(caller, CompactionId(f"evt_{number}"))
    with pytest.raises(OverBudgetError, match=r"2031-03-03 \(UTC\) has cost 0\.5000 USD, and spend\.per_day_usd"):
        await call(caller, None)
    clock.set(clock.now().replace(hour=23, minute=59, second=59))
    with pytest.raises(OverBudgetError):
        await call(caller)
    clock.advance(timedelta(seconds=1))
    assert await call(caller) == "Fine."


async def test_a_cap_is_looked_at_before_each_attempt(
    make: Callable[..., ModelCaller], store: Store, waits: Waits
) -> None:
    """A retry is a call: where the cap was reached meanwhile, by another caller, it is not made."""
    caller = make(Step(fault="unavailable"), FINE, per_day_usd=0.2)
    other = make(FINE)

    async def spend(secs: float) -> None:
        await waits(secs)
        await call(other)

    with pytest.raises(OverBudgetError):
        await call(replace(caller, sleep=spend))
    assert await outcomes(store) == [(1, "model_unavailable"), (1, "complete")]


async def test_a_price_that_is_not_known(make: Callable[..., ModelCaller], store: Store) -> None:
    """A call of unknown cost counts nothing, and its record says that the cap did not see it; without a cap it is silent."""
    capped, free = make(Step(text="?"), per_day_usd=0.01), make(Step(text="?"))
    for caller in (capped, capped, free):
        await call(caller)
    calls = await store.list_calls(limit_count=9)
    assert [(one.cost_usd, one.is_uncounted) for one in calls] == [(None, True), (None, True), (None, False)]


async def test_without_a_cap_nothing_is_summed(store: Store, clock: FakeClock) -> None:
    """A caller without caps asks the store for nothing: it only records."""

    class Recording:
        """A store of calls that takes them and gives nothing."""

        calls: list[ModelCall]

        def __init__(self) -> None:
            self.calls = []

        async def record_call(self, call: ModelCall) -> None:
            """Keep one."""
            self.calls.append(call)

        def __getattr__(self, name: str) -> object:
            """Nothing else is there."""
            raise AssertionError(f"{name} was asked for")

    recording = Recording()
    caller = ModelCaller(model=ScriptedModel([FINE]), store=recording, clock=clock, ids=CountingIds())  # type: ignore[arg-type]  # only what may be used
    await call(caller)
    assert [one.outcome for one in recording.calls] == ["complete"]
    assert await store.list_calls(limit_count=9) == []


async def test_a_record_that_cannot_be_written_is_told(make: Callable[..., ModelCaller], store: Store) -> None:
    """An answer whose cost cannot be recorded is not given, and the model is not asked for another one."""
    caller = make(FINE, retries=3)
    await store.close()
    with pytest.raises(StoreUnavailableError):
        await call(caller)
    assert asked_count(caller) == 1


async def test_many_at_once(make: Callable[..., ModelCaller], store: Store) -> None:
    """Calls that run at once are each recorded once, and a record of another one is never written over."""
    caller = make(Step(text="Fine.", secs=0.01))
    async with anyio.create_task_group() as group:
        for _ in range(30):
            group.start_soon(call, caller)
    assert await outcomes(store) == [(1, "complete")] * 30
    with pytest.raises(ConflictError):
        await store.record_call((await store.list_calls(limit_count=1))[0])
