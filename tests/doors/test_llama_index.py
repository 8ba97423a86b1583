"""The memory of LlamaIndex passes the conformance run with an agent, and serves chat engines with both faces."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs LlamaIndex; `make doors` installs it")

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI

import everfold
from everfold.errors import InvalidInputError
from everfold.integrations.llama_index import EverfoldMemory
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer


def make_model(url: str) -> OpenAI:
    """A model behind the provider."""
    return OpenAI(model="gpt-5-mini", api_base=url, api_key="none", max_retries=4)


def make_agent(url: str, *, is_streamed: bool) -> FunctionAgent:
    """An agent of a program."""
    return FunctionAgent(
        llm=make_model(url),
        tools=[FunctionTool.from_defaults(look_up), FunctionTool.from_defaults(explode)],
        system_prompt="Say what you know.",
        streaming=is_streamed,
        timeout=None,
    )


class Speaker:
    """Runs the turns of each thread with a memory of its own."""

    def __init__(self, engine: Any, url: str) -> None:
        self._engine = engine
        self._agents = {is_streamed: make_agent(url, is_streamed=is_streamed) for is_streamed in (False, True)}
        self._memories: dict[str, EverfoldMemory] = {}

    async def _begin(self, text: str, thread: str, *, is_streamed: bool) -> Any:
        if thread not in self._memories:
            session = self._engine.session(user=USER, agent=AGENT, session_key=thread, limit=LIMIT)
            session = await session if asyncio.iscoroutine(session) else session
            self._memories[thread] = EverfoldMemory(session)
        return self._agents[is_streamed].run(user_msg=text, memory=self._memories[thread], max_iterations=60)

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        run = await self._begin(text, thread, is_streamed=is_streamed)
        events = [event async for event in run.stream_events() if isinstance(event, AgentStream)]
        answer = str((await run).response.content)
        assert bool(events) == is_streamed
        return answer

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        run = await self._begin(text, thread, is_streamed=True)
        async for event in run.stream_events():
            if isinstance(event, AgentStream) and event.delta:
                await run.cancel_run()
                break
        await asyncio.gather(run, return_exceptions=True)


@asynccontextmanager
async def open_here(store: str, url: str) -> AsyncIterator[Speaker]:
    """Agents on the engine's own event loop."""
    async with everfold.open(store) as engine:
        yield Speaker(engine, url)


@asynccontextmanager
async def open_beside(store: str, url: str) -> AsyncIterator[Speaker]:
    """Agents on another event loop than the engine's."""
    with everfold.open_sync(store) as engine:
        yield Speaker(engine, url)


@pytest.mark.parametrize("open_agent", [open_here, open_beside])
async def test_passes_the_conformance_run(tmp_path: Path, open_agent: Any) -> None:
    """An agent passes the run that every door passes, wherever the engine runs."""
    await run_conformance(open_agent, everfold.open, tmp_path)


async def test_a_run_keeps_no_step_beside_the_memory() -> None:
    """Within a run, replies and results leave the agent's scratchpad for the session, so that a long loop can fold."""
    sizes: list[int] = []

    async def note(context: Context, key: str) -> str:
        """Look a key up."""
        sizes.append(len(await context.store.get("scratchpad", default=[])))
        return key

    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            session = await engine.session(limit=LIMIT)
            agent = make_agent(provider.url, is_streamed=False)
            agent.tools = [FunctionTool.from_defaults(note, name="look_up")]
            await agent.run(user_msg="MARK-1 [steps 5] Say it.", memory=EverfoldMemory(session))
            assert len(await session.messages()) == 12
    assert sizes == [1] * 5


def test_a_chat_engine_has_both_faces(tmp_path: Path) -> None:
    """A chat engine's blocking methods store and read the same session as those that are awaited."""
    with ScriptedProvider() as provider, everfold.open_sync(f"sqlite:///{tmp_path / 'doors.db'}") as engine:
        session = engine.session(limit=LIMIT)
        chat = SimpleChatEngine.from_defaults(
            llm=make_model(provider.url), memory=EverfoldMemory(session), system_prompt="Be short."
        )
        chat.chat("MARK-1 Say it.")
        asyncio.run(chat.achat("MARK-2 Say it."))
        assert "".join(chat.stream_chat("MARK-3 Say it.").response_gen) == write_answer("MARK-3")
        texts = [message.view.text for message in session.messages()]
        assert texts[::2] == [f"MARK-{number} Say it." for number in (1, 2, 3)]
        assert len(texts) == 6
    assert all(str(request.body).count("Be short.") == 1 for request in provider.asked)


async def test_a_history_is_taken_once() -> None:
    """A past goes into an empty session; a session that has one refuses another, until another session begins."""
    past = [ChatMessage(role="user", content="Hello."), ChatMessage(role="assistant", content="Hi.")]
    async with everfold.open("memory://") as engine:
        session = await engine.session(session_key="thread")
        memory = EverfoldMemory(session)
        await memory.aset(past)
        assert [message.content for message in await memory.aget_all()] == ["Hello.", "Hi."]
        with pytest.raises(InvalidInputError, match="chat_history"):
            await memory.aset(past)
        await memory.areset()
        assert await memory.aget() == []
        assert len(await session.messages()) == 2


async def test_the_blocking_face_needs_an_engine_on_a_thread_of_its_own() -> None:
    """`get` on the engine's own event loop would wait for itself, and is refused."""
    async with everfold.open("memory://") as engine:
        memory = EverfoldMemory(await engine.session())
        with pytest.raises(InvalidInputError, match="open_sync"):
            memory.get()


async def test_blocks_come_back_as_they_went() -> None:
    """What is shown whole is shown with its pictures, its documents and its thinking."""
    said = ChatMessage(
        role="user",
        blocks=[
            TextBlock(text="Look."),
            ImageBlock(image=b"\x89PNG\r\n\x1a\n", image_mimetype="image/png"),
            DocumentBlock(data=b"%PDF-1.7", title="paper.pdf", document_mimetype="application/pdf"),
        ],
    )
    reply = ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="I think.", additional_information={"signature": "c2lnbmVk"}),
            TextBlock(text="I look."),
            ToolCallBlock(tool_call_id="call_1", tool_name="look_up", tool_kwargs='{"key":"a"}'),
        ],
    )
    result = ChatMessage(role="tool", content="Nothing.", additional_kwargs={"tool_call_id": "call_1"})
    async with everfold.open("memory://") as engine:
        memory = EverfoldMemory(await engine.session())
        await memory.aput_messages([said, reply, result])
        shown = await memory.aget()
    assert shown[:3] == [said, reply, result]
