"""The memory tool of Anthropic's API over a store of Everfold: files of one user and one agent.

The model edits files below `/memories` with the commands of the tool. They are kept with the rest of the user's memory:
scanned, bounded, exported, wiped and erased with it. The topics of memory lie beside them in `/memories/topics` and can
only be read.

Source: Anthropic, "Memory tool" (`memory_20250818`), and its Python SDK's helpers for tools.
"""

from importlib.util import find_spec
from typing import cast

from everfold.core.primitives.json_values import JsonObject
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.errors import InvalidInputError
from everfold.services.memory.tool_answers import ToolAnswer
from everfold.sync_classes import SyncEverfold

if find_spec("anthropic") is None:
    raise InvalidInputError("the memory tool needs Anthropic's SDK: pip install 'everfold[anthropic]'")

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError
from anthropic.types.beta import BetaMemoryTool20250818Param

_SCHEMA: BetaMemoryTool20250818Param = {"type": "memory_20250818", "name": "memory"}


class EverfoldMemoryTool(BetaBuiltinFunctionTool):
    """The tool for `Anthropic()`: `client.beta.messages.tool_runner(..., tools=[EverfoldMemoryTool(engine, user="ada")])`.

    Args:
        engine: Of `everfold.open_sync`, open for as long as the tool is used.
        user: Of whom the agent keeps files: a name, `default`, or an id.
        agent: Whose files they are.
    """

    def __init__(self, engine: SyncEverfold, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT) -> None:
        self._engine, self._user, self._agent = engine, user, agent

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """What a request names it by."""
        return _SCHEMA

    def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        """Do one command.

        Raises:
            ToolError: it cannot be done; the SDK tells the model why.
        """
        files = self._engine.memory_files(user=self._user, agent=self._agent)
        return _tell(files.call(_read_input(input)))


class AsyncEverfoldMemoryTool(BetaAsyncBuiltinFunctionTool):
    """The same for `AsyncAnthropic()`, with an engine of `everfold.open`."""

    def __init__(self, engine: Everfold, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT) -> None:
        self._engine, self._user, self._agent = engine, user, agent

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """What a request names it by."""
        return _SCHEMA

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        """Do one command.

        Raises:
            ToolError: it cannot be done; the SDK tells the model why.
        """
        files = await self._engine.memory_files(user=self._user, agent=self._agent)
        return _tell(await files.call(_read_input(input)))


def _read_input(given: object) -> JsonObject:
    return cast("JsonObject", given) if isinstance(given, dict) else {}


def _tell(answer: ToolAnswer) -> str:
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text
