"""Clients that know nothing of Everfold pass the conformance run through the gateway, in all three forms."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# The SDKs of the providers are loaded by the clients: that takes a quarter of what it takes to load every test.
if find_spec("anthropic") is None or find_spec("openai") is None:
    pytest.skip("needs the SDKs of the providers; `make doors` installs them", allow_module_level=True)
pytest.importorskip("uvicorn", reason="needs the extra `server`; `make doors` installs it")

import uvicorn

import everfold
from everfold.server.gateway.app import open_gateway
from everfold.server.opening import open_runtime
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, ToolBrokeError, explode, look_up, run_conformance
from everfold.testing.kit.scripted_provider import ScriptedProvider, write_answer

RETRIES = 4
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
TOOLS = [{"name": name, "description": f"{name}.", "parameters": SCHEMA} for name in ("look_up", "explode")]
Lists = dict[str, list[Any]]


def run_tool(name: str, arguments: dict[str, str]) -> str:
    """What a tool gives, or how it failed, as a client tells its model."""
    try:
        return {"look_up": look_up, "explode": explode}[name](**arguments)
    except ToolBrokeError as error:
        return f"Error: {error}"


async def answer_nothing(*_: object) -> None:
    """What is behind the gateway's routes."""


@asynccontextmanager
async def run_gateway(store: str, upstream: str, **more: object) -> AsyncIterator[str]:
    """The address of a gateway over a store."""
    settings: dict[str, dict[str, object]] = {
        "gateway": {
            "enabled": True,
            "upstream": upstream,
            "user": USER,
            "agent": AGENT,
            "context_limit": LIMIT,
            **more,
        },
        "compaction": {"synchronous": True},
    }
    async with (
        open_runtime(store, settings=settings) as runtime,
        open_gateway(answer_nothing, runtime, hosts=None) as app,
    ):
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none"))
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        await serving


class Speaker(ABC):
    """A client that keeps its lists itself, as long as it likes: also while the gateway is started anew."""

    client: Any

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn, with all its steps."""
        messages = self._lists.setdefault(thread, [])
        messages.append({"role": "user", "content": text})
        while True:
            said, calls, answer = await self.ask(messages, thread, is_streamed=is_streamed)
            messages += said
            if not calls:
                return answer
            messages += self.write_results({id_: run_tool(name, given) for id_, name, given in calls})

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, left at its first piece; the client drops what came of the answer."""
        messages = self._lists.setdefault(thread, [])
        messages.append({"role": "user", "content": text})
        await self.leave(messages, thread)

    @abstractmethod
    async def ask(
        self, messages: list[Any], thread: str, *, is_streamed: bool
    ) -> tuple[list[Any], list[tuple[str, str, dict[str, str]]], str]:
        """What the model says: what is appended of it, its calls, and its text."""

    @abstractmethod
    def write_results(self, results: dict[str, str]) -> list[Any]:
        """Results of calls as messages."""

    @abstractmethod
    async def leave(self, messages: list[Any], thread: str) -> None:
        """Ask with a stream, and leave it at its first piece."""


class ChatSpeaker(Speaker):
    """The SDK of OpenAI with chat completions."""

    def __init__(self, url: str, lists: Lists) -> None:
        import openai

        super().__init__(lists)
        self.client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=RETRIES)

    def _arguments(self, messages: list[Any], thread: str) -> dict[str, Any]:
        tools = [{"type": "function", "function": tool} for tool in TOOLS]
        headers = {"x-everfold-session": thread}
        return {"model": "scripted", "messages": messages, "tools": tools, "extra_headers": headers}

    async def ask(
        self, messages: list[Any], thread: str, *, is_streamed: bool
    ) -> tuple[list[Any], list[tuple[str, str, dict[str, str]]], str]:
        """See `Speaker`."""
        arguments = self._arguments(messages, thread)
        if is_streamed:
            async with self.client.chat.completions.stream(**arguments) as stream:
                completion: Any = await stream.get_final_completion()
        else:
            completion = await self.client.chat.completions.create(**arguments)
        message = completion.choices[0].message
        calls = [(one.id, one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or ()]
        made = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for id_, name, given in calls
        ]
        said = {"role": "assistant", "content": message.content, **({"tool_calls": made} if made else {})}
        return [said], calls, message.content or ""

    def write_results(self, results: dict[str, str]) -> list[Any]:
        """See `Speaker`."""
        return [{"role": "tool", "tool_call_id": id_, "content": text} for id_, text in results.items()]

    async def leave(self, messages: list[Any], thread: str) -> None:
        """See `Speaker`."""
        stream: Any = await self.client.chat.completions.create(**self._arguments(messages, thread), stream=True)
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        await stream.close()


class ResponsesSpeaker(Speaker):
    """The SDK of OpenAI with Responses; nothing is stored at the provider."""

    def __init__(self, url: str, lists: Lists) -> None:
        import openai

        super().__init__(lists)
        self.client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=RETRIES)

    def _arguments(self, messages: list[Any], thread: str) -> dict[str, Any]:
        tools = [{"type": "function", **tool, "strict": False} for tool in TOOLS]
        headers = {"x-everfold-session": thread}
        return {"model": "scripted", "input": messages, "tools": tools, "store": False, "extra_headers": headers}

    async def ask(
        self, messages: list[Any], thread: str, *, is_streamed: bool
    ) -> tuple[list[Any], list[tuple[str, str, dict[str, str]]], str]:
        """See `Speaker`."""
        arguments = self._arguments(messages, thread)
        if is_streamed:
            async with self.client.responses.stream(**arguments) as stream:
                response: Any = await stream.get_final_response()
        else:
            response = await self.client.responses.create(**arguments)
        output = [
            item.model_dump(mode="json", exclude_none=True, exclude={"parsed_arguments"}) for item in response.output
        ]
        for item in output:
            for part in item.get("content", ()):
                part.pop("parsed", None)
        calls = [
            (item["call_id"], item["name"], json.loads(item["arguments"]))
            for item in output
            if item["type"] == "function_call"
        ]
        return output, calls, response.output_text

    def write_results(self, results: dict[str, str]) -> list[Any]:
        """See `Speaker`."""
        return [{"type": "function_call_output", "call_id": id_, "output": text} for id_, text in results.items()]

    async def leave(self, messages: list[Any], thread: str) -> None:
        """See `Speaker`."""
        stream: Any = await self.client.responses.create(**self._arguments(messages, thread), stream=True)
        async for event in stream:
            if event.type == "response.output_text.delta":
                break
        await stream.close()


class MessagesSpeaker(Speaker):
    """The SDK of Anthropic."""

    def __init__(self, url: str, lists: Lists) -> None:
        import anthropic

        super().__init__(lists)
        self.client = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=RETRIES)

    def _arguments(self, messages: list[Any], thread: str) -> dict[str, Any]:
        tools = [{"name": tool["name"], "description": "A tool.", "input_schema": SCHEMA} for tool in TOOLS]
        headers = {"x-everfold-session": thread}
        return {
            "model": "scripted",
            "max_tokens": 500,
            "messages": messages,
            "tools": tools,
            "extra_headers": headers,
        }

    async def ask(
        self, messages: list[Any], thread: str, *, is_streamed: bool
    ) -> tuple[list[Any], list[tuple[str, str, dict[str, str]]], str]:
        """See `Speaker`."""
        arguments = self._arguments(messages, thread)
        if is_streamed:
            async with self.client.messages.stream(**arguments) as stream:
                message: Any = await stream.get_final_message()
        else:
            message = await self.client.messages.create(**arguments)
        content = [block.model_dump(mode="json", exclude_none=True) for block in message.content]
        for block in content:
            block.pop("parsed_output", None)
        calls = [(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
        texts = [block["text"] for block in content if block["type"] == "text"]
        return [{"role": "assistant", "content": content}], calls, "".join(texts)

    def write_results(self, results: dict[str, str]) -> list[Any]:
        """See `Speaker`."""
        blocks = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results.items()]
        return [{"role": "user", "content": blocks}]

    async def leave(self, messages: list[Any], thread: str) -> None:
        """See `Speaker`."""
        stream: Any = await self.client.messages.create(**self._arguments(messages, thread), stream=True)
        async for event in stream:
            if event.type == "content_block_delta":
                break
        await stream.close()


@asynccontextmanager
async def open_agent(
    store: str, url: str, *, speaker: Callable[[str, Lists], Speaker], lists: Lists
) -> AsyncIterator[Speaker]:
    """A client of a gateway over the store, with its provider."""
    async with run_gateway(store, url) as address:
        opened = speaker(address, lists)
        yield opened
        await opened.client.close()


@pytest.mark.slow
@pytest.mark.parametrize("speaker", [ChatSpeaker, ResponsesSpeaker, MessagesSpeaker])
async def test_passes_the_conformance_run(tmp_path: Path, speaker: Callable[[str, Lists], Speaker]) -> None:
    """A provider's own SDK passes the run that every door passes, with nothing but another base URL."""
    await run_conformance(partial(open_agent, speaker=speaker, lists={}), everfold.open, tmp_path)


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("speaker", [ChatSpeaker, ResponsesSpeaker, MessagesSpeaker])
async def test_the_history_tools_are_not_seen(
    tmp_path: Path, speaker: Callable[[str, Lists], Speaker], *, is_streamed: bool
) -> None:
    """A provider's own SDK reads the joined reply, runs its own tools only, and its next turn goes on in the same session."""
    store = f"sqlite:///{tmp_path}/g.db"
    with ScriptedProvider() as provider:
        async with run_gateway(store, provider.url, history_tools=True) as address:
            one = speaker(address, {})
            say = partial(one.say, thread="t", is_streamed=is_streamed)
            assert write_answer("MARK-1") in await say("MARK-1 begins.")
            assert write_answer("MARK-2") in await say("MARK-2 reads. [history 2] [tools 2]")
            assert write_answer("MARK-3") in await say("MARK-3 reads. [history 1]")
            await one.client.close()
        counts = Counter(asked.mark for asked in provider.asked)
        assert counts == {"MARK-1": 1, "MARK-2": 4, "MARK-3": 2}
    async with everfold.open(store) as engine:
        [record] = await engine.list_sessions()
        log = await (await engine.session(id=record.id)).messages()
        assert {call.name for message in log for call in message.view.calls} == {"look_up"}
