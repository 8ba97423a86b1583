"""The hooks of Strands pass the conformance run, awaited and called, and content blocks survive the log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands", reason="needs Strands; `make doors` installs it")

from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.hooks import AfterModelCallEvent
from strands.models.openai import OpenAIModel

import everfold
from everfold.errors import InvalidInputError
from everfold.integrations.door import Door
from everfold.integrations.strands import EverfoldHooks, give, read_messages
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, OpenAgent, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer


def make_agent(session: Any, url: str) -> Agent:
    """An agent with the hooks over a session."""
    return Agent(
        OpenAIModel(client_args={"base_url": url, "api_key": "none", "max_retries": 4}, model_id="scripted"),
        tools=[tool(look_up), tool(explode)],
        system_prompt="Say what you know.",
        hooks=[EverfoldHooks(session)],
        conversation_manager=NullConversationManager(),
        callback_handler=None,
    )


class AsyncSpeaker:
    """Awaits the turns of each thread with an agent of its own, and cancels the task of a turn to stop it."""

    def __init__(self, engine: Any, url: str) -> None:
        self._engine, self._url = engine, url
        self._agents: dict[str, Agent] = {}

    async def find(self, thread: str) -> Agent:
        """The agent of a thread."""
        if thread not in self._agents:
            session = self._engine.session(user=USER, agent=AGENT, session_key=thread, limit=LIMIT)
            session = await session if asyncio.iscoroutine(session) else session
            self._agents[thread] = make_agent(session, self._url)
        return self._agents[thread]

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        agent = await self.find(thread)
        if not is_streamed:
            return str(await agent.invoke_async(text)).strip()
        return "".join([event["data"] async for event in agent.stream_async(text) if "data" in event])

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        agent, begun = await self.find(thread), asyncio.Event()

        async def run() -> None:
            async for event in agent.stream_async(text):
                if "data" in event:
                    begun.set()

        turn = asyncio.create_task(run())
        await begun.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


class CallingSpeaker(AsyncSpeaker):
    """Calls the agent of each thread, and stops a turn with the agent's own method."""

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        agent, heard = await self.find(thread), list[str]()
        agent.callback_handler = lambda **event: heard.append(event.get("data", ""))
        answer = str(await asyncio.to_thread(agent, text)).strip()
        return "".join(heard) if is_streamed else answer

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, stopped at its first piece."""
        agent = await self.find(thread)
        agent.callback_handler = lambda **event: agent.cancel() if event.get("data") else None
        await asyncio.to_thread(agent, text)


@asynccontextmanager
async def open_here(store: str, url: str) -> AsyncIterator[AsyncSpeaker]:
    """Agents on the engine's own event loop."""
    async with everfold.open(store) as engine:
        yield AsyncSpeaker(engine, url)


@asynccontextmanager
async def open_called(store: str, url: str) -> AsyncIterator[CallingSpeaker]:
    """Agents that are called, each on a thread."""
    with everfold.open_sync(store) as engine:
        yield CallingSpeaker(engine, url)


OPENERS: list[OpenAgent] = [open_here, open_called]


@pytest.mark.parametrize("open_agent", OPENERS)
async def test_passes_the_conformance_run(tmp_path: Path, open_agent: OpenAgent) -> None:
    """An agent passes the run that every door passes, awaited and called."""
    await run_conformance(open_agent, everfold.open, tmp_path)


async def test_an_agent_keeps_one_turn(tmp_path: Path) -> None:
    """`agent.messages` holds the newest turn, however many there were; the log holds all of them."""
    with ScriptedProvider() as provider:
        async with everfold.open(f"sqlite:///{tmp_path / 'doors.db'}") as engine:
            speaker = AsyncSpeaker(engine, provider.url)
            for number in range(1, 6):
                await speaker.say(f"MARK-{number} [tools 2] Say it.", thread="long", is_streamed=False)
                assert len((await speaker.find("long")).messages) == 4
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            assert len(await session.messages()) == 20


async def test_a_reply_that_a_hook_has_made_anew_is_stored_once() -> None:
    """A reply that is thrown away for another one is not in the log."""
    retries = [True]

    def retry(event: AfterModelCallEvent) -> None:
        event.retry = bool(retries and retries.pop())

    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = AsyncSpeaker(engine, provider.url)
            (await speaker.find("long")).hooks.add_callback(AfterModelCallEvent, retry)
            await speaker.say("MARK-1 Say it.", thread="long", is_streamed=False)
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            texts = [message.view.text for message in await session.messages()]
    assert len(provider.asked) == 2
    assert texts == ["MARK-1 Say it.", write_answer("MARK-1")]


async def test_a_call_needs_an_engine_on_a_thread_of_its_own() -> None:
    """An agent that is called runs on another event loop than the engine's, and is told what to open."""
    async with everfold.open("memory://") as engine:
        agent = make_agent(await engine.session(), "http://127.0.0.1:9")
        with pytest.raises(InvalidInputError, match="open_sync"):
            await asyncio.to_thread(agent, "Hello.")


BLOCKS: list[Any] = [
    {"text": "Look."},
    {"image": {"format": "png", "source": {"bytes": b"picture."}}},
    {"document": {"format": "pdf", "name": "paper", "source": {"bytes": b"%PDF-1.7"}}},
    {"document": {"format": "txt", "name": "note", "source": {"bytes": b"Read me."}}},
]
REPLY: list[Any] = [
    {"reasoningContent": {"reasoningText": {"text": "I think.", "signature": "c2lnbmVk"}}},
    {"reasoningContent": {"redactedContent": b"hidden"}},
    {"text": "I look."},
    {"toolUse": {"toolUseId": "call_1", "name": "look_up", "input": {"key": "a"}, "reasoningSignature": "c2ln"}},
]
RESULT: list[Any] = [{"toolResult": {"toolUseId": "call_1", "status": "error", "content": [{"text": "It broke."}]}}]


async def test_content_blocks_come_back_as_they_went() -> None:
    """What is shown whole is shown with its pictures, its documents, its signed reasoning and its errors."""
    messages = [
        {"role": role, "content": content}
        for role, content in (("user", BLOCKS), ("assistant", REPLY), ("user", RESULT))
    ]
    async with everfold.open("memory://") as engine:
        door = Door(await engine.session(), convert=read_messages)
        await door.take([give(dict(message)) for message in messages])
        shown = (await door.ask(form="anthropic")).messages
    assert [message["content"] for message in shown[:3]] == [BLOCKS, REPLY, [*RESULT, *shown[2]["content"][1:]]]
