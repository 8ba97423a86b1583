"""Pydantic AI: `Agent(..., capabilities=[EverfoldCapability(session)])`.

Each run of an agent has an id, and its messages stand in the run's list in their order: together they name a message. Before
each request to the model, what is new in that list is stored, and the request is made of the session's window instead. What
is added while the request is made the framework puts at its end and in the list, so the list is read again then.
The final answer is stored when the model has given it, because no request follows that would bring it; what a
stopped run had come to, half a reply or the results of its tools, is read from its messages when the run has ended.

Source: Pydantic AI 2, capabilities; `everfold.adapters.models.window_messages` for the window's messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from mimetypes import guess_extension
from operator import itemgetter
from typing import Any

import anyio

from everfold.core.log.files import PDF
from everfold.core.log.interruption import INTERRUPTED_KEY, INTERRUPTED_MARK
from everfold.core.primitives.json_values import JsonValue
from everfold.core.primitives.origins import Origin
from everfold.core.windows.rendering import Provider
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Converted, Door, Given
from everfold.session import Session
from everfold.sync_classes import SyncSession

if find_spec("pydantic_ai") is None:
    raise InvalidInputError(
        "the capability of Pydantic AI needs the extra `pydantic-ai`: pip install 'everfold[pydantic-ai]'"
    )

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapModelRequestHandler, WrapRunHandler
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters

from everfold.adapters.models.window_messages import (
    ANTHROPIC,
    Gathered,
    MessageReader,
    Part,
    find_provider,
    gather_messages,
)

_STOPPED = "the run was stopped"
Wire = Mapping[str, object]
Named = tuple[str, ModelMessage]
"""A message, and before it the id that stays."""


@dataclass
class EverfoldCapability(AbstractCapability[Any]):
    """Gives an agent's model the window of a session, and stores what is said.

    Runs need no `message_history`; one that is given is stored as far as its messages name their runs.

    Args:
        session: Of `everfold.open`, on the event loop of the runs, or of `everfold.open_sync` for any.
    """

    session: Session | SyncSession = field(repr=False)
    _door: Door | None = field(default=None, repr=False)
    _messages: Sequence[ModelMessage] = field(default=(), repr=False)
    _prompt: object = field(default=None, repr=False)
    _added_by_tools: list[ModelMessage] = field(default_factory=list, repr=False)
    _converted: dict[Provider, tuple[Converted[list[Part]], Gathered]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Open the door of the session, which all runs share."""
        self._door = self._door or Door(self.session)

    async def for_run(self, ctx: RunContext[Any]) -> "EverfoldCapability":
        """A copy for one run, which remembers its prompt and its list of messages; the door stays the same."""
        return replace(self, _messages=(), _prompt=ctx.prompt, _added_by_tools=[])

    @property
    def door(self) -> Door:
        """The door of the session."""
        return self._door or Door(self.session)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Store the last results of a run, or what a stopped one had come to."""
        del ctx  # its messages are those from before the run
        try:
            result = await handler()
        except BaseException:
            await self._end(self._messages)
            raise
        await self._end(result.all_messages())
        return result

    async def _end(self, messages: Sequence[ModelMessage]) -> None:
        """Store what a run ends with. No cancellation stops it."""
        if named := _name_each(_answer_calls(messages)):
            with anyio.CancelScope(shield=True):
                await self.door.call(lambda: self._take(named))

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        """Ask the model with the window, and store its reply."""
        self._messages = ctx.messages
        self._added_by_tools += _list_added_by_tools(ctx)
        named, provider = _name_each(ctx.messages), find_provider(request_context.model.system)
        parameters = request_context.model_request_parameters
        prompt, tools = _read_prompt(ctx.messages, parameters), _read_tools(parameters)
        asked = await self.door.call(lambda: self._ask(named, provider, prompt, tools))
        response = await handler(
            replace(
                request_context,
                messages=self._convert(asked, provider),
                model_request_parameters=replace(parameters, instruction_parts=None),
            )
        )
        if response.state != "suspended":
            number = sum(message.run_id == ctx.run_id for message in ctx.messages)
            reply = Given(f"{ctx.run_id}/{number}", partial(_write, response))
            tokens = response.usage.input_tokens
            await self.door.call(lambda: self.door.reply(asked, reply, counted_tokens=tokens))
        return response

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Store what the program, tools and hooks have added to the run since its request was begun."""
        named = _name_each(ctx.messages)
        await self.door.call(lambda: self._take(named))
        return request_context

    async def _take(self, named: Sequence[Named]) -> None:
        await self.door.take_each(
            named,
            name=itemgetter(0),
            write=lambda pair: _write(pair[1], self._prompt),
            find_origin=lambda pair: self._find_origin(pair[1]),
        )

    def _find_origin(self, message: ModelMessage) -> Origin | None:
        """Whose words a message is: what tells the model what was wrong with its reply may quote it; None leaves it to the role."""
        if any(message is added for added in self._added_by_tools):
            return "tool"
        if not any(map(_is_feedback, message.parts)):
            return None
        return "tool" if any(map(_is_result, message.parts)) else "assistant"

    async def _ask(self, named: Sequence[Named], provider: Provider, prompt: str, tools: Sequence[JsonValue]) -> Asked:
        await self._take(named)
        return await self.door.ask(form=provider, system=prompt, tools=tools)

    def _convert(self, asked: Asked, provider: Provider) -> list[ModelMessage]:
        """The request's messages as the framework's."""
        if provider not in self._converted:
            self._converted[provider] = Converted(MessageReader(provider).read), Gathered()
        converted, gathered = self._converted[provider]
        parts = converted.convert(asked.messages)
        return gather_messages(asked.body, parts) if "system" in asked.body else gathered.gather(parts)


def _name_each(messages: Sequence[ModelMessage]) -> list[Named]:
    """The messages that name their runs, under ids that stay; a reply that the provider has yet to finish is left out."""
    counts: dict[str, int] = {}
    named: list[Named] = []
    for message in messages:
        run_id = message.run_id
        if run_id is None:
            continue
        number = counts.get(run_id, 0)
        counts[run_id] = number + 1
        if message.state != "suspended":
            named.append((f"{run_id}/{number}", message))
    return named


def _list_added_by_tools(ctx: RunContext[Any]) -> list[ModelMessage]:
    """The messages that tools have put in the run's queue; the framework notes there for which call it was."""
    return [
        message
        for pending in ctx.pending_messages or ()
        if getattr(pending, "_tool_call", None)
        for message in pending.messages
    ]


def _answer_calls(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """The messages of a run; where it ended among its tools, with the results of calls that the framework adds to go on."""
    match messages:
        case [*before, ModelResponse() as reply, ModelRequest(state="interrupted") as request]:
            return [*before, *repair_messages([reply, request])]
        case _:
            return messages


def _read_prompt(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str:
    """The system prompt of a request: the system parts of the messages, each once, and the instructions."""
    parts = [part for message in messages for part in message.parts if isinstance(part, SystemPromptPart)]
    texts = dict.fromkeys(part.content for part in parts)
    instructions = [part.content for part in parameters.instruction_parts or ()]
    return "\n\n".join([*texts, *instructions])


def _read_tools(parameters: ModelRequestParameters) -> list[JsonValue]:
    """The schemas of the tools of a request, those of its output too."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.parameters_json_schema,
            },
        }
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]


def _write(message: ModelMessage, prompt: object = None) -> Sequence[Wire]:
    """A message as those of the log; the system parts are the session's prompt. `prompt` is what the user gives the run."""
    if isinstance(message, ModelRequest):
        return _write_request(message.parts, prompt)
    wire = _write_response(message)
    if not (wire["content"] or "tool_calls" in wire):
        return []
    return [wire if message.state == "complete" else _mark_stopped(message)]


def _mark_stopped(response: ModelResponse) -> Wire:
    """A reply that was stopped, with a mark between its text and the calls that it had begun."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    said = [part for part in response.parts if not isinstance(part, ToolCallPart)]
    mark = TextPart(f"\n\n{INTERRUPTED_MARK}" if any(isinstance(part, TextPart) for part in said) else INTERRUPTED_MARK)
    return {**_write_response(replace(response, parts=[*said, mark, *calls])), INTERRUPTED_KEY: _STOPPED}


def _write_request(parts: Sequence[Any], prompt: object) -> Sequence[Wire]:
    """The results of a request, and the words of the user and of validators. What stands after a result came with it.

    A tool may give content that the framework shows beside its result, in the user's role. Only the prompt of the run is the
    user's after a result: it stands there where the run began with results that were waited for.
    """
    wires: list[dict[str, Any]] = []
    result: dict[str, Any] | None = None
    for part in parts:
        if _is_result(part):
            result = {"role": "tool", "tool_call_id": part.tool_call_id, "content": _write_result(part)}
            wires.append(result)
        elif (content := _write_words(part)) is None:
            continue
        elif result is None or (isinstance(part, UserPromptPart) and part.content == prompt):
            wires.append({"role": "user", "content": content})
        else:
            result["content"] = [*_list_parts(result["content"]), *_list_parts(content)]
    return wires


def _write_words(part: Any) -> JsonValue:
    """The content of a part of a request that is no result; None for one that is not shown as a message."""
    match part:
        case UserPromptPart(content=str(text)):
            return text
        case UserPromptPart(content=content):
            return [_write_content(item) for item in content if item != CachePoint()]
        case _:
            return part.model_response() if _is_feedback(part) else None


def _is_result(part: object) -> bool:
    return bool(getattr(part, "tool_name", None))


def _is_feedback(part: object) -> bool:
    """Whether a part tells the model what was wrong with its reply, which it may quote."""
    return hasattr(part, "model_response") and not _is_result(part)


def _list_parts(content: Any) -> list[JsonValue]:
    """A content as a list of its parts."""
    if not isinstance(content, str):
        return list(content)
    return [{"type": "text", "text": content}] if content else []


def _write_result(part: Any) -> JsonValue:
    """What a call gave: its text, and after it its images and files."""
    if part.part_kind == "retry-prompt":
        return str(part.model_response())
    text: str = part.model_response_str()
    if not part.files:
        return text
    texts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    return [*texts, *map(_write_content, part.files)]


def _write_content(item: Any) -> JsonValue:
    """A part of what a user or a tool gave."""
    match item:
        case str() | TextContent():
            return {"type": "text", "text": item if isinstance(item, str) else item.content}
        case ImageUrl(url=url):
            return {"type": "image_url", "image_url": {"url": url}}
        case BinaryContent() if item.is_image:
            return {"type": "image_url", "image_url": {"url": item.data_uri}}
        case BinaryContent() if not (item.is_audio or item.is_video):
            return _write_file(item.identifier, item.media_type, item.data_uri)
        case DocumentUrl():
            return _write_file(item.identifier, _find_type(item), item.url)
        case _:
            return {"type": "text", "text": f"[content of type {getattr(item, 'kind', type(item).__name__)}]"}


def _write_file(name: str, media_type: str, data: str) -> JsonValue:
    """A file by its data or its address."""
    return {"type": "file", "file": {"filename": f"{name}{guess_extension(media_type) or ''}", "file_data": data}}


def _find_type(item: DocumentUrl) -> str:
    """The media type of a document, which its address may not tell."""
    try:
        return item.media_type
    except ValueError:
        return PDF


def _write_response(response: ModelResponse) -> dict[str, Any]:
    """A reply in OpenAI's form, or in Anthropic's where it holds thinking that is signed."""
    if any(isinstance(part, ThinkingPart) and part.provider_name == ANTHROPIC for part in response.parts):
        return {"role": "assistant", "content": [*map(_write_block, filter(_is_block, response.parts))]}
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    wire: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    if calls := [part for part in response.parts if isinstance(part, ToolCallPart)]:
        wire["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.tool_name, "arguments": call.args_as_json_str()},
            }
            for call in calls
        ]
    return wire


def _is_block(part: object) -> bool:
    """Whether a part of a reply is one of Anthropic's; thinking that was stopped has no signature, and is not taken back."""
    return isinstance(part, TextPart | ToolCallPart) or (isinstance(part, ThinkingPart) and bool(part.signature))


def _write_block(part: Any) -> JsonValue:
    """A part of a reply as Anthropic's content block."""
    match part:
        case ToolCallPart():
            return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()}
        case ThinkingPart(id="redacted_thinking"):
            return {"type": "redacted_thinking", "data": part.signature or ""}
        case ThinkingPart():
            return {"type": "thinking", "thinking": part.content, "signature": part.signature or ""}
        case _:
            return {"type": "text", "text": part.content}
