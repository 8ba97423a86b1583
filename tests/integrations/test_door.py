"""A door stores a framework's messages once each, gives the request that stands for the log, and is reached from anywhere."""

import asyncio
from collections.abc import AsyncIterator

import pytest

import everfold
from everfold.core.log.interruption import INTERRUPTED_MARK
from everfold.core.primitives.json_values import JsonValue
from everfold.engine import Everfold
from everfold.errors import InvalidInputError, OpenStepError, StoreUnavailableError
from everfold.integrations.door import Converted, Door, Doors, Given
from everfold.session import Session
from everfold.testing import check_openai_request


@pytest.fixture
async def engine() -> AsyncIterator[Everfold]:
    """An engine without a file."""
    async with everfold.open("memory://") as engine:
        yield engine


@pytest.fixture
async def session(engine: Everfold) -> Session:
    """An empty session."""
    return await engine.session(session_key="thread")


def say(id_: str, text: str, role: str = "user") -> Given:
    """A message of a framework."""
    return Given(id_, lambda: [{"role": role, "content": text}])


def fail(id_: str) -> Given:
    """A message that must not be read."""

    def write() -> list[dict[str, object]]:
        pytest.fail(f"{id_} was read again")

    return Given(id_, write)


async def read_texts(session: Session) -> list[str]:
    """The texts of a log."""
    return [message.view.text for message in await session.messages()]


async def test_a_list_that_comes_again_is_stored_once(session: Session) -> None:
    """Of a list that grew, only what is new is read and stored."""
    door = Door(session)
    assert await door.take([say("a", "One."), say("b", "Two.", "assistant")]) == [1, 2]
    assert await door.take([fail("a"), fail("b"), say("c", "Three.")]) == [3]
    assert await read_texts(session) == ["One.", "Two.", "Three."]


async def test_another_door_stores_nothing_twice(engine: Everfold, session: Session) -> None:
    """After a restart the whole list comes to a new door, and what the log has is not read again."""
    await Door(session).take([say("a", "One."), say("b", "Two.", "assistant")])
    again = Door(await engine.session(session_key="thread"))
    assert await again.take([fail("a"), fail("b"), say("c", "Three.")]) == [3]


async def test_a_message_that_stands_for_several(session: Session) -> None:
    """A framework's message that holds two results is stored as two messages, once."""
    calls = [{"id": f"call_{n}", "type": "function", "function": {"name": "add", "arguments": "{}"}} for n in (1, 2)]
    step = Given("b", lambda: [{"role": "assistant", "content": None, "tool_calls": calls}])
    results = Given("c", lambda: [{"role": "tool", "tool_call_id": call["id"], "content": "3"} for call in calls])
    door = Door(session)
    await door.take([say("a", "Add."), step])
    with pytest.raises(OpenStepError):
        await door.ask(form="openai")
    assert await door.take([fail("a"), fail("b"), results]) == [3, 4]
    assert await Door(session).take([fail("a"), fail("b"), fail("c")]) == []
    assert check_openai_request((await door.ask(form="openai")).body) == []


async def test_a_request_holds_the_prompt_and_the_tools(session: Session) -> None:
    """System prompt and tools are those of the newest call; the same again is no cache break."""
    door = Door(session)
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
    await door.take([say("a", "One.")])
    asked = await door.ask(form="openai", system="Be short.", tools=[tool])
    assert asked.body["tools"] == [tool]
    assert asked.body["messages"][0] == {"role": "system", "content": "Be short."}  # type: ignore[index,call-overload]
    again = await door.ask(form="openai", system="Be short.", tools=[dict(tool)])
    assert again.window.report.cache_breaks == ()


async def test_each_agent_asks_with_its_own_prompt(engine: Everfold) -> None:
    """Two agents on one session each ask with their own system prompt and tools, in turn and at the same time."""
    agents = [
        (
            Door(await engine.session(session_key="shared")),
            f"You are {name}.",
            [{"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}],
        )
        for name in ("billing", "refusal")
    ]

    async def ask(number: int) -> None:
        door, system, tools = agents[number % 2]
        await door.take([say("a", "Where do I moor?")])
        asked = await door.ask(form="openai", system=system, tools=tools)
        assert asked.messages[0] == {"role": "system", "content": system}
        assert asked.body["tools"] == tools

    for number in range(4):
        await ask(number)
    await asyncio.gather(*map(ask, range(12)))


async def test_a_reply_that_comes_back_in_the_list_is_stored_once(session: Session) -> None:
    """What `reply` stored is known when the framework lists it."""
    door = Door(session)
    await door.take([say("a", "One.")])
    await door.reply(await door.ask(form="openai"), say("b", "Two.", "assistant"), counted_tokens=50)
    await door.take([fail("a"), fail("b"), say("c", "Three.")])
    assert await read_texts(session) == ["One.", "Two.", "Three."]


async def test_a_reply_that_was_stopped_keeps_its_text(session: Session) -> None:
    """What was said before a stop is stored with its mark, also while the task is being cancelled; nothing said is not."""
    door = Door(session)
    await door.take([say("a", "One.")])

    async def stop() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await door.break_off("Tw", reason="the run was cancelled")
            await door.break_off("", reason="the run was cancelled")

    task = asyncio.create_task(stop())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await read_texts(session) == ["One.", f"Tw\n\n{INTERRUPTED_MARK}"]


async def test_a_blocking_engine_is_reached_from_an_event_loop_and_from_a_thread() -> None:
    """With `open_sync`, the same door serves async code of any loop and code that blocks."""
    with everfold.open_sync("memory://") as engine:
        doors = Doors(engine)
        door = await doors.call(lambda: doors.find("thread"))
        await door.call(lambda: door.take([say("a", "One.")]))
        await asyncio.to_thread(door.block, lambda: door.take([say("b", "Two.")]))
        assert len(engine.session(session_key="thread").messages()) == 2


async def test_a_door_of_a_closed_engine_says_so() -> None:
    """Whichever way a door is called, an engine that was closed meanwhile is a store that is not available."""
    with everfold.open_sync("memory://") as engine:
        doors = Doors(engine)
        door = await doors.call(lambda: doors.find("thread"))
    with pytest.raises(StoreUnavailableError, match="open it again"):
        await door.call(lambda: door.take([say("a", "One.")]))
    with pytest.raises(StoreUnavailableError, match="open it again"):
        await asyncio.to_thread(door.block, lambda: door.take([say("a", "One.")]))


async def test_blocking_on_an_engine_of_an_event_loop_is_refused(session: Session) -> None:
    """A thread that waited for the loop that it stands on would wait for ever."""
    door = Door(session)
    with pytest.raises(InvalidInputError, match="open_sync"):
        door.block(lambda: door.take([]))


async def test_conversations_that_are_long_ago_are_let_go(engine: Everfold, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more doors are kept than there may be, and one that was let go is opened again at its log."""
    monkeypatch.setattr("everfold.integrations.door.MOST_DOORS", 2)
    doors = Doors(engine)
    first = await doors.find("one")
    await first.take([say("a", "One.")])
    assert await doors.find("one") is first
    await doors.find("two")
    await doors.find("three")
    again = await doors.find("one")
    assert again is not first
    assert await again.take([fail("a")]) == []


def test_what_a_request_has_in_common_with_the_last_is_not_converted_again() -> None:
    """Only what differs from the last request is made anew, whether it grew, was cut or changed in its middle."""
    seen: list[object] = []

    def convert(messages: list[JsonValue]) -> list[str]:
        seen.extend(messages)
        return [f"<{message}>" for message in messages]

    converted = Converted(convert)
    requests: list[list[JsonValue]] = [["a", "b"], ["a", "b", "c"], ["a", "x", "c"], ["a"], []]
    assert [converted.convert(request) for request in requests] == [
        [f"<{it}>" for it in request] for request in requests
    ]
    assert seen == ["a", "b", "c", "x", "c"]


async def test_a_list_of_objects_is_written_where_it_is_new(session: Session) -> None:
    """Of a framework's own objects only names are read again; one that stands for nothing is not asked for again either."""
    written: list[str] = []

    def write(word: str) -> list[dict[str, object]]:
        written.append(word)
        return [{"role": "user", "content": word}] if word != "aside" else []

    door = Door(session)
    assert await door.take_each(["one", "aside"], name=str, write=write) == [1]
    assert await door.take_each(["one", "aside", "two"], name=str, write=write) == [2]
    assert written == ["one", "aside", "two"]
    assert await read_texts(session) == ["one", "two"]


async def test_messages_of_other_origins_keep_their_order(session: Session) -> None:
    """A message whose origin its framework tells is stored with it, between those whose role tells it."""
    note = Given("b", lambda: [{"role": "user", "content": "Two."}], "assistant")
    assert await Door(session).take([say("a", "One."), note, say("c", "Three.")]) == [1, 2, 3]
    assert [message.origin for message in await session.messages()] == ["user", "assistant", "user"]


async def test_one_message_more_leaves_the_list_known(session: Session) -> None:
    """A message that is added by itself is stored once, and what was in the last list is still not read again."""
    door = Door(session)
    await door.take([say("a", "One.")])
    assert await door.add(say("b", "Two.", "assistant")) == [2]
    assert await door.add(say("b", "Two.", "assistant")) == []
    assert await door.take([fail("a"), fail("b"), say("c", "Three.")]) == [3]


async def test_what_is_left_is_stored_before_anything_else(session: Session) -> None:
    """A callback that cannot wait leaves what the model had said; the next message comes after it."""
    door = Door(session)
    await door.take([say("a", "One.")])
    door.leave("The beginning", reason="stopped")
    await door.take([say("a", "One."), say("b", "Two.")])
    texts = await read_texts(session)
    assert texts[1].startswith("The beginning")
    assert texts[::2] == ["One.", "Two."]


async def test_another_event_loop_is_refused(session: Session) -> None:
    """A handle of the engine's own loop is not used from another one, where it would wait for ever."""
    door = Door(session)

    def run() -> None:
        asyncio.run(door.call(lambda: door.take([say("a", "One.")])))

    with pytest.raises(InvalidInputError, match="open_sync"):
        await asyncio.to_thread(run)


def test_finds_what_two_requests_have_in_common() -> None:
    """Objects are made anew from the first message that differs, be it the last, the first, or one of many."""
    made: list[JsonValue] = []

    def convert(messages: list[JsonValue]) -> list[JsonValue]:
        made.extend(messages)
        return messages

    for changed in (0, 3, 8, 9):
        converted = Converted(convert)
        converted.convert([*range(10)])
        made.clear()
        later: list[JsonValue] = [*range(changed), 99, *range(changed + 1, 12)]
        assert converted.convert(later) == later
        assert made == later[changed:]


@pytest.mark.parametrize("is_result", [True, False])
async def test_a_door_that_converts_is_given_the_addresses_of_files(*, is_result: bool) -> None:
    """The framework writes such a file as its model takes it; a request that is sent as it is names the file."""
    file = {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://tides.example/a.pdf"}}
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    log: list[dict[str, object]] = [{"role": "user", "content": "Look." if is_result else [file]}]
    if is_result:
        log += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": [file]},
        ]
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        await session.append(log)
        converting, plain = [
            (await Door(session, convert=convert).ask(form="openai")).messages[-1]["content"][-1]
            for convert in (list, None)
        ]
    assert converting == file
    assert plain == {"type": "text", "text": "[file a.pdf at https://tides.example/a.pdf, not shown in this form]"}
