"""Hooks at a switch: the old session ends, then the new one is used, and the store says so before anybody hears of it."""

from collections.abc import AsyncIterator

import anyio
import pytest

import everfold
from everfold import Everfold, Hooks, SessionEnd, SessionSwitch, TurnStart
from everfold.core.observation.events import HookFailed, SessionSwitched
from everfold.errors import ConflictError, InvalidInputError
from everfold.testing.kit.builders import assistant, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock
from everfold.testing.kit.hearing import Hearing


@pytest.fixture
def plugin() -> Hearing:
    """A plug-in that remembers what it was told."""
    return Hearing()


@pytest.fixture
async def engine(url: str, clock: FakeClock, plugin: Hearing) -> AsyncIterator[Everfold]:
    """An engine over each store, with the plug-in."""
    async with everfold.open(url, clock=clock, ids=CountingIds(), hooks=[plugin]) as opened:
        yield opened


def switches(plugin: Hearing) -> list[tuple[str, str, str | None, str | None]]:
    """Ends and switches: hook, session, parent and the one before."""
    told: list[tuple[str, str, str | None, str | None]] = []
    for hook, it in plugin.heard:
        if isinstance(it, SessionSwitch):
            told.append((f"switch {it.cause}", it.session.id, it.parent_id, it.previous_id))
        elif isinstance(it, SessionEnd):
            told.append((f"end {it.cause}", it.session.id, None, None))
        else:
            told.append((hook, it.session.id, None, None))
    return told


async def test_the_first_opening_is_a_switch(engine: Everfold, plugin: Hearing) -> None:
    """The first session of a user and an agent is told once, without an end; opening it again is no switch."""
    first = await engine.session(user="ada")
    await engine.session(user="ada")
    assert switches(plugin) == [("switch open", first.id, None, None)]
    beside = await engine.session(beside=True, user="ada")
    assert not beside.record.is_current
    assert len(plugin.heard) == 1
    added = await engine.session(beside=True, user="bob")
    assert switches(plugin)[1:] == [("switch open", added.id, None, None)]


@pytest.mark.parametrize("cause", ["new", "reset"])
async def test_a_following_session(engine: Everfold, plugin: Hearing, cause: str) -> None:
    """The old session ends, then the new one is told with its parent, and whether it is a reset."""
    first = await engine.session()
    second = await first.new() if cause == "new" else await first.new(keep_calibration=False)
    assert switches(plugin)[1:] == [
        (f"end {cause}", first.id, None, None),
        (f"switch {cause}", second.id, first.id, first.id),
    ]
    ended, switched = plugin.heard[1][1], plugin.heard[2][1]
    assert not ended.session.is_current
    assert switched.session == second.record
    assert isinstance(switched, SessionSwitch)
    assert (switched.is_reset, switched.is_rewound) == (cause == "reset", False)


async def test_branch_rewind_and_resume(engine: Everfold, plugin: Hearing) -> None:
    """A branch ends nothing; a rewind and a resume end what was current; resuming the current one tells nothing."""
    first = await engine.session()
    await first.append(talk(2))
    plugin.heard.clear()
    branch = await first.branch(2)
    assert switches(plugin) == [("switch branch", branch.id, first.id, first.id)]
    rewound = await first.rewind(2)
    assert switches(plugin)[1:] == [
        ("end rewind", first.id, None, None),
        ("switch rewind", rewound.id, first.id, first.id),
    ]
    switched = plugin.heard[-1][1]
    assert isinstance(switched, SessionSwitch)
    assert switched.is_rewound
    plugin.heard.clear()
    await branch.integration.resume()
    assert switches(plugin) == [
        ("end resume", rewound.id, None, None),
        ("switch resume", branch.id, first.id, rewound.id),
    ]
    await branch.integration.resume()
    assert len(plugin.heard) == 2


async def test_a_refused_switch_is_not_told(engine: Everfold, plugin: Hearing) -> None:
    """What the store or the log refuses calls no hook."""
    first = await engine.session()
    await first.new()
    plugin.heard.clear()
    with pytest.raises(ConflictError):
        await first.new()
    with pytest.raises(InvalidInputError):
        await first.rewind(7)
    assert plugin.heard == []


async def test_the_store_knows_before_the_hooks_do(url: str) -> None:
    """In the hooks of a switch every message is stored, also the last one, and the new session is the current one.

    Nothing is flushed, because nothing is pending: an append was durable when it returned.
    """
    seen: list[tuple[str, str, list[str]]] = []

    class Looking(Hooks):
        async def look(self, hook: str, ended_id: str) -> None:
            """Read the store through another handle, as another program would."""
            log = await (await opened.session(id=ended_id)).messages(1, 9)
            current = await opened.session()
            seen.append((hook, current.id, [message.view.text for message in log]))

        async def on_session_end(self, end: SessionEnd) -> None:
            """Look."""
            await self.look("end", end.session.id)

        async def on_session_switch(self, switch: SessionSwitch) -> None:
            """Look."""
            if switch.previous_id is not None:
                await self.look("switch", switch.previous_id)

    async with everfold.open(url, hooks=[Looking()]) as opened:
        first = await opened.session()
        await first.append([user("one"), assistant("two")])
        await first.append(user("three"))
        second = await first.new()
        assert seen == [(hook, second.id, ["one", "two", "three"]) for hook in ("end", "switch")]


async def test_counters_go_with_the_conversation(engine: Everfold, plugin: Hearing) -> None:
    """What a plug-in counts goes on in a new session and begins anew after a reset."""
    session = await engine.session()
    counts = []
    for step in ("say", "say", "new", "say", "reset", "say"):
        match step:
            case "new":
                session = await session.new()
            case "reset":
                session = await session.new(keep_calibration=False)
            case _:
                await session.append([user("Hello."), assistant("Hi.")])
                counts.append(plugin.heard[-1][1].counters["on_turn_start"])
    assert counts == [1, 2, 3, 1]


async def test_a_failing_plugin_does_not_stop_a_switch(url: str) -> None:
    """A switch is done whatever its hooks do, and the failure is told after the switch itself."""

    class Bad(Hooks):
        async def on_session_end(self, end: SessionEnd) -> None:  # noqa: ARG002 - a hook
            """Raise."""
            raise OSError("disk")

        async def on_session_switch(self, switch: SessionSwitch) -> None:  # noqa: ARG002 - a hook
            """Switch again from inside, which would wait for itself."""
            await (await opened.session()).new()

    async with everfold.open(url, hooks=[Bad()], settings={"hooks": {"timeout_secs": 0.2}}) as opened:
        first = await opened.session()
        compactions = opened.events()
        second = await first.new()
        assert (await opened.session()).id == second.id
    told = [it async for it in compactions]
    assert [(it.kind, it.session_id) for it in told] == [
        ("session_switched", second.id),
        ("hook_failed", first.id),
        ("hook_failed", second.id),
    ]
    assert [it.hook for it in told if isinstance(it, HookFailed)] == ["on_session_end", "on_session_switch"]


async def test_two_switches_are_told_in_their_order(url: str) -> None:
    """Of switches that are asked for at once each is told whole, end before switch, in the order of the store."""
    heard: list[str] = []

    class Slow(Hooks):
        async def on_session_end(self, end: SessionEnd) -> None:
            """Take a moment before writing it down."""
            await anyio.sleep(0.01)
            heard.append(f"end {end.session.id}")

        async def on_session_switch(self, switch: SessionSwitch) -> None:
            """Take a moment before writing it down."""
            await anyio.sleep(0.01)
            heard.append(f"switch {switch.session.id}")

    async with everfold.open(url, ids=CountingIds(), hooks=[Slow()]) as opened:
        first = await opened.session()
        await first.append(talk(4))
        handles = [await opened.session(id=first.id) for _ in range(3)]
        async with anyio.create_task_group() as tasks:
            for number, handle in enumerate(handles, 1):
                tasks.start_soon(handle.rewind, number * 2)
        current = await opened.session()
    pairs = [(heard[n].removeprefix("end "), heard[n + 1].removeprefix("switch ")) for n in range(1, len(heard), 2)]
    assert heard[0] == f"switch {first.id}"
    assert [old for old, _ in pairs] == [first.id, *(new for _, new in pairs[:-1])]
    assert pairs[-1][1] == current.id


async def test_the_feed_tells_of_switches(url: str) -> None:
    """The feed tells every switch, with or without plug-ins."""
    async with everfold.open(url) as opened:
        compactions = opened.events()
        first = await opened.session()
        second = await first.new()
        await first.integration.resume()
    assert [it async for it in compactions] == [
        SessionSwitched(session_id=first.id, parent_id=None, previous_id=None, cause="open"),
        SessionSwitched(session_id=second.id, parent_id=first.id, previous_id=first.id, cause="new"),
        SessionSwitched(session_id=first.id, parent_id=None, previous_id=second.id, cause="resume"),
    ]


async def test_a_hook_may_talk(url: str) -> None:
    """A hook may use the engine: a note that it appends as a system message is stored after what it was told of."""

    class Noting(Hooks):
        async def on_turn_start(self, turn: TurnStart) -> None:
            """Append a note."""
            session = await opened.session(id=turn.session.id)
            await session.append({"role": "system", "content": f"Heard {turn.turn_seq}."})

    async with everfold.open(url, hooks=[Noting()]) as opened:
        session = await opened.session()
        assert await session.append(user("one")) == [1]
        assert await session.append(assistant("two")) == [3]
        assert [it.view.text for it in await session.messages(1, 9)] == ["one", "Heard 1.", "two"]
