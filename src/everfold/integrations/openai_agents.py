"""The OpenAI Agents SDK: `Runner.run(agent, text, **connect(session))`, and `Runner.run_streamed` likewise.

Before each call of the model the SDK gives its input to a filter. There the new items are stored, also the user's words of
a streamed run, which a session of the SDK would get only after the call, and there the session's window takes their
place, so that a long loop of tools folds inside its run. A hook stores the reply, another one each result. Items have no
usable ids, but their order in a run stays: it names them.

A run that was interrupted, for the approval of a call, say, is resumed as a run of its own, maybe in another process. Its calls
are those of the log's newest reply then, and the id of that reply names the run to go on with.

The run of an agent that is a tool of another one has the settings of the outer run. It would be stored as the user's own
conversation, so that it gets the settings without the door.

What a model had said when its stream was stopped is told by nothing but the stream itself. So models that are named (`model="gpt-5"`)
are listened to; a model that is given as an object is not, and what it had said is lost.

Source: the Agents SDK 0.24: `call_model_input_filter`, `RunHooks`, `ModelProvider`.
"""

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, Final, TypeAlias
from uuid import uuid4

from everfold.core.log.responses import find_pairing_id, group_items, list_calls
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
from agents.tool_context import ToolContext
from openai.types.responses import ResponseTextDeltaEvent

from agents import FunctionTool, Model, ModelProvider, RunConfig, RunHooks

Item: TypeAlias = Mapping[str, Any]
Named: TypeAlias = tuple[str, Item]
"""A message, and before it the id that stays."""

_STOPPED: Final = "the run was stopped"
_REPLY: Final = "/reply/"
_LOOKED_COUNT: Final = 200
"""So many messages at the end of a log are looked at for the reply with which an interrupted run ended, before its results."""


def connect(session: Session | SyncSession, *, run_config: RunConfig | None = None) -> dict[str, Any]:
    """What a run of the SDK needs so that its model is asked with a session's window and what is said is stored.

    Give the runner only the new words of the user, and no session of the SDK beside it.

    Args:
        session: Of `everfold.open`, on the event loop of the runs, or of `everfold.open_sync` for any.
        run_config: What else the run is to be; its `call_model_input_filter` is replaced.
    """
    return Connection(Door(session), run_config or RunConfig()).connect()


class Connection:
    """A door for run after run of the SDK, one at a time.

    Attributes:
        config: What the program set for its runs, without the door.
    """

    def __init__(self, door: Door, config: RunConfig) -> None:
        self.door = door
        self.config = config
        self._run_id = ""
        self._usage: object = None
        self._agent: Any = None
        self._replies_count = 0
        self._calls: list[str] = []
        self._is_handed_over = False
        self._asked: Asked | None = None

    def connect(self) -> dict[str, Any]:
        """The arguments of a run, for as many runs as are wanted."""
        provider = ListeningProvider(self.config.model_provider, self.door)
        config = replace(self.config, call_model_input_filter=self.filter, model_provider=provider)
        return {"run_config": config, "hooks": Hooks(self)}

    def begin(self, usage: object) -> None:
        """Note that a run goes on, or that another one begins: each counts its usage in an object of its own.

        The runs of an agent that is a tool share that of the outer run, so that their ends are noted too.
        """
        if usage is not self._usage:
            self._usage, self._agent, self._run_id, self._replies_count, self._calls = usage, None, "", 0, []

    def go_on_with(self, agent: object, usage: object) -> None:
        """Note which agent the run goes on with; one that starts again after itself is in another run."""
        if agent is self._agent:
            self.end()
        self.begin(usage)
        self._agent = agent

    def end(self) -> None:
        """Note that the run has ended."""
        self._usage = None

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """What the model is asked instead of the run's items; those of another agent's run inside it stay."""
        if data.agent is not self._agent:
            return data.model_data
        items: Sequence[Any] = data.model_data.input
        prompt, tools = data.model_data.instructions or "", _read_tools(data.agent)
        wires = [*group_items(items), *self._write_handoffs(items, data.agent.name)]
        self._asked = asked = await self.door.call(lambda: self._ask(wires, prompt, tools))
        return ModelInputData(input=asked.messages, instructions=prompt or None)

    async def _ask(self, wires: Sequence[Item], prompt: str, tools: Sequence[JsonValue]) -> Asked:
        await self._name_run(_list_last_calls(wires))
        named = self._name_each(wires)
        await self.door.take_each(named, name=itemgetter(0), write=lambda pair: [pair[1]])
        return await self.door.ask(form="responses", system=prompt, tools=tools)

    async def _name_run(self, call_ids: Collection[str]) -> None:
        """Give the run its id, unless it has one: that of the run which these calls of its newest reply interrupted.

        Such a run goes on counting from that reply: a handoff may have left out replies before it.
        """
        if not self._run_id:
            found, count = await self._find_run(call_ids) if call_ids else ("", 0)
            self._run_id = found or str(uuid4())
            self._replies_count = max(self._replies_count, count)

    async def _find_run(self, call_ids: Collection[str]) -> tuple[str, int]:
        """The run whose reply with these calls is the log's newest with any, and the number of that reply in it.

        The id is empty where it is another.
        """
        session = self.door.session
        last_seq = (await session.inspect.state()).last_seq
        messages = await session.messages(max(last_seq - _LOOKED_COUNT, 0) + 1, last_seq) if last_seq else []
        newest = next((message for message in reversed(messages) if message.view.calls), None)
        if newest is None or not {call.id for call in newest.view.calls}.issuperset(call_ids):
            return "", 0
        run_id, _, number = str(newest.wire.get("id")).rpartition(_REPLY)
        return (run_id, int(number)) if number.isdecimal() else ("", 0)

    def _name_each(self, wires: Sequence[Item]) -> list[Named]:
        """The messages of a run's items, under ids that stay."""
        named: list[Named] = []
        replies_count = 0
        for number, wire in enumerate(wires):
            if _is_reply(wire):
                replies_count += 1
                named.append(self._name_reply(replies_count, wire["output"]))
            elif call_id := find_pairing_id({**wire}):
                named.append((self._name_result(call_id), wire))
            else:
                named.append((f"{self._run_id}/{number}", wire))
        self._replies_count = max(self._replies_count, replies_count)
        return named

    def _write_handoffs(self, items: Sequence[Item], name: str) -> list[Item]:
        """The results of the last reply's calls where the filter of a handoff left them out, as the SDK writes them."""
        output = json.dumps({"assistant": name})
        answered = {item.get("call_id") for item in items if "output" in item}
        left_out = [call_id for call_id in self._calls if self._is_handed_over and call_id not in answered]
        return [{"type": "function_call_output", "call_id": call_id, "output": output} for call_id in left_out]

    def hand_over(self) -> None:
        """Note that the last reply's calls hand the run to another agent."""
        self._is_handed_over = True

    def _name_reply(self, number: int, output: Sequence[Any]) -> Named:
        """A reply, which is stored with its id: that is what an interrupted run is found by."""
        name = f"{self._run_id}{_REPLY}{number}"
        return name, {"id": name, "object": "response", "output": output}

    def _name_result(self, call_id: str) -> str:
        return f"{self._run_id}/result/{call_id}"

    async def add_result(self, call_id: str, output: str) -> None:
        """Store what a tool gave, which no call of the model may follow."""
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        await self.door.call(lambda: self._add_result(item))

    async def _add_result(self, item: Item) -> None:
        await self._name_run([item["call_id"]])
        await self.door.add(Given(self._name_result(item["call_id"]), partial(list, [item])))

    async def reply(self, output: Sequence[Any], *, counted_tokens: int) -> None:
        """Store what the model said."""
        items = [item.model_dump(mode="json", exclude_none=True) for item in output]
        asked = self._asked
        self._replies_count += 1
        self._calls = [str(item["call_id"]) for item in list_calls(items) if "call_id" in item]
        self._is_handed_over = False
        if asked and items:
            name, wire = self._name_reply(self._replies_count, items)
            given = Given(name, partial(list, [wire]))
            await self.door.call(lambda: self.door.reply(asked, given, counted_tokens=counted_tokens))


class Hooks(RunHooks[Any]):
    """Tells a connection where its runs are."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """A run begins, or goes on with another agent."""
        self._connection.go_on_with(agent, context.usage)

    async def on_agent_end(self, context: Any, agent: Any, output: object) -> None:
        """A run has given its output."""
        del context, agent, output
        self._connection.end()

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """An agent hands the run to another one."""
        del context, from_agent, to_agent
        self._connection.hand_over()

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The model has replied."""
        del context, agent
        await self._connection.reply(response.output, counted_tokens=response.usage.input_tokens)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """A tool is called; an agent that is one runs with the program's own settings."""
        del agent, tool
        if isinstance(context, ToolContext):
            context.run_config = self._connection.config

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """A tool has given its result, maybe before an agent is asked: so begins a run that is resumed."""
        del agent, tool
        self._connection.begin(context.usage)
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


def _is_reply(wire: Item) -> bool:
    return wire.get("object") == "response"


def _list_last_calls(wires: Sequence[Item]) -> list[str]:
    """The ids of the calls of the newest reply in a run's items."""
    reply = next((wire for wire in reversed(wires) if _is_reply(wire)), None)
    return [call_id for item in list_calls(reply["output"]) if (call_id := find_pairing_id(item))] if reply else []


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
