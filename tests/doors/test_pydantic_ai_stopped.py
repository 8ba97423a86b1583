"""A run of Pydantic AI that is stopped leaves in the log what it had come to, once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs Pydantic AI; `make doors` installs it")

from pydantic_ai import Agent, UsageLimitExceeded, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

import everfold
from everfold.core.log.interruption import INTERRUPTED_KEY, INTERRUPTED_MARK
from everfold.integrations.pydantic_ai import EverfoldCapability, _write

LIMIT = 6000


async def read_log(session: Any) -> list[tuple[str, str]]:
    """The roles and texts of a log."""
    return [(message.view.role, message.view.text) for message in await session.messages()]


async def test_the_result_of_a_tool_is_stored_where_no_request_follows() -> None:
    """A run that is ended after its tools has their results in the log, and a later turn reads them."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        is_paid = "Paid." in str(messages)
        return ModelResponse(parts=[TextPart("Done.") if is_paid else ToolCallPart("pay", tool_call_id="c1")])

    def pay() -> str:
        """Pay."""
        return "Paid."

    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=LIMIT)
        agent = Agent(FunctionModel(answer), tools=[pay], capabilities=[EverfoldCapability(session)])
        with pytest.raises(UsageLimitExceeded):
            await agent.run("Pay 5.", usage_limits=UsageLimits(request_limit=1))
        await agent.run("And?")
        log = await read_log(session)
    paid = [("user", "Pay 5."), ("assistant", "pay {}"), ("tool", "Paid.")]
    assert log == [*paid, ("user", "And?"), ("assistant", "Done.")]


@pytest.mark.parametrize("prompt", ["And?", None])
async def test_the_result_of_a_tool_is_stored_where_another_one_raises(prompt: str | None) -> None:
    """Of parallel tools the finished one has its result in the log, also where the run is taken up again, which stores none twice."""
    calls = [ToolCallPart("pay", tool_call_id="c1"), ToolCallPart("break_down", tool_call_id="c2")]

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Done.")] if "Paid." in str(messages) else calls)

    def pay() -> str:
        """Pay."""
        return "Paid."

    async def break_down() -> None:
        """Fail, once the other has paid."""
        await asyncio.sleep(0.05)
        raise ZeroDivisionError

    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=LIMIT)
        tools = [pay, break_down]
        agent = Agent(FunctionModel(answer), tools=tools, capabilities=[EverfoldCapability(session)])
        with capture_run_messages() as messages, pytest.raises(ZeroDivisionError):
            await agent.run("Pay 5.")
        assert ("tool", "Paid.") in await read_log(session)
        await agent.run(prompt, message_history=messages)
        log = await read_log(session)
    assert [text for _, text in log].count("Paid.") == 1
    assert [role for role, _ in log] == [
        "user",
        "assistant",
        "tool",
        "tool",
        *(["user"] if prompt else []),
        "assistant",
    ]


async def speak(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
    """A reply of many pieces."""
    for number in range(30):
        yield f"word{number} "
        await asyncio.sleep(0)


@pytest.mark.parametrize("way", ["break", "cancel", "raise", "iterate"])
async def test_a_stopped_stream_is_stored_once(way: str) -> None:
    """However a program stops a stream, the reply is stored once, up to there, with its mark; its history adds nothing."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=LIMIT)
        model = FunctionModel(lambda *_: ModelResponse(parts=[TextPart("Done.")]), stream_function=speak)
        agent = Agent(model, capabilities=[EverfoldCapability(session)])
        with capture_run_messages() as messages:
            try:
                await stop(agent, way)
            except ZeroDivisionError:
                assert way == "raise"
        stopped = (await session.messages())[1:]
        await agent.run("And?", message_history=messages)
        log = await read_log(session)
    [reply] = stopped
    assert reply.view.text.startswith("word0 ")
    assert reply.view.text.endswith(f" \n\n{INTERRUPTED_MARK}")
    assert INTERRUPTED_KEY in reply.wire
    assert [role for role, _ in log] == ["user", "assistant", "user", "assistant"]


async def stop(agent: Any, way: str) -> None:
    """Run a turn, and stop it after a few pieces."""
    if way == "iterate":
        async with agent.iter("Speak.") as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for _ in stream:
                            await stream.cancel()
        return
    async with agent.run_stream("Speak.") as result:
        async for _ in result.stream_text(delta=True, debounce_by=None):
            if way == "raise":
                raise ZeroDivisionError
            if way == "cancel":
                await result.cancel()
            break


async def test_a_stopped_stream_keeps_the_calls_that_the_run_makes() -> None:
    """Where a run goes on with the calls of a reply that was stopped, the reply is stored with them, before their results."""
    asked_count = 0

    async def call(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Any]:
        nonlocal asked_count
        asked_count += 1
        yield "I pay. " if asked_count == 1 else "Done."
        if asked_count == 1:
            for number in range(1, 30):
                await asyncio.sleep(0)
                yield {number: DeltaToolCall(name="pay", json_args="{}", tool_call_id=f"c{number}")}

    def pay() -> str:
        """Pay."""
        return "Paid."

    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=LIMIT)
        model = FunctionModel(stream_function=call)
        agent = Agent(model, tools=[pay], capabilities=[EverfoldCapability(session)])
        async with agent.iter("Pay 5.") as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        pieces_count = 0
                        async for _ in stream:
                            pieces_count += 1
                            if pieces_count == 8:
                                await stream.cancel()
                                break
        log = await session.messages()
    reply, results = log[1], [result.call_id for message in log for result in message.view.results]
    assert reply.view.text.startswith(f"I pay. \n\n{INTERRUPTED_MARK}")
    assert [call.id for call in reply.view.calls] == results == [f"c{number}" for number in range(1, len(results) + 1)]
    assert 0 < len(results) < len(range(1, 30))
    assert [message.view.role for message in log] == ["user", "assistant", *["tool"] * len(results), "assistant"]


async def test_a_whole_reply_that_ends_a_run_is_stored_once() -> None:
    """A reply that passes the run's limit of tokens is stored once, whole, though its run calls it interrupted."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=LIMIT)
        model = FunctionModel(lambda *_: ModelResponse(parts=[TextPart("Done.")]))
        agent = Agent(model, capabilities=[EverfoldCapability(session)])
        with pytest.raises(UsageLimitExceeded):
            await agent.run("Pay 5.", usage_limits=UsageLimits(total_tokens_limit=1))
        assert await read_log(session) == [("user", "Pay 5."), ("assistant", "Done.")]


def test_thinking_that_was_stopped_is_not_given_back() -> None:
    """Of a stopped reply in Anthropic's form, signed thinking stays, and what has no signature is left out."""
    signed = ThinkingPart("Hm.", signature="s", provider_name="anthropic")
    unsigned = ThinkingPart("So", provider_name="anthropic")
    [wire] = _write(ModelResponse(parts=[signed, TextPart("I "), unsigned], state="interrupted"))
    assert [block["type"] for block in wire["content"]] == ["thinking", "text", "text"]  # type: ignore[attr-defined]
    assert _write(ModelResponse(parts=[unsigned], state="interrupted")) == []
