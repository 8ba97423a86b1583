"""The tools of one agent, called one by one: its own, those of history, and where memory is structured those of memory.

A tool answers the model in every case: what it raises, and arguments that do not fit, come back as text. Only a
cancellation goes through.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ToolReturn
from pydantic_ai.models import Model
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, ToolsetTool
from pydantic_ai.usage import RunUsage

from everfold.core.memory.schemas import (
    HISTORY_TOOLS,
    MEMORY_TOOLS,
    list_history_schemas,
    list_memory_schemas,
)
from everfold.core.primitives.json_values import JsonObject, JsonValue, parse_json
from everfold.errors import InvalidInputError
from everfold.services.memory.memory_tools import MemoryTools

_ANY: Final = TypeAdapter[object](object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gives the model."""

    text: str
    is_error: bool = False


class Toolbox(AbstractAsyncContextManager["Toolbox"]):
    """What an agent may call. Enter it before its tools are listed or called.

    Args:
        toolsets: The agent's own, as `open_toolsets` gives them; they are entered and left with it.
        model: For tools that ask who calls them.
        has_memory: The agent is offered the tools of its memory, and not those of history alone.

    Raises:
        InvalidInputError: on entering, where a tool of its own has the name of another one.
    """

    def __init__(self, toolsets: Sequence[AbstractToolset[object]], *, model: Model, has_memory: bool = False) -> None:
        self._toolset = CombinedToolset(toolsets)
        self._context = RunContext[object](deps=None, model=model, usage=RunUsage())
        self._tools: dict[str, ToolsetTool[object]] = {}
        self._builtin = MEMORY_TOOLS if has_memory else HISTORY_TOOLS
        self._builtin_schemas = list_memory_schemas if has_memory else list_history_schemas

    async def __aenter__(self) -> Self:
        """Connect, and look what there is."""
        await self._toolset.__aenter__()
        try:
            self._tools = await self._toolset.get_tools(self._context)
            self._require_names()
        except BaseException:
            await self._toolset.__aexit__(None, None, None)
            raise
        return self

    def _require_names(self) -> None:
        if twice := sorted(self._tools.keys() & set(self._builtin)):
            raise InvalidInputError(f"the tool {twice[0]!r} of the agent has the name of a built-in tool; rename it")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of connections."""
        await self._toolset.__aexit__(kind, error, trace)

    @property
    def schemas(self) -> list[JsonObject]:
        """The schemas of all tools, in OpenAI's form."""
        own = [_write_schema(tool.tool_def) for tool in self._tools.values()]
        return [*own, *self._builtin_schemas()]

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The same as Pydantic AI takes them."""
        builtin = [_read_schema(schema) for schema in self._builtin_schemas()]
        return [*(tool.tool_def for tool in self._tools.values()), *builtin]

    async def call(self, name: str, arguments: str, *, call_id: str, memory: MemoryTools) -> Answer:
        """What a tool answers to arguments in JSON."""
        if name in self._builtin:
            return await _call_memory(memory, name, arguments)
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(definition.name for definition in self.definitions) or "none"
            return Answer(text=f"There is no tool {name!r}. There are: {known}.", is_error=True)
        context = RunContext[object](
            deps=None, model=self._context.model, usage=self._context.usage, tool_name=name, tool_call_id=call_id
        )
        try:
            given = tool.args_validator.validate_json(arguments or "{}")
            return _read_answer(await self._toolset.call_tool(name, given, context, tool))
        except ValidationError as error:
            return Answer(text=f"The arguments do not fit: {_explain(error)}", is_error=True)
        except (ModelRetry, ToolFailed) as error:
            return Answer(text=error.message, is_error=True)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything: the error is its answer to the model
            return Answer(text=f"{type(error).__name__}: {error}", is_error=True)


async def _call_memory(memory: MemoryTools, name: str, arguments: str) -> Answer:
    try:
        given = parse_json(arguments or "{}")
    except InvalidInputError as error:
        return Answer(text=f"The arguments are no JSON: {error}", is_error=True)
    if not isinstance(given, dict):
        return Answer(text=f"The arguments must be a JSON object, got {arguments}", is_error=True)
    answer = await memory.call(name, given)
    return Answer(text=answer.text, is_error=answer.is_error)


def _read_answer(given: object) -> Answer:
    """What a tool returned as text: texts as they are, everything else as JSON."""
    if isinstance(given, ToolReturn):
        given = given.return_value
    return Answer(text=given if isinstance(given, str) else _ANY.dump_json(given, fallback=str).decode())


def _explain(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in error.errors()
    )


def _write_schema(definition: ToolDefinition) -> JsonObject:
    function: JsonObject = {"name": definition.name}
    if definition.description:
        function["description"] = definition.description
    function["parameters"] = cast("JsonValue", definition.parameters_json_schema)
    return {"type": "function", "function": function}


def _read_schema(schema: JsonObject) -> ToolDefinition:
    function = cast("JsonObject", schema["function"])
    return ToolDefinition(
        name=str(function["name"]),
        description=str(function["description"]),
        parameters_json_schema=cast("JsonObject", function["parameters"]),
    )
