"""The middleware of LangChain passes the conformance run, async and sync, and keeps checkpoints small."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="needs LangChain; `make doors` installs it")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

import everfold
from everfold.errors import InvalidInputError
from everfold.integrations.door import Door
from everfold.integrations.langchain import EverfoldMiddleware, give, read_messages
from everfold.testing import check_openai_request
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, OpenAgent, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider

SAVERS: dict[str, InMemorySaver] = {}
"""The checkpoints of each store, which outlive a restart as those of a database do."""


def make_agent(engine: Any, store: str, url: str) -> Any:
    """An agent of LangChain with the middleware."""
    saver = SAVERS.setdefault(store, InMemorySaver())
    return create_agent(
        ChatOpenAI(model="scripted", base_url=url, api_key="none", max_retries=4, stream_usage=True),
        [look_up, explode],
        system_prompt="Say what you know.",
        middleware=[EverfoldMiddleware(engine, user=USER, agent=AGENT, limit=LIMIT)],
        checkpointer=saver,
    )


def ask(text: str, thread: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and the configuration of a run."""
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 200}
    return {"messages": [{"role": "user", "content": text}]}, config


class AsyncAgent:
    """Runs turns with the async methods of the graph."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        given, config = ask(text, thread)
        if not is_streamed:
            return str((await self._agent.ainvoke(given, config))["messages"][-1].content)
        pieces = [piece async for piece, _ in self._agent.astream(given, config, stream_mode="messages")]
        return "".join(piece.content for piece in pieces if piece.type == "AIMessageChunk")

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        given, config = ask(text, thread)
        begun = asyncio.Event()

        async def run() -> None:
            async for piece, _ in self._agent.astream(given, config, stream_mode="messages"):
                if piece.content:
                    begun.set()

        turn = asyncio.create_task(run())
        await begun.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


class SyncAgent:
    """Runs turns with the blocking methods of the graph, each on a thread."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        return await asyncio.to_thread(self._say, text, thread, is_streamed)

    def _say(self, text: str, thread: str, is_streamed: bool) -> str:  # noqa: FBT001 - as the agent is told
        given, config = ask(text, thread)
        if not is_streamed:
            return str(self._agent.invoke(given, config)["messages"][-1].content)
        pieces = [piece for piece, _ in self._agent.stream(given, config, stream_mode="messages")]
        return "".join(piece.content for piece in pieces if piece.type == "AIMessageChunk")

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, left at its first piece; the graph lets the call of the model end first."""

        def run() -> None:
            given, config = ask(text, thread)
            for piece, _ in self._agent.stream(given, config, stream_mode="messages"):
                if piece.content:
                    return

        await asyncio.to_thread(run)


@asynccontextmanager
async def open_async(store: str, url: str) -> AsyncIterator[AsyncAgent]:
    """The agent on the engine's own event loop."""
    async with everfold.open(store) as engine:
        yield AsyncAgent(make_agent(engine, store, url))


@asynccontextmanager
async def open_beside(store: str, url: str) -> AsyncIterator[AsyncAgent]:
    """The agent on another event loop than the engine's."""
    with everfold.open_sync(store) as engine:
        yield AsyncAgent(make_agent(engine, store, url))


@asynccontextmanager
async def open_blocking(store: str, url: str) -> AsyncIterator[SyncAgent]:
    """The agent without an event loop."""
    with everfold.open_sync(store) as engine:
        yield SyncAgent(make_agent(engine, store, url))


OPENERS: list[OpenAgent] = [open_async, open_beside, open_blocking]


@pytest.mark.parametrize("open_agent", OPENERS)
async def test_passes_the_conformance_run(tmp_path: Path, open_agent: OpenAgent) -> None:
    """An agent passes the run that every door passes, with its async methods and with those that block."""
    await run_conformance(open_agent, everfold.open, tmp_path)


async def test_checkpoints_stop_growing(tmp_path: Path) -> None:
    """The state of a thread holds the newest turn, however many there were; the log holds all of them."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            agent = make_agent(engine, str(tmp_path), provider.url)
            for number in range(1, 6):
                given, config = ask(f"MARK-{number} [tools 2] Say it.", "long")
                await agent.ainvoke(given, config)
                assert len((await agent.aget_state(config)).values["messages"]) == 5
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            assert len(await session.messages()) == 25


async def test_asks_for_a_thread_id() -> None:
    """A run without a thread id is refused with what to give."""
    async with everfold.open("memory://") as engine:
        agent = create_agent(ChatOpenAI(model="scripted", api_key="none"), middleware=[EverfoldMiddleware(engine)])
        with pytest.raises(InvalidInputError, match="thread_id"):
            await agent.ainvoke({"messages": [{"role": "user", "content": "Hello."}]})


async def test_blocking_methods_ask_for_a_blocking_engine() -> None:
    """`invoke` on the engine's own event loop would wait for itself, and is refused."""
    async with everfold.open("memory://") as engine:
        agent = create_agent(ChatOpenAI(model="scripted", api_key="none"), middleware=[EverfoldMiddleware(engine)])
        with pytest.raises(InvalidInputError, match="open_sync"):
            agent.invoke(*ask("Hello.", "long"))


def test_arguments_that_are_no_json_are_kept() -> None:
    """A call that the framework could not read is stored with its arguments as they came."""
    call = {"type": "invalid_tool_call", "id": "call_1", "name": "look_up", "args": "{", "error": None}
    (wire,) = give(AIMessage(content="", invalid_tool_calls=[call])).write()
    assert wire["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{"}}
    ]


THINKING = {"type": "thinking", "thinking": "I think.", "signature": "c2lnbmVk"}
TEXT = {"type": "text", "text": "I look."}
CALL: Any = {"id": "call_1", "name": "look_up", "args": {"key": "a"}, "type": "tool_call"}
CALL_BLOCK = {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"key": "a"}}


async def test_thinking_comes_back_with_its_reply() -> None:
    """Signed thinking stands before the text of its reply again, and other members that a provider added are there too."""
    reply = AIMessage(
        content=[THINKING, TEXT, CALL_BLOCK], tool_calls=[CALL], additional_kwargs={"reasoning_content": "R"}
    )
    said = [HumanMessage("Look."), reply, ToolMessage("Nothing.", tool_call_id="call_1")]
    async with everfold.open("memory://") as engine:
        door = Door(await engine.session(), convert=read_messages)
        await door.take([give(message) for message in said])
        shown = (await door.ask(form="openai")).messages
    assert shown[1].content == [THINKING, TEXT]
    assert shown[1].tool_calls == [CALL]
    assert shown[1].additional_kwargs["reasoning_content"] == "R"
    assert [message.type for message in shown[:3]] == ["human", "ai", "tool"]


PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjQK"
IMAGE_URL = "https://tides.example/a.png"
PDF_URL = "https://tides.example/a.pdf"
SHOWN_IMAGE = {"type": "image_url", "image_url": {"url": IMAGE_URL}}
SHOWN_PNG = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
SHOWN_PDF = f"data:application/pdf;base64,{PDF}"
SHOWN_URL = {"type": "file", "url": PDF_URL, "mime_type": "application/pdf"}


async def show(*blocks: Any, is_result: bool) -> list[Any]:
    """What the model is asked after the user, or a tool, gave these blocks."""
    given: list[Any] = [{"type": "text", "text": "Look."}, *blocks]
    said: list[Any] = [HumanMessage("Look." if is_result else given)]
    if is_result:
        said += [AIMessage("", tool_calls=[CALL]), ToolMessage(given, tool_call_id="call_1")]
    async with everfold.open("memory://") as engine:
        door = Door(await engine.session(), convert=read_messages)
        await door.take([give(message) for message in said])
        return (await door.ask(form="openai")).messages


def find_shown(message: Any) -> Any:
    """The last block of a message, without the name of its file; of a file with data, that."""
    last = message.content[-1]
    return last["file"]["file_data"] if "file" in last else {key: last[key] for key in last if key != "filename"}


@pytest.mark.filterwarnings("ignore:OpenAI may require a filename")
@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"type": "image_url", "image_url": IMAGE_URL}, SHOWN_IMAGE),
        ({"type": "image_url", "image_url": {"url": IMAGE_URL}}, SHOWN_IMAGE),
        ({"type": "input_image", "image_url": IMAGE_URL}, SHOWN_IMAGE),
        ({"type": "image", "url": IMAGE_URL}, SHOWN_IMAGE),
        ({"type": "image", "source": {"type": "url", "url": IMAGE_URL}}, SHOWN_IMAGE),
        ({"type": "image", "base64": PNG, "mime_type": "image/png"}, SHOWN_PNG),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, SHOWN_PNG),
        ({"type": "media", "mime_type": "image/png", "data": PNG}, SHOWN_PNG),
        ({"type": "file", "base64": PDF, "mime_type": "application/pdf"}, SHOWN_PDF),
        ({"type": "media", "mime_type": "application/pdf", "data": PDF}, SHOWN_PDF),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}, SHOWN_PDF),
        ({"type": "input_file", "filename": "a.pdf", "file_data": SHOWN_PDF}, SHOWN_PDF),
        ({"type": "file", "url": PDF_URL, "mime_type": "application/pdf"}, SHOWN_URL),
        ({"type": "document", "source": {"type": "url", "url": PDF_URL}}, SHOWN_URL),
    ],
)
@pytest.mark.parametrize("is_result", [True, False])
async def test_images_and_files_of_any_provider_reach_the_model(
    block: dict[str, Any], shown: Any, *, is_result: bool
) -> None:
    """A block of the user's or of a tool's is shown as what it is, whichever form it has."""
    last = (await show(SHOWN_IMAGE, block, is_result=is_result))[-1]
    assert last.content[-2] == SHOWN_IMAGE
    assert find_shown(last) == shown


@pytest.mark.parametrize("url", ["https://tides.example/files/7", PDF_URL])
@pytest.mark.parametrize("is_result", [True, False])
async def test_a_file_at_an_address_keeps_its_media_type_and_its_name(url: str, *, is_result: bool) -> None:
    """What the program said of a file is said to the model, whatever its address looks like."""
    block = {"type": "file", "url": url, "mime_type": "text/csv", "filename": "tides of 1903"}
    assert (await show(block, is_result=is_result))[-1].content[-1] == block


@pytest.mark.filterwarnings("ignore:OpenAI may require a filename")
@pytest.mark.parametrize("name", ["tides.csv", "tides"])
async def test_a_file_at_an_address_without_a_media_type_is_what_its_name_says(name: str) -> None:
    """The name of a file tells its media type before its address does; a file of which neither tells it is a PDF."""
    last = (await show({"type": "file", "url": "https://tides.example/7", "filename": name}, is_result=False))[-1]
    assert last.content[-1]["mime_type"] == ("text/csv" if name == "tides.csv" else "application/pdf")


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text-plain", "text": "Low tide."}, "Low tide."),
        ({"type": "document", "title": "Tides", "source": {"type": "text", "data": "Low tide."}}, "[Tides]\nLow tide."),
        ({"type": "video", "url": "https://tides.example/a.mp4"}, "[content of type video]"),
    ],
)
@pytest.mark.parametrize("is_result", [True, False])
async def test_texts_are_shown_and_what_is_not_stored_is_named(
    block: dict[str, Any], text: str, *, is_result: bool
) -> None:
    """A block that holds a text is shown as one, and a block that no form takes ends no turn."""
    last = (await show(block, is_result=is_result))[-1]
    assert last.text == f"Look.\n{text}"


async def test_an_image_that_a_tool_gives_reaches_the_model() -> None:
    """The request after a call has the image of its result, and is one that the provider takes."""

    def look_up(key: str) -> list[dict[str, Any]]:
        """Look up."""
        return [{"type": "text", "text": key}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]

    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            model = ChatOpenAI(model="scripted", base_url=provider.url, api_key="none")
            agent = create_agent(model, [look_up], middleware=[EverfoldMiddleware(engine)])
            given, config = ask("MARK-1 [tools 1] Say it.", "long")
            await agent.ainvoke(given, config)
    assert check_openai_request(provider.asked[-1].body) == []
    assert SHOWN_PNG in provider.asked[-1].body["messages"][-1]["content"]
