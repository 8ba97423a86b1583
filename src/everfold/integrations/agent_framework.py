"""Microsoft's Agent Framework: `Agent(..., middleware=[EverfoldChat(session)])`.

The middleware stands at each call of the model, also within a loop of tools. Its messages have no ids that stay: what a
provider named is named again, and a streamed run rebuilds its messages for the framework's own session. But within a run
they are the same objects, so that each gets a name there. What a history of the framework brings was said in a run before,
and is passed over; what other context providers bring is for this call alone, and stands at its end.

Source: Agent Framework 1.x: chat middleware, `ResponseStream`, contents; `_attribution` of a context provider's messages.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, NamedTuple
from uuid import uuid4

from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.core.primitives.origins import Origin
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Door, Given
from everfold.session import Session
from everfold.sync_classes import SyncSession

if find_spec("agent_framework") is None:
    raise InvalidInputError(
        "the integration with the Agent Framework needs the extra `agent-framework`: pip install 'everfold[agent-framework]'"
    )

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    Content,
    FunctionTool,
    HistoryProvider,
    Message,
    ResponseStream,
)

_STOPPED: Final = "the run was stopped"
_NAME: Final = "everfold_id"
"""The additional property that names a message; the framework sends none of them to a provider."""
_OTHERS: Final = "agent_framework"
"""The member of a stored message that holds contents which its form has no place for, each with its place."""


class EverfoldChat(ChatMiddleware):
    """Gives an agent's model the window of a session, and stores what is said.

    Each conversation needs a middleware of its own. Give the agent only the new words of the user.

    Args:
        session: Of `everfold.open`, on the event loop of the runs, or of `everfold.open_sync` for any.
    """

    def __init__(self, session: Session | SyncSession) -> None:
        self.door = Door(session, convert=read_messages)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Ask the model with the window, and store its reply."""
        found = _sort(context)
        asked = await self.door.call(lambda: self._ask(found))
        _rewrite(context, asked)
        await call_next()
        match context.result:
            case ResponseStream() as stream:
                context.result = ResponseStream(self._listen(stream, asked), finalizer=_finish(stream))
            case ChatResponse() as response:
                await self._reply(response, asked)

    async def _ask(self, found: "_Found") -> Asked:
        await self.door.take_each(found.said, name=name, write=_write, find_origin=_find_origin)
        return await self.door.ask(form="openai", system=found.system, tools=found.tools, suffix=found.suffix)

    async def _listen(self, stream: Any, asked: Asked) -> AsyncIterator[Any]:
        """The pieces of a reply, which is stored when it is whole, or as far as it came."""
        heard: list[str] = []
        try:
            async with stream:
                async for update in stream:
                    heard.extend(content.text for content in update.contents if _is_piece(content))
                    yield update
        except BaseException:
            text = "".join(heard)
            await self.door.call(lambda: self.door.break_off(text, reason=_STOPPED))
            raise
        await self._reply(await stream.get_final_response(), asked)

    async def _reply(self, response: Any, asked: Asked) -> None:
        counted = (response.usage_details or {}).get("input_token_count") or 0
        for given in [give(message) for message in response.messages]:
            await self.door.call(partial(self.door.reply, asked, given, counted_tokens=counted))


def _finish(stream: Any) -> Callable[[Sequence[Any]], Awaitable[Any]]:
    async def finish(_updates: Sequence[Any]) -> Any:
        return await stream.get_final_response()

    return finish


def _is_piece(content: Any) -> bool:
    """Whether a content goes on with what was said; at its end a text may come again, whole."""
    return bool(content.type == "text" and getattr(content, "merge_mode", None) != "replace")


def name(message: Message) -> str:
    """The name of a message; one without gets it here, and keeps it through its run."""
    properties = message.additional_properties
    if _NAME not in properties:
        properties[_NAME] = str(uuid4())
    return str(properties[_NAME])


def give(message: Message) -> Given:
    """A message under its name."""
    return Given(name(message), partial(_write, message), _find_origin(message))


def _find_origin(message: Message) -> Origin | None:
    """Whose words a message is: what comes beside a tool's results is the tool's; None leaves it to the role."""
    return "tool" if message.role == "tool" else None


# --- What the framework hands over ------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What a call of the model is made of."""

    said: list[Message]
    system: str
    tools: list[JsonValue]
    suffix: str | None


def _sort(context: ChatContext) -> _Found:
    """The messages of the run, the prompt and tools of the session, and what is for this call alone."""
    options = context.options or {}
    instructions = options.get("instructions") or ()
    prompts = [instructions] if isinstance(instructions, str) else [*instructions]
    said: list[Message] = []
    extra: list[str] = []
    for message in context.messages:
        if message.role in {"system", "developer"}:
            prompts.append(message.text)
        elif "_attribution" not in message.additional_properties:
            said.append(message)
        elif not _is_history(message):
            extra.append(message.text)
    tools = [_write_tool(tool) for tool in options.get("tools") or ()]
    return _Found(said, "\n\n".join(filter(None, prompts)), tools, "\n\n".join(filter(None, extra)) or None)


def _is_history(message: Message) -> bool:
    """Whether a provider of histories brought a message: it was said in another run."""
    attribution = message.additional_properties["_attribution"]
    kind = attribution.get("source_type") if isinstance(attribution, Mapping) else None
    return kind in _list_names(HistoryProvider)


def _list_names(kind: type) -> set[str]:
    """The names of a class and of those below it."""
    return {kind.__name__}.union(*map(_list_names, kind.__subclasses__()))


def _write_tool(tool: Any) -> JsonValue:
    """The schema of a tool; one that the provider runs has a form of its own."""
    if isinstance(tool, FunctionTool):
        schema: JsonValue = tool.to_json_schema_spec()
        return schema
    return dict(tool) if isinstance(tool, Mapping) else {"type": type(tool).__name__}


def _rewrite(context: ChatContext, asked: Asked) -> None:
    """Give a call the window's messages. It is whole, so that no conversation of the provider's own goes on."""
    systems = [message.text for message in asked.messages if message.role == "system"]
    options = {key: value for key, value in (context.options or {}).items() if key != "conversation_id"}
    if systems:
        options["instructions"] = "\n\n".join(systems)
    context.options = options
    context.messages = [message for message in asked.messages if message.role != "system"]


# --- To the log -------------------------------------------------------------------------------------------------------


def _write(message: Message) -> list[JsonObject]:
    """A message in OpenAI's form; one that brings results as many as there are."""
    if message.role == "assistant":
        return _write_reply(message)
    results = [_write_result(content) for content in message.contents if content.type == "function_result"]
    parts = [_write_part(content) for content in message.contents if content.type not in _SILENT]
    spoken: list[JsonObject] = [{"role": "user", "content": parts}] if parts else []
    return [*results, *spoken]


_SILENT: Final = frozenset(
    {"function_result", "function_call", "function_approval_request", "function_approval_response", "usage"}
)
"""What a user's message may hold that the model is not told in words."""


def _write_reply(message: Message) -> list[JsonObject]:
    """A reply with its calls, and beside them what has no place in the form, such as reasoning."""
    texts = [content.text for content in message.contents if content.type == "text"]
    calls = [_write_call(content) for content in message.contents if _is_call(content)]
    others: list[JsonValue] = [
        {"at": at, **content.to_dict(exclude={"raw_representation"})}
        for at, content in enumerate(message.contents)
        if content.type not in {"text", "usage"} and not _is_call(content)
    ]
    if not any((*texts, *calls, *others)):
        return []
    wire: JsonObject = {"role": "assistant", "content": "".join(filter(None, texts)) or None}
    if calls:
        wire["tool_calls"] = calls
    return [{**wire, _OTHERS: others} if others else wire]


def _is_call(content: Content) -> bool:
    """Whether a content is a call that the framework answers."""
    return content.type == "function_call" and not content.informational_only


def _write_call(content: Any) -> JsonValue:
    given = content.arguments
    arguments = given if isinstance(given, str) else encode_json(dict(given or {})).decode("utf-8", "surrogatepass")
    return {"id": content.call_id, "type": "function", "function": {"name": content.name, "arguments": arguments}}


def _write_result(content: Any) -> JsonObject:
    parts = [_write_part(item) for item in content.items or ()]
    return {"role": "tool", "tool_call_id": content.call_id, "content": parts or str(content.result or "")}


def _write_part(content: Any) -> JsonValue:
    """What a user or a tool gave, as a part; what has no form is named."""
    kind = content.media_type or ""
    match content.type:
        case "text":
            return {"type": "text", "text": content.text}
        case "data" | "uri" if kind.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": content.uri}}
        case "data" if kind.startswith("application/"):
            return {"type": "file", "file": {"filename": content.name or "document", "file_data": content.uri}}
        case _:
            return {"type": "text", "text": f"[content of type {kind or content.type}]"}


# --- From the window --------------------------------------------------------------------------------------------------


def read_messages(messages: Iterable[JsonValue]) -> list[Message]:
    """The messages of a request in OpenAI's form as the framework's."""
    return [_read(message) for message in messages]


def _read(wire: Any) -> Message:
    match wire["role"]:
        case "tool":
            return Message("tool", [Content.from_function_result(wire["tool_call_id"], result=wire["content"])])
        case "assistant":
            return Message("assistant", _read_reply(wire))
        case role:
            return Message(role, _read_parts(wire["content"]))


def _read_reply(wire: Any) -> list[Content]:
    contents = _read_parts(wire["content"] or [])
    for call in wire.get("tool_calls", ()):
        function = call["function"]
        contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
    for other in wire.get(_OTHERS, ()):
        contents.insert(other["at"], Content.from_dict({key: value for key, value in other.items() if key != "at"}))
    return contents


def _read_parts(content: Any) -> list[Content]:
    return [Content.from_text(content)] if isinstance(content, str) else [_read_part(part) for part in content]


def _read_part(part: Any) -> Content:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            kind = url[5:].partition(";")[0] if url.startswith("data:") else "image/*"
            return Content.from_uri(url, media_type=kind)
        case {"type": "file", "file": {"file_data": str(data)} as file}:
            return Content.from_uri(data, media_type=data[5:].partition(";")[0], name=file.get("filename"))
        case _:
            return Content.from_text(part.get("text") or f"[content of type {part['type']}]")
