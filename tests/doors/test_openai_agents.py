"""The door of the OpenAI Agents SDK passes the conformance run with both APIs of OpenAI."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.run", reason="needs the OpenAI Agents SDK; `make doors` installs it")

from openai import AsyncOpenAI

import everfold
from agents import Agent, MultiProvider, RunConfig, Runner, function_tool
from everfold.integrations.openai_agents import connect
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer


class Speaker:
    """Runs turns with the SDK, each thread in its session."""

    def __init__(self, engine: Any, url: str, *, has_responses: bool) -> None:
        self._engine = engine
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=4)
        provider = MultiProvider(openai_client=client, openai_use_responses=has_responses)
        self._config = RunConfig(model_provider=provider, tracing_disabled=True)
        tools = [function_tool(look_up), function_tool(explode, failure_error_function=None)]
        self.agent = Agent("helper", model="scripted", instructions="Say what you know.", tools=tools)
        self._connected: dict[str, Any] = {}

    async def _connect(self, thread: str) -> dict[str, Any]:
        if thread not in self._connected:
            session = await self._engine.session(user=USER, agent=AGENT, session_key=thread, limit=LIMIT)
            self._connected[thread] = connect(session, run_config=self._config)
        return {**self._connected[thread], "max_turns": 60}

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        connected = await self._connect(thread)
        if not is_streamed:
            return str((await Runner.run(self.agent, text, **connected)).final_output)
        result = Runner.run_streamed(self.agent, text, **connected)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        result = Runner.run_streamed(self.agent, text, **await self._connect(thread))
        async for event in result.stream_events():
            if getattr(event.data if event.type == "raw_response_event" else None, "delta", ""):
                result.cancel()
                break
        await asyncio.gather(result.run_loop_task, return_exceptions=True)


@asynccontextmanager
async def open_agent(store: str, url: str, *, has_responses: bool) -> AsyncIterator[Speaker]:
    """The agent over a store, with its provider."""
    async with everfold.open(store) as engine:
        yield Speaker(engine, url, has_responses=has_responses)


@pytest.mark.parametrize("has_responses", [True, False])
async def test_passes_the_conformance_run(tmp_path: Path, *, has_responses: bool) -> None:
    """An agent passes the run that every door passes, over Responses and over chat completions."""
    await run_conformance(partial(open_agent, has_responses=has_responses), everfold.open, tmp_path)


async def test_each_run_has_its_own_messages() -> None:
    """The same words in another run are said again, whether it is connected anew or not."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True)
            for _ in range(2):
                await speaker.say("MARK-1 Say it.", thread="long", is_streamed=False)
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            texts = [message.view.text for message in await session.messages()]
    assert texts == ["MARK-1 Say it.", write_answer("MARK-1")] * 2


async def test_the_result_of_a_tool_that_ends_a_run_is_stored() -> None:
    """A tool whose result is the run's output leaves no step open, though no call of the model brings its result."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True)
            speaker.agent.tool_use_behavior = "stop_on_first_tool"
            given = await speaker.say("MARK-1 [tools 1] Say it.", thread="long", is_streamed=False)
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            results = [result.text for message in await session.messages() for result in message.view.results]
    assert results == [given]
