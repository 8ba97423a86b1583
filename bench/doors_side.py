"""One door, called as its framework calls it: `python -m bench.doors_side NAME` in that door's environment.

A conversation of 1,000 messages is in the session and in the framework's own list. Then call after call of the model is made: a
user message, the hooks before the call, a reply, the hooks after it. The time of all hooks is taken, and within it the
time of the engine's own calls, which a program without a framework makes too; the adapter is the rest. The model
is a function that returns at once.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Protocol

import everfold
from everfold.core.windows.window import Window
from everfold.integration import Integration
from everfold.session import Session

MESSAGES_COUNT = 1000
CALLS_COUNT = 60
LIMIT = 200_000
"""So large that all messages are shown: the most that a door may have to convert."""
TEXT = "Row {} of the table has the key {} and a value that nothing else in it has, as far as we know."


class Clock:
    """Processor time: of what is inside `one`, and of the engine's calls within it."""

    def __init__(self) -> None:
        self.hooks: list[float] = []
        self.engine: list[float] = []
        self._engine_secs = 0.0

    @contextmanager
    def one(self) -> Iterator[None]:
        """A call of the model."""
        self._engine_secs, started = 0.0, time.process_time()
        yield
        self.hooks.append(time.process_time() - started)
        self.engine.append(self._engine_secs)

    def watch(self) -> None:
        """Time the engine's calls, also those of other tasks of the same call."""
        for name in ("append", "window", "observe_usage", "configure"):
            setattr(Session, name, self._timed(getattr(Session, name)))
        Integration.lookup = self._timed(Integration.lookup)  # type: ignore[method-assign]
        render = Window.render

        def timed_render(window: Window, *given: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return render(window, *given, **options)
            finally:
                self._engine_secs += time.process_time() - started

        Window.render = timed_render  # type: ignore[method-assign]

    def _timed(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*given: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return await method(*given, **options)
            finally:
                self._engine_secs += time.process_time() - started

        return timed


class Driver(Protocol):
    """A framework's list of messages, and its way to call the hooks."""

    def add(self, role: str, text: str) -> None:
        """Put a message into the framework's list."""

    async def call(self, reply: str) -> None:
        """Call the hooks around a call of the model, which gives this reply; the reply goes into the list too."""


class LangChain:
    """`EverfoldMiddleware`, with a run whose state holds the whole conversation."""

    def __init__(self, engine: Any, session: Session) -> None:
        from langchain.agents.middleware import ModelRequest, ModelResponse
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage, HumanMessage
        from langchain_core.runnables.config import var_child_runnable_config

        from everfold.integrations.langchain import EverfoldMiddleware

        del session
        self._kinds = {"user": HumanMessage, "assistant": AIMessage}
        self._messages: list[Any] = []
        self._answer = ModelResponse
        var_child_runnable_config.set({"configurable": {"thread_id": "bench"}})
        self._middleware = EverfoldMiddleware(engine, limit=LIMIT)
        model = GenericFakeChatModel(messages=iter(()))
        self._request = lambda: ModelRequest(
            model=model, system_prompt="Be short.", messages=self._messages, tool_choice=None, tools=[],
            response_format=None, state={"messages": self._messages}, runtime=None,
        )  # fmt: skip

    def add(self, role: str, text: str) -> None:
        """One message."""
        self._messages.append(self._kinds[role](text, id=str(len(self._messages))))

    async def call(self, reply: str) -> None:
        """One call."""

        async def handler(_request: Any) -> Any:
            self.add("assistant", reply)
            return self._answer(result=[self._messages[-1]])

        await self._middleware.awrap_model_call(self._request(), handler)


class OpenAIAgents:
    """`connect`, with a run whose items are the whole conversation."""

    def __init__(self, engine: Any, session: Session) -> None:
        from agents.run import CallModelData, ModelInputData

        from agents import Agent
        from everfold.integrations.door import Door
        from everfold.integrations.openai_agents import Connection

        del engine
        self._connection = Connection(Door(session))
        self._connection.begin(object())
        self._items: list[Any] = []
        self._data = lambda: CallModelData(
            model_data=ModelInputData(input=list(self._items), instructions="Be short."), agent=Agent("a"), context=None
        )

    def add(self, role: str, text: str) -> None:
        """One message."""
        if role == "user":
            self._items.append({"role": "user", "content": text})
        else:
            self._items.append(self._write(text))

    @staticmethod
    def _write(text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}

    async def call(self, reply: str) -> None:
        """One call."""
        await self._connection.filter(self._data())
        self._items.append(self._write(reply))
        output = SimpleNamespace(model_dump=lambda **_: self._items[-1])
        await self._connection.reply([output], counted_tokens=0)


class PydanticAI:
    """`EverfoldCapability`, with a run that holds the whole conversation."""

    def __init__(self, engine: Any, session: Session) -> None:
        from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
        from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
        from pydantic_ai.models.test import TestModel

        from everfold.integrations.pydantic_ai import EverfoldCapability

        del engine
        self._capability = EverfoldCapability(session)
        self._make = {
            "user": lambda text: ModelRequest(parts=[UserPromptPart(text)], run_id="run"),
            "assistant": lambda text: ModelResponse(parts=[TextPart(text)], run_id="run"),
        }
        self._messages: list[Any] = []
        self._request = lambda: ModelRequestContext(
            model=TestModel(),
            messages=self._messages,
            model_settings=None,
            model_request_parameters=ModelRequestParameters(),
        )

    def add(self, role: str, text: str) -> None:
        """One message."""
        self._messages.append(self._make[role](text))

    async def call(self, reply: str) -> None:
        """One call."""

        async def handler(_request: Any) -> Any:
            return self._make["assistant"](reply)

        context: Any = SimpleNamespace(messages=self._messages, run_id="run")
        answer = await self._capability.wrap_model_request(context, request_context=self._request(), handler=handler)
        self._messages.append(answer)


class GoogleADK:
    """`EverfoldPlugin`, with a session that holds all events."""

    def __init__(self, engine: Any, session: Session) -> None:
        from google.adk.events import Event
        from google.adk.models.llm_request import LlmRequest
        from google.genai import types

        from everfold.integrations.google_adk import EverfoldPlugin

        del session
        self._plugin = EverfoldPlugin(engine, agent="helper", limit=LIMIT)
        self._events: list[Any] = []
        self._request = LlmRequest
        self._event = lambda role, text: Event(
            author="user" if role == "user" else "speaker",
            content=types.Content(role=role, parts=[types.Part(text=text)]),
        )
        kept = SimpleNamespace(user_id="default", app_name="helper", id="bench", events=self._events)
        agent = SimpleNamespace(include_contents="default", static_instruction=None, canonical_model=None)
        self._context: Any = SimpleNamespace(
            session=kept, agent=agent, branch=None, isolation_scope=None, run_config=None
        )
        self._context.get_invocation_context = lambda: self._context

    def add(self, role: str, text: str) -> None:
        """One message."""
        self._events.append(self._event(role, text))

    async def call(self, reply: str) -> None:
        """One call."""
        event = self._event("model", reply)
        await self._plugin.before_model_callback(callback_context=self._context, llm_request=self._request())
        await self._plugin.after_model_callback(callback_context=self._context, llm_response=event)
        await self._plugin.on_event_callback(invocation_context=self._context, event=event)
        self._events.append(event)


class AgentFramework:
    """`EverfoldChat`, with a run that holds the whole conversation."""

    def __init__(self, engine: Any, session: Session) -> None:
        from agent_framework import ChatContext, ChatResponse, Message

        from everfold.integrations.agent_framework import EverfoldChat

        del engine
        self._chat = EverfoldChat(session)
        self._messages: list[Any] = []
        self._message, self._response = Message, ChatResponse
        client: Any = SimpleNamespace()
        self._context = lambda: ChatContext(client, list(self._messages), {"instructions": "Be short."})

    def add(self, role: str, text: str) -> None:
        """One message."""
        self._messages.append(self._message(role, [text]))

    async def call(self, reply: str) -> None:
        """One call."""
        context = self._context()

        async def call_next() -> None:
            self.add("assistant", reply)
            context.result = self._response(messages=[self._messages[-1]])

        await self._chat.process(context, call_next)


class Strands:
    """`EverfoldHooks`, with one turn that holds the whole conversation: a loop of tools in place of replies."""

    def __init__(self, engine: Any, session: Session) -> None:
        from strands.hooks import AgentInitializedEvent, HookRegistry, MessageAddedEvent
        from strands.middleware import InvokeModelContext

        from everfold.integrations.strands import EverfoldHooks

        del engine
        handlers: list[Any] = []
        self._agent: Any = SimpleNamespace(messages=[], add_middleware=lambda _stage, handler: handlers.append(handler))
        self._hooks = HookRegistry()
        EverfoldHooks(session).register_hooks(self._hooks)
        self._hooks.invoke_callbacks(AgentInitializedEvent(self._agent))
        (self._invoke,) = handlers
        self._added = lambda message: MessageAddedEvent(self._agent, message=message)
        self._context = lambda: InvokeModelContext(
            agent=self._agent,
            messages=self._agent.messages,
            system_prompt="Be short.",
            tool_specs=[],
            tool_choice=None,
            invocation_state={},
            model=None,
        )
        self._count = 0

    def add(self, role: str, text: str) -> None:
        """The first message of the user begins the turn; each later one is the result of a call, each reply a call."""
        block: dict[str, Any] = {"text": text}
        if role == "assistant":
            self._count += 1
            block = {"toolUse": {"toolUseId": f"call_{self._count}", "name": "look_up", "input": {"key": text}}}
        elif self._agent.messages:
            result = {"toolUseId": f"call_{self._count}", "status": "success", "content": [block]}
            block = {"toolResult": result}
        self._agent.messages.append({"role": role, "content": [block]})

    async def call(self, reply: str) -> None:
        """One call."""

        async def call_next(_context: Any) -> AsyncIterator[Any]:
            yield {"data": reply}

        async for _ in self._invoke(self._context(), call_next):
            pass
        self.add("assistant", reply)
        await self._hooks.invoke_callbacks_async(self._added(self._agent.messages[-1]))


class LlamaIndex:
    """`EverfoldMemory`, which is put and asked; LlamaIndex hands over nothing else."""

    def __init__(self, engine: Any, session: Session) -> None:
        from llama_index.core.llms import ChatMessage

        from everfold.integrations.llama_index import EverfoldMemory

        del engine
        self._memory = EverfoldMemory(session)
        self._put: list[Any] = []
        self._message = ChatMessage

    def add(self, role: str, text: str) -> None:
        """One message."""
        self._put.append(self._message(role=role, content=text))

    async def call(self, reply: str) -> None:
        """One call."""
        put, self._put = self._put, []
        await self._memory.aput_messages(put)
        await self._memory.aget()
        await self._memory.aput(self._message(role="assistant", content=reply))


DRIVERS: dict[str, Callable[[Any, Session], Driver]] = {
    "langchain": LangChain,
    "openai-agents": OpenAIAgents,
    "pydantic-ai": PydanticAI,
    "google-adk": GoogleADK,
    "agent-framework": AgentFramework,
    "strands": Strands,
    "llama-index": LlamaIndex,
}


async def measure(name: str, calls_count: int) -> dict[str, float]:
    """Milliseconds of a call of the model at 1,000 messages: the adapter, and the engine's calls."""
    clock = Clock()
    async with everfold.open("memory://") as engine:
        session = await engine.session(session_key="bench", limit=LIMIT)
        driver = DRIVERS[name](engine, session)
        for number in range(MESSAGES_COUNT - 2):
            driver.add("assistant" if number % 2 else "user", TEXT.format(number, number))
        driver.add("user", "The first question.")
        await driver.call("The first answer.")
        clock.watch()
        for number in range(calls_count):
            driver.add("user", TEXT.format(number, number))
            with clock.one():
                await driver.call(f"Answer {number}.")
    return _sum_up(clock.hooks, clock.engine)


def _sum_up(hooks: Sequence[float], engine: Sequence[float]) -> dict[str, float]:
    adapter = [whole - own for whole, own in zip(hooks, engine, strict=True)]
    return {
        "messages_count": MESSAGES_COUNT,
        "adapter_ms": statistics.median(adapter) * 1e3,
        "engine_ms": statistics.median(engine) * 1e3,
    }


def main() -> None:
    """Measure one door, and print the figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("door", choices=sorted(DRIVERS))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.door, CALLS_COUNT // 4 if given.quick else CALLS_COUNT))))


if __name__ == "__main__":
    main()
