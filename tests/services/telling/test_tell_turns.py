"""Hooks of a turn: told once, after the store has it, and never for what was not said now."""

from collections.abc import AsyncIterator

import pytest

import everfold
from everfold import Everfold, Hooks, TurnEnd, TurnStart
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import assistant, calls, result, user
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


def turns(plugin: Hearing) -> list[tuple[object, ...]]:
    """What was told of turns."""
    told: list[tuple[object, ...]] = []
    for _, it in plugin.heard:
        if isinstance(it, TurnStart):
            told.append(("start", it.turn_seq, it.turns_count, it.text))
        elif isinstance(it, TurnEnd):
            told.append(("end", it.turn_seq, it.last_seq, it.text))
    return told


async def test_a_turn_starts_and_ends(engine: Everfold, plugin: Hearing) -> None:
    """A user message starts a turn with its words; the answer ends it, and the steps between them do not."""
    session = await engine.session()
    await session.append({"role": "system", "content": "Be brief."})
    await session.append(user("Look it up."))
    await session.append(calls("a"))
    await session.append(result("a", "42"))
    assert turns(plugin) == [("start", 2, 1, "Look it up.")]
    await session.append(assistant("It is 42."))
    await session.append(user("Thanks."))
    assert turns(plugin)[1:] == [("end", 2, 5, "It is 42."), ("start", 6, 2, "Thanks.")]


async def test_a_batch_tells_every_turn_in_it(engine: Everfold, plugin: Hearing) -> None:
    """Several turns in one append are told one by one, in the order of the log."""
    session = await engine.session()
    await session.append([assistant("Welcome."), user("one"), assistant("1"), user("two"), user("three")])
    assert turns(plugin) == [
        ("start", 2, 1, "one"),
        ("end", 2, 3, "1"),
        ("start", 4, 2, "two"),
        ("start", 5, 3, "three"),
    ]


async def test_a_second_answer_ends_the_turn_again(engine: Everfold, plugin: Hearing) -> None:
    """Another answer to the same turn is told with the same turn; a turn without an answer is told no end."""
    session = await engine.session()
    await session.append([user("one"), assistant("first"), assistant("second"), user("two"), user("three")])
    assert [it for it in turns(plugin) if it[0] == "end"] == [("end", 1, 2, "first"), ("end", 1, 3, "second")]


async def test_what_is_no_user_message_starts_nothing(engine: Everfold, plugin: Hearing) -> None:
    """A tick, an injection and a message from outside start no turn."""
    session = await engine.session()
    await session.append(user("tick"), source="tick")
    await session.append(user("mail"), origin="external")
    await session.append(user("memory"), source="injection")
    assert turns(plugin) == []


async def test_a_repeat_is_not_told_again(engine: Everfold, plugin: Hearing) -> None:
    """An append under a client id that is stored already calls no hook, from whichever handle it comes."""
    session = await engine.session()
    await session.append([user("one"), assistant("1")], client_id="b")
    told = turns(plugin)
    await session.append([user("one"), assistant("1")], client_id="b")
    await (await engine.session(id=session.id)).append([user("one"), assistant("1")], client_id="b")
    assert turns(plugin) == told


async def test_a_refused_append_is_not_told(engine: Everfold, plugin: Hearing) -> None:
    """When one message of a batch does not fit nothing is stored and nothing is told."""
    session = await engine.session()
    with pytest.raises(InvalidInputError):
        await session.append([user("one"), result("nobody", "42")])
    assert turns(plugin) == []
    assert (await session.inspect.state()).last_seq == 0


async def test_a_failing_hook_does_not_undo_an_append(url: str) -> None:
    """Messages are stored and their numbers given, whatever the hooks do."""

    class Bad(Hooks):
        async def on_turn_start(self, turn: TurnStart) -> None:  # noqa: ARG002 - a hook
            """Raise."""
            raise ValueError("bad")

    async with everfold.open(url, hooks=[Bad()]) as opened:
        session = await opened.session()
        assert await session.append([user("one"), assistant("1"), user("two")]) == [1, 2, 3]
        assert (await session.inspect.state()).last_seq == 3


async def test_the_store_has_it_first(url: str) -> None:
    """In its hook a message can be read by another handle."""
    read: list[str] = []

    class Reading(Hooks):
        async def on_turn_start(self, turn: TurnStart) -> None:
            """Read the message."""
            other = await opened.session(id=turn.session.id)
            read.extend(message.view.text for message in await other.messages(turn.turn_seq, turn.turn_seq))

    async with everfold.open(url, hooks=[Reading()]) as opened:
        await (await opened.session()).append([user("one"), assistant("1"), user("two")])
    assert read == ["one", "two"]
