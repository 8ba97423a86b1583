"""The OpenAI Agents SDK: `Runner.run(agent, text, **connect(session))`, and `Runner.run_streamed` likewise.

Before each call of the model the SDK gives its input to a filter. There the new items are stored, also the user's words of
a streamed run, which a session of the SDK would get only after the call, and there the session's window takes their
place, so that a long loop of tools folds inside its run. A hook stores the reply, another one each result. Items have no
usable ids, but their order in a run stays: it names them.

What a model had said when its stream was stopped is told by nothing but the stream itself. So models that are named (`model="gpt-5"`)
are listened to; a model that is given as an object is not, and what it had said is lost.

Source: the Agents SDK 0.24: `call_model_input_filter`, `RunHooks`, `ModelProvider`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, Final, TypeAlias
from uuid import uuid4

from everfold.core.log.responses import group_items
from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Door, Given
from everfold.session import Session
from everfold.sync_classes import SyncSession

if find_spec("agents") is None:
    raise InvalidInputError(
        "the integration with the Agents SDK needs the extra `openai-agents`: pip install 'everfold[openai-agents]'"
    )

from agents.run import CallModelData, ModelInputData
from openai.types.responses import ResponseTextDeltaEvent

from agents import FunctionTool, Model, ModelProvider, RunConfig, RunHooks

Item: TypeAlias = Mapping[str, Any]
Named: TypeAlias = tuple[str, Item]
"""A message, and before it the id that stays."""

_STOPPED: Final = "the run was stopped"


def connect(session: Session | SyncSession, *, run_config: RunConfig | None = None) -> dict[str, Any]:
    """What a run of the SDK needs so that its model is asked with a session's window and what is said is stored.

    Give the runner only the new words of the user, and no session of the SDK beside it.

    Args:
        session: Of `everfold.open`, on the event loop of the runs, or of `everfold.open_sync` for any.
        run_config: What else the run is to be; its `call_model_input_filter` is replaced.
    """
    return Connection(Door(session)).connect(run_config or RunConfig())


class Connection:
    """A door for run after run of the SDK, one at a time."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self._run_id = ""
        self._usage: object = None
        self._replies_count = 0
        self._asked: Asked | None = None

    def connect(self, config: RunConfig) -> dict[str, Any]:
        """The arguments of a run, for as many runs as are wanted."""
        provider = ListeningProvider(config.model_provider, self.door)
        config = replace(config, call_model_input_filter=self.filter, model_provider=provider)
        return {"run_config": config, "hooks": Hooks(self)}

    def begin(self, usage: object) -> None:
        """Note that a run goes on, or that another one begins: each counts its usage in an object of its own."""
        if usage is not self._usage:
            self._usage, self._run_id, self._replies_count = usage, str(uuid4()), 0

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """What the model is asked instead of the run's items."""
        items: Sequence[Any] = data.model_data.input
        prompt, tools = data.model_data.instructions or "", _read_tools(data.agent)
        named = self._name_each(items)
        self._asked = asked = await self.door.call(lambda: self._ask(named, prompt, tools))
        return ModelInputData(input=asked.messages, instructions=prompt or None)

    async def _ask(self, named: Sequence[Named], prompt: str, tools: Sequence[JsonValue]) -> Asked:
        await self.door.take_each(named, name=itemgetter(0), write=lambda pair: [pair[1]])
        return await self.door.ask(form="responses", system=prompt, tools=tools)

    def _name_each(self, items: Sequence[Item]) -> list[Named]:
        """The messages of a run's items, under ids that stay."""
        named: list[Named] = []
        replies_count = 0
        for number, wire in enumerate(group_items(items)):
            if "output" in wire and "call_id" not in wire:
                replies_count += 1
                named.append((self._name_reply(replies_count), wire))
            elif "call_id" in wire:
                named.append((self._name_result(wire), wire))
            else:
                named.append((f"{self._run_id}/{number}", wire))
        self._replies_count = replies_count
        return named

    def _name_reply(self, number: int) -> str:
        return f"{self._run_id}/reply/{number}"

    def _name_result(self, item: Item) -> str:
        return f"{self._run_id}/result/{item['call_id']}"

    async def add_result(self, call_id: str, output: str) -> None:
        """Store what a tool gave, which no call of the model may follow."""
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        given = Given(self._name_result(item), partial(list, [item]))
        await self.door.call(lambda: self.door.add(given))

    async def reply(self, output: Sequence[Any], *, counted_tokens: int) -> None:
        """Store what the model said."""
        items = [item.model_dump(mode="json", exclude_none=True) for item in output]
        asked = self._asked
        self._replies_count += 1
        if asked and items:
            given = Given(
                self._name_reply(self._replies_count), partial(list, [{"object": "response", "output": items}])
            )
            await self.door.call(lambda: self.door.reply(asked, given, counted_tokens=counted_tokens))


class Hooks(RunHooks[Any]):
    """Tells a connection where its runs are."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """A run begins, or goes on with another agent."""
        del agent
        self._connection.begin(context.usage)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The model has replied."""
        del context, agent
        await self._connection.reply(response.output, counted_tokens=response.usage.input_tokens)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """A tool has given its result."""
        del agent, tool
        if isinstance(result, str) and (call_id := getattr(context, "tool_call_id", None)):
            await self._connection.add_result(call_id, result)


class ListeningProvider(ModelProvider):
    """A provider whose models are listened to while they are streamed."""

    def __init__(self, provider: ModelProvider, door: Door) -> None:
        self._provider = provider
        self._door = door

    def get_model(self, model_name: str | None) -> Model:
        """The model of this name."""
        return ListeningModel(self._provider.get_model(model_name), self._door)

    async def aclose(self) -> None:
        """Let go of what the provider holds."""
        await self._provider.aclose()


class ListeningModel(Model):
    """A model of which is kept what it had said when its stream is stopped."""

    def __init__(self, model: Model, door: Door) -> None:
        self._model = model
        self._door = door

    async def close(self) -> None:
        """Let go of what the model holds."""
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """What the model says of another try."""
        return self._model.get_retry_advice(request)

    async def get_response(self, *given: Any, **options: Any) -> Any:
        """The model's reply."""
        return await self._model.get_response(*given, **options)

    async def stream_response(self, *given: Any, **options: Any) -> AsyncIterator[Any]:
        """The model's reply in pieces."""
        said: list[str] = []
        try:
            async for event in self._model.stream_response(*given, **options):
                if isinstance(event, ResponseTextDeltaEvent):
                    said.append(event.delta)
                yield event
        except BaseException:
            text = "".join(said)
            await self._door.call(lambda: self._door.break_off(text, reason=_STOPPED))
            raise


def _read_tools(agent: Any) -> list[JsonValue]:
    """The schemas of an agent's own tools."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema},
        }
        for tool in agent.tools
        if isinstance(tool, FunctionTool)
    ]
