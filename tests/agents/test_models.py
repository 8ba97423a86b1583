"""Models of agents: whose they are, what scripts do with tools, and that providers are not asked twice."""

import time
from collections.abc import Callable

import pytest
from pydantic_ai import Agent
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)

from everfold.agents.models import FAULTS, open_agent_model
from everfold.config import load_settings
from everfold.errors import EverfoldError, InvalidInputError, ModelUnavailableError, RateLimitedError
from everfold.testing.kit.model_server import Answer, ModelServer, openai_answer, openai_error

WriteScript = Callable[..., str]


def test_no_model() -> None:
    """Who has no model is told how to set one, a script among them; an own one outranks everybody's."""
    with pytest.raises(InvalidInputError, match=r"no model is set for agent 'desk'.*`script:FILE`"):
        open_agent_model(load_settings(), None, what="agent 'desk'", purpose="chat")
    settings = load_settings(overrides={"model": {"name": "ollama:a"}})
    assert open_agent_model(settings, None, what="it", purpose="chat").name == "ollama:a"
    assert open_agent_model(settings, "ollama:b", what="it", purpose="chat").name == "ollama:b"


async def test_a_script_goes_on(script: WriteScript) -> None:
    """A script answers with calls and texts in its order, over several runs, and what they cost is summed."""
    name = script(
        {"text": "I look.", "calls": [{"tool": "a", "args": {"x": 1}}, {"tool": "b"}], "cost_usd": 0.25},
        {"text": "Done.", "cost_usd": 0.5},
        {"text": "Again."},
    )
    model = open_agent_model(load_settings(), name, what="it", purpose="chat")
    agent = Agent(model.model)

    @agent.tool_plain
    def a(x: int) -> int:
        return x

    @agent.tool_plain
    def b() -> str:
        return "b"

    run = await agent.run("Go.")
    assert run.output == "Done."
    first = next(message for message in run.all_messages() if isinstance(message, ModelResponse))
    assert first.text == "I look."
    assert [(part.tool_name, part.args) for part in first.parts if isinstance(part, ToolCallPart)] == [
        ("a", {"x": 1}),
        ("b", {}),
    ]
    assert model.sum_cost_usd(run.all_messages()) == 0.75
    run = await agent.run("Go on.")
    assert run.output == "Again."
    assert model.sum_cost_usd(run.all_messages()) is None


async def test_a_script_streams(script: WriteScript) -> None:
    """A script's text comes word by word, each after its wait, and its call after the text."""
    name = script({"text": "One two three.", "calls": [{"tool": "a", "args": {"x": 1}}], "word_secs": 0.02})
    model = open_agent_model(load_settings(), name, what="it", purpose="chat").model
    pieces: list[str] = []
    began = time.monotonic()
    async with model_request_stream(model, [ModelRequest.user_text_prompt("Go.")]) as stream:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                pieces.append(event.part.content)
            if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                pieces.append(event.delta.content_delta)
    assert pieces == ["One ", "two ", "three."]
    assert time.monotonic() - began >= 0.06
    *_, call = stream.get().parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args_as_dict()) == ("a", {"x": 1})


@pytest.mark.parametrize(
    ("status", "error"), [(429, RateLimitedError), (503, ModelUnavailableError)], ids=["rate limit", "unavailable"]
)
async def test_a_provider_is_asked_once(status: int, error: type[EverfoldError]) -> None:
    """A provider's error is one of ours, and the client library does not try again by itself."""
    with ModelServer(openai_error(status, "busy"), Answer(body=openai_answer("Fine."))) as server:
        settings = load_settings(overrides={"model": {"name": "openai:m", "base_url": f"{server.url}/v1"}})
        model = open_agent_model(settings, None, what="it", purpose="chat")
        with pytest.raises(FAULTS) as caught:
            async with model.model:
                await Agent(model.model, model_settings=model.settings(50)).run("Go.")
        assert isinstance(model.translate(caught.value), error)
        assert [asked.body["max_tokens"] for asked in server.asked] == [50]
