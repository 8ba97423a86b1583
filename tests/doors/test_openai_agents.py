"""The door of the OpenAI Agents SDK passes the conformance run with both APIs of OpenAI."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.run", reason="needs the OpenAI Agents SDK; `make doors` installs it")

from agents.extensions.handoff_filters import remove_all_tools
from agents.run import CallModelData, ModelInputData
from openai import AsyncOpenAI
from openai.types.responses import (
    ResponseFunctionShellToolCall,
    ResponseFunctionShellToolCallOutput,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_output_item import McpApprovalRequest

import everfold
from agents import Agent, MultiProvider, RunConfig, Runner, RunState, function_tool, handoff
from everfold.integrations.door import Door
from everfold.integrations.openai_agents import Connection, connect
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer

TOOLS = (function_tool(look_up), function_tool(explode, failure_error_function=None))

STREAMED = 3
"""The number of the turn that is streamed."""


class Speaker:
    """Runs turns with the SDK, each thread in its session."""

    def __init__(self, engine: Any, url: str, *, has_responses: bool, tools: Sequence[Any] = TOOLS) -> None:
        self._engine = engine
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=4)
        provider = MultiProvider(openai_client=client, openai_use_responses=has_responses)
        self._config = RunConfig(model_provider=provider, tracing_disabled=True)
        self.agent = Agent("helper", model="scripted", instructions="Say what you know.", tools=[*tools])
        self._connected: dict[str, Any] = {}

    async def connect(self, thread: str) -> dict[str, Any]:
        """The arguments of a run of a thread."""
        if thread not in self._connected:
            session = await self._engine.session(user=USER, agent=AGENT, session_key=thread, limit=LIMIT)
            self._connected[thread] = connect(session, run_config=self._config)
        return self._connected[thread]

    async def run(self, given: Any, *, thread: str, is_streamed: bool = False) -> Any:
        """The result of a run, of the user's words or of a state."""
        connected = await self.connect(thread)
        if not is_streamed:
            return await Runner.run(self.agent, given, max_turns=60, **connected)
        result = Runner.run_streamed(self.agent, given, max_turns=60, **connected)
        async for _ in result.stream_events():
            pass
        return result

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        return str((await self.run(text, thread=thread, is_streamed=is_streamed)).final_output)

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        result = Runner.run_streamed(self.agent, text, **await self.connect(thread))
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


async def list_log(engine: Any, thread: str) -> list[tuple[str, list[str]]]:
    """The kinds of a log's messages, with the calls that they make or answer."""
    session = await engine.session(user=USER, agent=AGENT, session_key=thread)
    return [
        (message.kind, [call.id for call in message.view.calls] + [result.call_id for result in message.view.results])
        for message in await session.messages()
    ]


@pytest.mark.parametrize("has_responses", [True, False])
@pytest.mark.parametrize("goes_on_elsewhere", [True, False])
async def test_a_run_that_is_resumed_after_an_approval_is_stored_once(
    *, has_responses: bool, goes_on_elsewhere: bool
) -> None:
    """A call that waits for an approval interrupts a run; resumed, in this process or from its JSON, it is one run."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=has_responses)
            await speaker.say("MARK-1 [tools 2] Say it.", thread="long", is_streamed=False)
            before = await list_log(engine, "long")
            speaker.agent.tools = [function_tool(look_up, needs_approval=True)]
            for number in (2, STREAMED):
                is_streamed = number == STREAMED
                given = f"MARK-{number} [tools 2] Say it."
                result = await speaker.run(given, thread="long", is_streamed=is_streamed)
                state = result.to_state()
                if goes_on_elsewhere:
                    speaker = Speaker(engine, provider.url, has_responses=has_responses, tools=speaker.agent.tools)
                    state = await RunState.from_json(speaker.agent, state.to_json())
                approved, rejected = state.get_interruptions()
                state.approve(approved)
                state.reject(rejected)
                answered = await speaker.run(state, thread="long", is_streamed=is_streamed)
                assert answered.final_output == write_answer(f"MARK-{number}")
            log = await list_log(engine, "long")
    calls = [[f"call_MARK-{number}_1", f"call_MARK-{number}_2"] for number in (2, STREAMED)]
    assert log == [
        *before,
        *(
            one
            for first, second in calls
            for one in [
                ("user", []),
                ("assistant", [first, second]),
                ("result", [first]),
                ("result", [second]),
                ("assistant", []),
            ]
        ),
    ]


@dataclass
class Key:
    """What the tools are called with."""

    key: str


def make_tool(inner: Agent[Any], text: str, **options: Any) -> Any:
    """An agent as a tool, which is asked with this text."""
    return inner.as_tool("look_up", "Look it up.", parameters=Key, input_builder=lambda _: text, **options)


@pytest.mark.parametrize("has_responses", [True, False])
async def test_an_agent_that_is_a_tool_answers_and_is_not_stored(*, has_responses: bool) -> None:
    """The outer session has its call and its result; its own words, calls and results are in no session."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=has_responses)
            inner = Agent("inner", model="scripted", tools=[function_tool(look_up)])
            speaker.agent.tools = [make_tool(inner, "MARK-2 [tools 1] Look.")]
            assert await speaker.say("MARK-1 [tools 2] Say it.", thread="long", is_streamed=False) == write_answer(
                "MARK-1"
            )
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            results = [result.text for message in await session.messages() for result in message.view.results]
            log = await list_log(engine, "long")
    assert results == [write_answer("MARK-2")] * 2
    assert [kind for kind, _ in log] == ["user", "assistant", "result", "result", "assistant"]


@pytest.mark.parametrize("goes_on_elsewhere", [True, False])
async def test_an_approval_inside_an_agent_that_is_a_tool_leaves_the_log_whole(*, goes_on_elsewhere: bool) -> None:
    """The outer run is interrupted and resumed with the inner one, and the log has the outer one alone."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            inner = Agent("inner", model="scripted", tools=[function_tool(look_up, needs_approval=True)])
            tools = [make_tool(inner, "MARK-2 [tools 1] Look.")]
            speaker = Speaker(engine, provider.url, has_responses=True, tools=tools)
            state = (await speaker.run("MARK-1 [tools 1] Say it.", thread="long")).to_state()
            if goes_on_elsewhere:
                speaker = Speaker(engine, provider.url, has_responses=True, tools=tools)
                state = await RunState.from_json(speaker.agent, state.to_json())
            for waiting in state.get_interruptions():
                state.approve(waiting)
            assert (await speaker.run(state, thread="long")).final_output == write_answer("MARK-1")
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            texts = [message.view.text for message in await session.messages()]
    assert texts[2:] == [write_answer("MARK-2"), write_answer("MARK-1")]
    assert len(texts) == 4


async def test_an_agent_that_is_a_tool_may_have_a_session_of_its_own() -> None:
    """Connected with another session, its words are stored there, and there alone, at each call."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True)
            inner = Agent("inner", model="scripted", tools=[function_tool(look_up)])
            connected = await speaker.connect("inner")
            speaker.agent.tools = [make_tool(inner, "MARK-2 [tools 1] Look.", **connected)]
            await speaker.say("MARK-1 [steps 2] Say it.", thread="long", is_streamed=False)
            outer, inner_log = [await list_log(engine, thread) for thread in ("long", "inner")]
    assert [kind for kind, _ in outer] == ["user", "assistant", "result", "assistant", "result", "assistant"]
    assert [kind for kind, _ in inner_log] == ["user", "assistant", "result", "assistant", "user", "assistant"]
    assert inner_log[1] == ("assistant", ["call_MARK-2_1"])


async def test_a_run_after_one_that_failed_is_another_one() -> None:
    """An agent that is a tool and fails is called again with its words, though both runs share their usage."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True)
            inner = Agent("inner", model="scripted", tools=[function_tool(look_up)])
            connected = await speaker.connect("inner")
            speaker.agent.tools = [make_tool(inner, "MARK-2 [tools 1] Look.", max_turns=1, **connected)]
            await speaker.say("MARK-1 [steps 2] Say it.", thread="long", is_streamed=False)
            log = await list_log(engine, "inner")
    assert [kind for kind, _ in log] == ["user", "assistant", "result", "user", "assistant"]


async def test_a_handoff_that_leaves_out_items_loses_no_reply() -> None:
    """The next agent is given fewer items than the run has; what it says is stored after them."""
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True)
            other = Agent("other", model="scripted")
            to_other = handoff(other, tool_name_override="look_up", input_filter=remove_all_tools)
            speaker.agent.tools, speaker.agent.handoffs = [], [to_other]
            answer = await speaker.say("MARK-1 [tools 1] Say it.", thread="long", is_streamed=False)
            session = await engine.session(user=USER, agent=AGENT, session_key="long")
            texts = [message.view.text for message in await session.messages()]
    assert answer == write_answer("MARK-1")
    assert texts[-1] == answer


@pytest.mark.parametrize("goes_on_elsewhere", [True, False])
async def test_a_run_that_is_resumed_after_a_handoff_that_leaves_out_items_loses_no_reply(
    *, goes_on_elsewhere: bool
) -> None:
    """The next agent waits for an approval, and its replies are counted on from those that it was not given."""
    other = Agent("other", model="scripted", tools=[function_tool(look_up, needs_approval=True)])
    to_other = handoff(other, tool_name_override="look_up", input_filter=remove_all_tools)
    with ScriptedProvider() as provider:
        async with everfold.open("memory://") as engine:
            speaker = Speaker(engine, provider.url, has_responses=True, tools=[])
            speaker.agent.handoffs = [to_other]
            state = (await speaker.run("MARK-1 [steps 2] Say it.", thread="long")).to_state()
            if goes_on_elsewhere:
                speaker = Speaker(engine, provider.url, has_responses=True, tools=[])
                speaker.agent.handoffs = [to_other]
                state = await RunState.from_json(speaker.agent, state.to_json())
            (waiting,) = state.get_interruptions()
            state.approve(waiting)
            answered = await speaker.run(state, thread="long")
            log = await list_log(engine, "long")
    assert answered.final_output == write_answer("MARK-1")
    assert [kind for kind, _ in log] == ["user", "assistant", "result", "assistant", "result", "assistant"]


@pytest.mark.parametrize("goes_on_elsewhere", [True, False])
async def test_a_run_that_waits_for_an_approval_of_the_providers_own_tool_is_stored_once(
    *, goes_on_elsewhere: bool
) -> None:
    """The request of a hosted MCP server has its id elsewhere than a call; resumed by its answer, it is one run."""
    asked = McpApprovalRequest(
        type="mcp_approval_request", id="mcpr_1", name="look_up", server_label="tides", arguments="{}"
    )
    text = ResponseOutputText(type="output_text", text="Low tide.", annotations=[])
    said = ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=[text])
    agent = Agent("helper", model="scripted")
    items: list[Any] = [{"role": "user", "content": "Say it."}]
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        connection = Connection(Door(session), RunConfig())
        for reply in (asked, said):
            connection.go_on_with(agent, object())
            await connection.filter(CallModelData(ModelInputData([*items], None), agent, None))
            await connection.reply([reply], counted_tokens=0)
            answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
            items += [reply.model_dump(), answer]
            connection = Connection(Door(session), RunConfig()) if goes_on_elsewhere else connection
        kinds = [message.kind for message in await session.messages()]
    assert kinds == ["user", "assistant", "result", "assistant"]


async def test_what_the_provider_ran_is_stored_once() -> None:
    """A shell of the provider has its output in the reply that calls it, and is not taken for the client's later."""
    call = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed", "action": {"commands": []}}
    output = {"type": "shell_call_output", "id": "sho_1", "call_id": "call_1", "status": "completed", "output": []}
    text = ResponseOutputText(type="output_text", text="No file.", annotations=[])
    said = ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=[text])
    ran = [
        ResponseFunctionShellToolCall.model_validate(call),
        ResponseFunctionShellToolCallOutput.model_validate(output),
    ]
    agent = Agent("helper", model="scripted")
    items: list[Any] = [{"role": "user", "content": "Look."}]
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        connection = Connection(Door(session), RunConfig())
        connection.go_on_with(agent, object())
        for _ in range(2):
            await connection.filter(CallModelData(ModelInputData([*items], None), agent, None))
            await connection.reply([*ran, said], counted_tokens=0)
            items += [item.model_dump(exclude_none=True) for item in (*ran, said)]
            items.append({"role": "user", "content": "Look again."})
        kinds = [message.kind for message in await session.messages()]
    assert kinds == ["user", "assistant", "user", "assistant"]
