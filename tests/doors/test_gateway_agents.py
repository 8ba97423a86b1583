"""Agents of two frameworks, without any door, work through the gateway with nothing but another base URL."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.run", reason="needs the OpenAI Agents SDK; `make doors` installs it")
pytest.importorskip("pydantic_ai.models.openai", reason="needs Pydantic AI; `make doors` installs it")

from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from tests.doors.test_gateway import run_gateway

import everfold
from agents import Agent, MultiProvider, RunConfig, Runner, function_tool
from everfold.session import iterate_log
from everfold.testing.doors.conformance import look_up
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer

TURNS_COUNT = 24


def write_prompt(number: int) -> str:
    """What the user says in a turn."""
    return f"MARK-{number} {'[tools 3]' if number % 5 == 0 else ''} Please say what is known of this one."


async def check(store: str) -> None:
    """Everything is in one session, once, and it folded soundly."""
    async with everfold.open(store) as engine:
        [record] = await engine.list_sessions()
        session = await engine.session(id=record.id)
        log = [message async for message in iterate_log(session)]
        said = [message.view.text for message in log if message.kind == "assistant" and not message.view.calls]
        assert said == [write_answer(f"MARK-{number}") for number in range(1, TURNS_COUNT + 1)]
        asked = [message.view.text for message in log if message.kind == "user"]
        assert asked == [write_prompt(number) for number in range(1, TURNS_COUNT + 1)]
        verification = await session.verify()
        assert verification.problems == ()
        assert verification.compactions_count > 0


@pytest.mark.parametrize("has_responses", [True, False])
async def test_the_openai_agents_sdk(tmp_path: Path, *, has_responses: bool) -> None:
    """Its runs, each with the list of the one before, are one session, over either API."""
    store = f"sqlite:///{tmp_path / 'g.db'}"
    with ScriptedProvider() as provider:
        async with (
            run_gateway(store, provider.url) as address,
            AsyncOpenAI(base_url=f"{address}/v1", api_key="none") as client,
        ):
            models = MultiProvider(openai_client=client, openai_use_responses=has_responses)
            agent = Agent("helper", model="scripted", instructions="Say it.", tools=[function_tool(look_up)])
            items: list[Any] = []
            for number in range(1, TURNS_COUNT + 1):
                items.append({"role": "user", "content": write_prompt(number)})
                config = RunConfig(model_provider=models, tracing_disabled=True)
                result = await Runner.run(agent, items, run_config=config)
                items = result.to_input_list()
    await check(store)


async def test_pydantic_ai(tmp_path: Path) -> None:
    """Its runs, each with the messages of the one before, are one session."""
    store = f"sqlite:///{tmp_path / 'g.db'}"
    with ScriptedProvider() as provider:
        async with (
            run_gateway(store, provider.url) as address,
            AsyncOpenAI(base_url=f"{address}/v1", api_key="none") as client,
        ):
            model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
            agent = PydanticAgent(model, instructions="Say it.", tools=[look_up])
            messages: list[Any] = []
            for number in range(1, TURNS_COUNT + 1):
                result = await agent.run(write_prompt(number), message_history=messages)
                messages = result.all_messages()
    await check(store)
