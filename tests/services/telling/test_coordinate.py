"""The coordinator: plug-ins in their order, each on its own, none able to harm another."""

import asyncio

import anyio
import pytest

from everfold import Hooks, PendingFold, SessionEnd, SessionSwitch, TurnEnd, TurnStart
from everfold.core.observation.events import HookFailed
from everfold.core.observation.hooks import NO_HINTS, Hints, HookCall, MemoryWrite
from everfold.core.primitives.ids import CompactionId
from everfold.errors import HookError, InvalidInputError
from everfold.services.telling.coordinate import MOST_SESSIONS, Coordinator
from everfold.services.telling.stream import Stream
from everfold.testing.kit.builders import session_record
from everfold.testing.kit.hearing import Hearing

RECORD = session_record()
FOLD = PendingFold(session=RECORD, compaction_id=CompactionId("evt_1"), trigger="tokens", messages=())
TURN = TurnStart(session=RECORD, turn_seq=1, turns_count=1, text="Hello.")


class Failing(Hooks):
    """Raises whatever it is given, in the hooks that the tests call."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def on_pre_compress(self, fold: PendingFold) -> str:  # noqa: ARG002 - a hook
        """Raise."""
        raise self.error

    async def on_turn_start(self, turn: TurnStart) -> None:  # noqa: ARG002 - a hook
        """Raise."""
        raise self.error


class Stuck(Hooks):
    """Never comes back from a hook."""

    async def on_pre_compress(self, fold: PendingFold) -> str:  # noqa: ARG002 - a hook
        """Wait for ever."""
        await anyio.sleep_forever()
        return "never"

    async def on_turn_start(self, turn: TurnStart) -> None:  # noqa: ARG002 - a hook
        """Wait for ever."""
        await anyio.sleep_forever()


def switch_to(session_id: str, cause: str) -> SessionSwitch:
    """A switch from the record's session to another."""
    return SessionSwitch(
        session=session_record(session_id),
        parent_id=None,
        previous_id=RECORD.id,
        cause=cause,  # type: ignore[arg-type]  # parametrised
    )


def coordinate(*plugins: Hooks, timeout_secs: float = 10, strict: bool = False) -> Coordinator:
    """What calls these plug-ins for a stream."""
    return Stream(hooks=plugins, timeout_secs=timeout_secs, strict=strict).plugins


async def failures(stream: Stream, told: TurnStart = TURN) -> list[HookFailed]:
    """What a stream tells of one turn."""
    events = stream.feed.subscribe()
    await stream.plugins.call(told)
    stream.feed.close()
    return [it async for it in events if isinstance(it, HookFailed)]


async def test_plugins_are_called_in_their_order() -> None:
    """Every hook reaches every plug-in that has it, in the order in which they were given."""
    heard: list[tuple[str, HookCall]] = []
    order: list[str] = []

    class Named(Hearing):
        def hear(self, hook: str, told: HookCall) -> None:
            order.append(self.name)
            super().hear(hook, told)

    coordinator = coordinate(Named(heard, name="first"), Named(heard, name="second"))
    await coordinator.ask(FOLD)
    await coordinator.call(TURN)
    await coordinator.call(TurnEnd(session=RECORD, turn_seq=1, last_seq=2, text="Hi."))
    await coordinator.call(MemoryWrite(session=RECORD, tier="user", action="add", text="Likes boats."))
    await coordinator.call(SessionEnd(session=RECORD, cause="new"))
    await coordinator.call(switch_to("ses_2", "new"))
    hooks = ["on_pre_compress", "on_turn_start", "on_turn_end", "on_memory_write", "on_session_end"]
    assert [hook for hook, _ in heard] == [hook for hook in [*hooks, "on_session_switch"] for _ in range(2)]
    assert order == ["first", "second"] * 6


STOPPED = asyncio.CancelledError()


@pytest.mark.parametrize(
    "bad",
    [
        Failing(RuntimeError("no")),
        Failing(TimeoutError()),
        Failing(KeyError("x")),
        Failing(STOPPED),
        Failing(BaseExceptionGroup("tasks", [STOPPED])),
        Stuck(),
    ],
)
async def test_a_failing_plugin_harms_nobody(bad: Hooks) -> None:
    """What one plug-in raises, or that it never answers, is told to the feed, and those after it are called."""
    good = Hearing()
    (failed,) = await failures(Stream(hooks=[bad, good], timeout_secs=0.02))
    assert good.hooks == ["on_turn_start"]
    assert (failed.plugin, failed.hook, failed.session_id) == (type(bad).__name__, "on_turn_start", RECORD.id)
    expected = "timeout" if isinstance(bad, Stuck) else type(bad.error).__name__ if isinstance(bad, Failing) else ""
    assert failed.error_name == expected


async def test_cancellation_passes_through() -> None:
    """When the caller is cancelled inside a hook the hook ends, no failure is told, and no later plug-in is called."""
    later = Hearing()
    stream = Stream(hooks=[Stuck(), later], timeout_secs=60)
    events = stream.feed.subscribe()
    with anyio.move_on_after(0.02) as scope:
        await stream.plugins.call(TURN)
    assert scope.cancelled_caught
    stream.feed.close()
    assert [it async for it in events] == []
    assert later.hooks == []


async def test_what_ends_the_program_passes_through() -> None:
    """A plug-in that asks the program to exit is not held back."""
    with pytest.raises(SystemExit):
        await coordinate(Failing(SystemExit(3))).call(TURN)


async def test_only_hooks_that_a_plugin_has_are_called() -> None:
    """A coordinator hears what some plug-in overrides and nothing else, and without a plug-in nothing."""

    class TurnsOnly(Hooks):
        async def on_turn_start(self, turn: TurnStart) -> None:
            """Hear turns."""

    coordinator = coordinate(TurnsOnly(), Hooks())
    assert coordinator.hears(TurnStart)
    assert not coordinator.hears(TurnEnd)
    assert not coordinator.is_asked_before_folds
    assert await coordinator.ask(FOLD) is NO_HINTS
    assert not coordinate(Hooks()).is_on
    assert not coordinate().is_on


async def test_the_base_class_can_be_called() -> None:
    """A subclass may call what it overrides: the base class does nothing and has no hint."""
    assert await Hooks().on_pre_compress(FOLD) == ""
    await Hooks().on_turn_start(TURN)


async def test_what_is_no_plugin_is_refused() -> None:
    """An object of another class is refused by its place, before anything is opened."""
    with pytest.raises(InvalidInputError, match=r"hooks\[1\] is not a plug-in"):
        coordinate(Hooks(), object())  # type: ignore[list-item]  # what a caller without types may do


async def test_hints_are_joined_by_plugin() -> None:
    """Hints come under the names of their plug-ins, with how many were asked and how many answered."""
    coordinator = coordinate(Hearing(name="one"), Failing(OSError()), Hearing(name="two"))
    assert await coordinator.ask(FOLD) == Hints(
        text="[one] hint of one\n[two] hint of two", called_count=3, succeeded_count=2
    )


async def test_a_hint_that_is_no_text_is_a_failure() -> None:
    """A plug-in that answers with something else than a text did not succeed, and is reported."""

    class Wrong(Hooks):
        async def on_pre_compress(self, fold: PendingFold) -> str:  # noqa: ARG002 - a hook
            return None  # type: ignore[return-value]  # the mistake that is tested

    stream = Stream(hooks=[Wrong()])
    events = stream.feed.subscribe()
    assert await stream.plugins.ask(FOLD) == Hints(called_count=1)
    stream.feed.close()
    assert [it.error_name async for it in events if isinstance(it, HookFailed)] == ["TypeError"]


@pytest.mark.parametrize("plugins", [[], [Hooks()], [Failing(OSError())], [Stuck()], [Failing(OSError()), Stuck()]])
async def test_strict_refuses_a_fold_that_nobody_prepared(plugins: list[Hooks]) -> None:
    """With strict a fold is refused when no plug-in succeeded, and also when none is there; without it never."""
    strict = coordinate(*plugins, timeout_secs=0.02, strict=True)
    assert strict.is_asked_before_folds
    with pytest.raises(HookError, match=r"session ses_1: compaction evt_1 folds nothing") as refused:
        await strict.ask(FOLD)
    assert refused.value.ids == {"session": "ses_1", "compaction": "evt_1"}
    assert (await coordinate(*plugins, timeout_secs=0.02).ask(FOLD)).succeeded_count == 0


async def test_strict_is_content_with_one() -> None:
    """One plug-in that succeeds is enough, whatever the others do."""
    hints = await coordinate(Failing(OSError()), Hearing(), strict=True).ask(FOLD)
    assert (hints.called_count, hints.succeeded_count) == (2, 1)


async def test_counters_are_a_plugins_own() -> None:
    """Each plug-in has its own counters for each session, and finds them again at the next call."""
    one, two = Hearing(name="one"), Hearing(name="two")
    coordinator = coordinate(one, two)
    for _ in range(3):
        await coordinator.call(TURN)
    other = TurnStart(session=session_record("ses_9"), turn_seq=1, turns_count=1, text="Hello.")
    await coordinator.call(other)
    for plugin in (one, two):
        assert plugin.heard[0][1].counters == {"on_turn_start": 3}
        assert plugin.heard[-1][1].counters == {"on_turn_start": 1}
    assert one.heard[0][1].counters is not two.heard[0][1].counters
    assert TURN.counters == {}


@pytest.mark.parametrize(
    ("cause", "after", "before"),
    [
        ("new", {"on_turn_start": 2, "on_session_switch": 1}, {"on_turn_start": 1}),
        ("resume", {"on_turn_start": 2, "on_session_switch": 1}, {"on_turn_start": 1}),
        ("rewind", {"on_turn_start": 2, "on_session_switch": 1}, {"on_turn_start": 1}),
        ("compaction", {"on_turn_start": 2, "on_session_switch": 1}, {"on_turn_start": 1}),
        ("branch", {"on_turn_start": 2, "on_session_switch": 1}, {"on_turn_start": 3}),
        ("reset", {"on_session_switch": 1}, {"on_turn_start": 1}),
    ],
)
async def test_counters_follow_the_session(cause: str, after: dict[str, int], before: dict[str, int]) -> None:
    """A switch takes the counters along, a reset forgets them, and a branch leaves them with its parent too."""
    plugin = Hearing()
    coordinator = coordinate(plugin)
    await coordinator.call(TURN)
    await coordinator.call(TURN)
    await coordinator.call(switch_to("ses_2", cause))
    assert plugin.heard[-1][1].counters == after
    await coordinator.call(TURN)
    assert plugin.heard[-1][1].counters == before


async def test_counters_that_nobody_uses_are_forgotten() -> None:
    """Only so many sessions are counted for, and the one used longest ago goes first."""
    plugin = Hearing()
    coordinator = coordinate(plugin)
    for number in range(MOST_SESSIONS + 1):
        record = session_record(f"ses_{number}")
        await coordinator.call(TurnStart(session=record, turn_seq=1, turns_count=1, text=""))
    for number, count in ((MOST_SESSIONS, 2), (0, 1)):
        record = session_record(f"ses_{number}")
        await coordinator.call(TurnStart(session=record, turn_seq=1, turns_count=1, text=""))
        assert plugin.heard[-1][1].counters == {"on_turn_start": count}
