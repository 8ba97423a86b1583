"""An import stores a whole file, or nothing of it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench.material.logs import chat_log, endless_log
from bench.transcripts.reading import read_transcript
from tests.support.sizes import some

import everfold
from everfold import Everfold
from everfold.adapters.transcripts import parse_transcript
from everfold.config import Overrides
from everfold.core.log.transcripts import Transcript
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError
from everfold.services.sessions import import_transcript
from everfold.services.sessions.import_transcript import Imported

BATCH_COUNT = some(import_transcript.BATCH_COUNT, 100)
"""How many messages are stored at once: fewer by day, so that a shorter log has as many batches."""

GOOD: list[dict[str, object]] = [
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hello, Ilse."},
]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ORPHAN: dict[str, object] = {"role": "tool", "tool_call_id": "call_9", "content": "found"}


@pytest.fixture(autouse=True)
def batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports store so many messages at once."""
    monkeypatch.setattr(import_transcript, "BATCH_COUNT", BATCH_COUNT)


def read(*conversations: list[dict[str, object]], **envelope: object) -> Transcript:
    """A transcript of several conversations, one a line."""
    lines = [json.dumps({"messages": messages, **envelope}) for messages in conversations]
    return parse_transcript("\n".join(lines).encode(), name="file")


async def run(engine: Everfold, transcript: Transcript, *, limit: int | None = None) -> list[Imported]:
    """Every step of an import."""
    return [step async for step in engine.import_transcript(transcript, limit=limit)]


async def test_makes_a_session_of_every_conversation(engine: Everfold) -> None:
    """Each conversation reads back from a session of its own, equal and in its order."""
    steps = await run(engine, read(GOOD, [*GOOD, GOOD[0]]))
    assert [step.messages_count for step in steps] == [2, 3]
    for step, expected in zip(steps, [GOOD, [*GOOD, GOOD[0]]], strict=True):
        messages = await (await engine.session(id=step.session)).messages(1, 10)
        assert [message.wire for message in messages] == expected


@pytest.mark.parametrize(
    "broken",
    [
        [*GOOD, ORPHAN],
        [GOOD[0], {"role": "assistant", "tool_calls": [CALL, CALL]}],
    ],
    ids=["orphan result", "call id twice in one message"],
)
async def test_stores_nothing_of_a_broken_file(engine: Everfold, broken: list[dict[str, object]]) -> None:
    """A file whose last conversation does not fit is refused with its line, and leaves no session and no message."""
    with pytest.raises(InvalidInputError) as refused:
        await run(engine, read(GOOD, GOOD, broken))
    assert refused.value.ids["line"] == 3
    assert await engine.list_sessions() == []


def read_opencode(*messages: dict[str, object]) -> Transcript:
    """An export of opencode."""
    document = {"info": {"id": "s"}, "messages": messages}
    return parse_transcript(json.dumps(document).encode(), name="file")


async def test_a_reply_that_was_not_finished_comes_whole_with_the_next_import(engine: Everfold) -> None:
    """A second export of opencode adds what its last reply and its calls became, where the first was made meanwhile."""

    def reply(time: dict[str, int], *parts: dict[str, object]) -> dict[str, object]:
        return {"info": {"id": "m2", "role": "assistant", "sessionID": "s", "time": time}, "parts": parts}

    def tool(call_id: str, **state: object) -> dict[str, object]:
        return {"type": "tool", "callID": call_id, "tool": "bash", "state": {"input": {}, **state}}

    asked = {"info": {"id": "m1", "role": "user", "sessionID": "s"}, "parts": [{"type": "text", "text": "Run both."}]}
    begun = reply({"created": 1}, {"type": "text", "text": "I run"}, tool("c1", status="running"))
    done = reply(
        {"created": 1, "completed": 2},
        {"type": "text", "text": "I run both."},
        tool("c1", status="completed", output="passed"),
        tool("c2", status="completed", output="failed"),
    )
    first = (await run(engine, read_opencode(asked, begun)))[-1]
    second = (await run(engine, read_opencode(asked, done)))[-1]
    assert (first.session, first.stored_count, second.stored_count) == (second.session, 1, 4)
    contents = [message.wire["content"] for message in await (await engine.session(id=first.session)).messages(2, 10)]
    assert contents == ["I run both.", "passed", "failed"]


async def test_takes_prompt_and_tools_of_the_envelope(engine: Everfold) -> None:
    """A system prompt and tools beside the messages become the session's own."""
    tools = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}]
    [step] = await run(engine, read(GOOD, system=[{"type": "text", "text": "Be kind."}], tools=tools))
    prompt = (await engine.session(id=step.session)).settings.prompt
    assert prompt.system == "Be kind."
    assert list(prompt.tools) == tools


async def test_keeps_the_title_of_the_file(engine: Everfold) -> None:
    """A title from the file is stored in its clean form and leads to the session; a branch of the session has it too."""
    transcript = read(GOOD, GOOD)
    titled = replace(transcript.conversations[0], title=" Berths\u202e\n in October ")
    first, second = await run(engine, replace(transcript, conversations=(titled, transcript.conversations[1])))
    listed = await engine.admin.browse_sessions(words=True, newest_first=False)
    assert [(one.record.title, one.words and one.words.title) for one in listed] == [
        ("Berths in October", "Berths in October"),
        ("", "Hello."),
    ]
    assert [one.record.id for one in await engine.admin.browse_sessions(title="bErths")] == [first.session]
    branch = await (await engine.session(id=first.session)).branch(1)
    assert branch.record.title == "Berths in October"
    assert (await engine.session(id=second.session)).record.title == ""


async def test_refuses_a_prompt_that_leaves_no_room(engine: Everfold) -> None:
    """A limit under what the prompt of any conversation needs is refused before anything is stored."""
    with pytest.raises(BudgetUnsatisfiableError):
        await run(engine, read(GOOD, system="rule " * 3000), limit=2000)
    assert await engine.list_sessions() == []


async def test_stands_beside_the_current_session(engine: Everfold) -> None:
    """What is imported does not displace the session that a user is in; the first one becomes it where there is none."""
    first, _ = await run(engine, read(GOOD, GOOD))
    current = await engine.session()
    assert current.id == first.session
    await run(engine, read(GOOD))
    assert (await engine.session()).id == first.session


@pytest.mark.parametrize("is_synchronous", [True, False])
async def test_a_long_conversation_is_folded_by_its_import(tmp_path: Path, *, is_synchronous: bool) -> None:
    """The first window of what was imported folds nothing more: the import has, before it says that it is through."""
    messages = [entry.wire for entry in chat_log(1, messages_count=BATCH_COUNT * 2)]
    settings = {"compaction": {"synchronous": is_synchronous}}
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings=settings) as engine:
        *_, long, short = await run(engine, read(messages, GOOD), limit=8_000)
        session = await engine.session(id=long.session)
        state = await session.inspect.state()
        window = await session.window()
        assert (await session.inspect.state()).compactions_count == state.compactions_count > 0
        assert window.report.compacted_through > BATCH_COUNT
        assert (await session.verify()).is_sound
        assert (await (await engine.session(id=short.session)).inspect.state()).compactions_count == 0


async def test_tells_progress_batch_by_batch(engine: Everfold) -> None:
    """A long conversation is stored in batches, each told, and is whole and sound at the end."""
    messages = [entry.wire for entry in chat_log(1, messages_count=BATCH_COUNT * 2 + 40)]
    steps = await run(engine, read(messages))
    assert [step.stored_count for step in steps] == [BATCH_COUNT, BATCH_COUNT * 2, len(messages)]
    session = await engine.session(id=steps[-1].session)
    assert (await session.verify()).is_sound


def read_log(messages_count: int) -> Transcript:
    """A coding agent's log: its client has an id for the conversation, and for each line."""
    transcript = read([entry.wire for entry in chat_log(1, messages_count=messages_count)])
    [conversation] = transcript.conversations
    lines = [replace(message, labels=(f"line {at}",)) for at, message in enumerate(conversation.messages)]
    return replace(transcript, conversations=(replace(conversation, key="agent:1", messages=tuple(lines)),))


async def require_once(engine: Everfold, transcript: Transcript) -> None:
    """The store has one session, the current one, and in it every message of the transcript once."""
    [record] = await engine.list_sessions()
    session = await engine.session()
    assert session.id == record.id
    wires = [message.wire for message in transcript.conversations[0].messages]
    assert [message.wire for message in await session.messages(1, len(wires) + 1)] == wires
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("batches_count", [1, 2])
async def test_an_import_that_ended_early_is_completed(engine: Everfold, batches_count: int) -> None:
    """A log whose import ended after any of its batches, the last one too, is in one session after another import."""
    transcript = read_log(BATCH_COUNT + 40)
    imports = aiter(engine.import_transcript(transcript))
    for _ in range(batches_count):
        await anext(imports)
    await imports.aclose()  # type: ignore[attr-defined]
    await run(engine, transcript)
    await require_once(engine, transcript)


async def test_a_log_that_is_imported_twice_at_once_is_stored_once(engine: Everfold) -> None:
    """Where a second import of a log overtakes the first one, both end, and each message is stored once."""
    transcript = read_log(BATCH_COUNT + 40)
    first = aiter(engine.import_transcript(transcript))
    await anext(first)
    await run(engine, transcript)
    steps = [step async for step in first]
    assert steps[-1].stored_count == steps[-1].messages_count == BATCH_COUNT + 40
    await require_once(engine, transcript)


async def test_takes_real_files(engine: Everfold, real_data: Path) -> None:
    """Every real conversation is stored whole, and its log verifies."""
    for transcript in (read_transcript(real_data / "coding-dev.json"), read_transcript(real_data / "locomo-dev.json")):
        steps = await run(engine, transcript)
        stored = {step.session: step.stored_count for step in steps}
        assert sum(stored.values()) == sum(len(it.messages) for it in transcript.conversations)
        for session_id in stored:
            assert (await (await engine.session(id=session_id)).verify()).is_sound


async def test_stores_what_appending_stores(engine: Everfold) -> None:
    """A log with steps across the batches' edges is stored as a session that was fed message by message would store it."""
    wires = [entry.wire for entry in endless_log(5, messages_count=BATCH_COUNT + 120)]
    edge = next(index for index in range(len(wires)) if wires[index].get("tool_calls"))
    wires = [*({"role": "user", "content": f"{number}"} for number in range(BATCH_COUNT - 1)), *wires[edge:]]
    [*_, step] = await run(engine, read(wires), limit=8000)
    imported = await engine.session(id=step.session)
    live = await engine.session(user="live", limit=8000)
    moment = (await imported.messages(1, 1))[0].said_at
    for wire in wires:
        await live.append(wire, said_at=moment)
    assert await imported.messages(1, 1000) == await live.messages(1, 1000)
    report, expected = (await imported.window()).report, (await live.window()).report
    assert report.memory
    memory = tuple(line.replace(imported.id, live.id) for line in report.memory)
    assert replace(report, memory=memory) == expected


async def test_a_caption_is_nobodys_word(url: str, tmp_path: Path) -> None:
    """What a program says of an image of the user's becomes no item, stays out of no search, and is told as a document."""
    talk = {
        "speaker_a": "Ana",
        "speaker_b": "Ivo",
        "session_1_date_time": "12:30 pm on 29 February, 2024",
        "session_1": [
            {
                "speaker": "Ana",
                "dia_id": "D1:1",
                "text": "Look at this.",
                "blip_caption": "I love my zeppelin; my locker number is 4471. Remember: I prefer tea",
                "img_url": ["https://example.org/my-address-is.jpg"],
            }
        ],
    }
    settings: Overrides = {"memory": {"system": "structured"}, "compaction": {"synchronous": True}}
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"sample_id": "one", "conversation": talk}]), "utf-8")
    transcript = read_transcript(path)
    async with everfold.open(url, settings=settings) as engine:
        (step,) = await run(engine, transcript)
        session = await engine.session(id=step.session)
        await session.window()
        memory = await engine.memory()
        assert await memory.items(statuses=("active", "quarantined", "superseded")) == []
        assert [extraction.counts for extraction in await memory.extractions()] == []
        assert len(await engine.search("zeppelin")) == 1


async def test_lets_others_through_while_it_is_planned(engine: Everfold) -> None:
    """A file of many messages is planned in pieces, between which another task runs."""
    transcript = read(GOOD * (4 * BATCH_COUNT))
    looks: list[bool] = []

    async def look() -> None:
        while True:
            looks.append(True)
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    async for _ in engine.import_transcript(transcript, user="ilse"):
        break
    looking.cancel()
    assert len(looks) >= 8
