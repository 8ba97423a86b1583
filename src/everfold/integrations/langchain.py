"""LangChain: `create_agent(..., middleware=[EverfoldMiddleware(engine)])`.

The agent's state comes whole at each call of the model. Its messages have ids that stay, so that those that are new are
stored, and the model is asked with the window of the thread's session instead. When a turn begins, the messages of the turns
before it are removed from the state: checkpoints hold one turn and stop growing.

Source: LangChain 1.x, middleware of agents; LangGraph 1.x, checkpoints.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from mimetypes import guess_type
from typing import Any, Final
from uuid import uuid4

from everfold.core.log.files import PDF, File, find_file, read_inner_texts
from everfold.core.log.messages import DocumentPart
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Door, Doors, Given
from everfold.sync_classes import SyncEverfold

if find_spec("langchain") is None:
    raise InvalidInputError(
        "the middleware of LangChain needs the extra `langchain`: pip install 'everfold[langchain]'"
    )

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES

_STOPPED: Final = "the run was stopped"
_OTHERS: Final = "langchain"
"""The member of a stored reply that holds what its form has no place for: blocks with their places, and keyword arguments."""
_READ_BLOCKS: Final = frozenset(
    {"text", "tool_use", "tool_call", "function_call", "input_json_delta", "invalid_tool_call"}
)
_READ_KWARGS: Final = frozenset({"tool_calls", "function_call"})
"""What a reply has of its text and its calls, which are read elsewhere."""


class EverfoldMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives each thread of an agent the window of its session, and stores what is said in it.

    Runs need a thread id (`config={"configurable": {"thread_id": ...}}`), which is the session key. `invoke` and `stream`
    need an engine of `everfold.open_sync`; `ainvoke` and `astream` take either.

    Args:
        engine: Open, for as long as the agent is used.
        user: Who speaks with the agent.
        agent: The assistant.
        limit: The model's context limit in tokens; the engine's when left out.
    """

    def __init__(
        self,
        engine: Everfold | SyncEverfold,
        *,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        limit: int | None = None,
    ) -> None:
        super().__init__()
        self._doors = Doors(engine, user=user, agent=agent, limit=limit, convert=read_messages)
        self._tools: tuple[list[int], list[JsonValue]] = ([], [])

    def before_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """Store what is new, and remove the turns before this one from the state."""
        del runtime
        key, messages = _find_key(), state["messages"]
        self._doors.block(lambda: self._take(key, messages))
        return _trim(messages)

    async def abefore_agent(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """As `before_agent`."""
        del runtime
        key, messages = _find_key(), state["messages"]
        await self._doors.call(lambda: self._take(key, messages))
        return _trim(messages)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Ask the model with the window, and store what it said."""
        key = _find_key()
        door, asked = self._doors.block(lambda: self._ask(key, request))
        heard = _Heard()
        try:
            answer = handler(_rewrite(request, asked, heard))
        except BaseException:
            self._doors.block(lambda: door.break_off(heard.text, reason=_STOPPED))
            raise
        self._doors.block(lambda: _reply(door, asked, answer))
        return answer

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        key = _find_key()
        door, asked = await self._doors.call(lambda: self._ask(key, request))
        heard = _Heard()
        try:
            answer = await handler(_rewrite(request, asked, heard))
        except BaseException:
            await self._doors.call(lambda: door.break_off(heard.text, reason=_STOPPED))
            raise
        await self._doors.call(lambda: _reply(door, asked, answer))
        return answer

    async def _take(self, key: str, messages: Sequence[AnyMessage]) -> Door:
        door = await self._doors.find(key)
        await door.take_each(messages, name=name, write=_write_each)
        return door

    async def _ask(self, key: str, request: ModelRequest[Any]) -> tuple[Door, Asked]:
        door = await self._take(key, request.messages)
        tools = self._read_tools(request.tools)
        return door, await door.ask(form="openai", system=request.system_prompt or "", tools=tools)

    def _read_tools(self, tools: Sequence[Any]) -> list[JsonValue]:
        """The schemas of the tools; those of the last call again while the tools are the same objects."""
        ids, schemas = self._tools
        if ids != [id(tool) for tool in tools]:
            schemas = [convert_to_openai_tool(tool) for tool in tools]
            self._tools = ([id(tool) for tool in tools], schemas)
        return schemas


class _Heard(BaseCallbackHandler):
    """Listens to what a model says while it is streamed."""

    run_inline = True
    """Before anything else is told of a piece, so that what was seen is heard."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def on_llm_new_token(self, token: Any, **_options: Any) -> None:
        self._pieces.append(token if isinstance(token, str) else "")


def _find_key() -> str:
    """The id of the thread of this run.

    Raises:
        InvalidInputError: it has none.
    """
    key = get_config().get("configurable", {}).get("thread_id")
    if not key:
        raise InvalidInputError(
            "the run has no thread id, which identifies its conversation; pass "
            'config={"configurable": {"thread_id": "..."}}'
        )
    return str(key)


def _trim(messages: Sequence[AnyMessage]) -> dict[str, Any] | None:
    """What leaves the newest turn in the state; None where there is no other."""
    newest = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), 0)
    while newest and isinstance(messages[newest - 1], HumanMessage):
        newest -= 1
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages[newest:]]} if newest else None


def _rewrite(request: ModelRequest[Any], asked: Asked, heard: _Heard) -> ModelRequest[Any]:
    """The request with the window's messages, to a model that is listened to."""
    messages = asked.messages
    system = messages.pop(0) if isinstance(messages[0], SystemMessage) else None
    callbacks = request.model.callbacks
    others = callbacks if isinstance(callbacks, list) else []
    listened = callbacks.copy() if callbacks and not others else [*others, heard]
    if not isinstance(listened, list):
        listened.add_handler(heard)
    model = request.model.model_copy(update={"callbacks": listened})
    return request.override(messages=messages, system_message=system, model=model)


async def _reply(door: Door, asked: Asked, answer: Any) -> None:
    """Store a model's reply."""
    response = getattr(answer, "model_response", answer)
    messages: Iterable[BaseMessage] = [response] if isinstance(response, BaseMessage) else response.result
    for message in messages:
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        await door.reply(asked, give(message), counted_tokens=usage["input_tokens"] if usage else 0)


def name(message: BaseMessage) -> str:
    """The id of a message; one without gets it here, and keeps it in the state."""
    message.id = message.id or str(uuid4())
    return message.id


def give(message: BaseMessage) -> Given:
    """A message under its id."""
    return Given(name(message), partial(_write_each, message))


def _write_each(message: BaseMessage) -> list[Mapping[str, object]]:
    return [_write(message)]


def _write(message: BaseMessage) -> Mapping[str, object]:
    """A message in OpenAI's form; a reply with what has no place there beside it, such as signed thinking."""
    if not isinstance(message, AIMessage):
        return _write_given(message)
    blocks = [message.content] if isinstance(message.content, str) else message.content
    texts = [text for block in blocks if (text := _read_text(block))]
    calls = [_write_call(call) for call in (*message.tool_calls, *message.invalid_tool_calls)]
    others = [{"at": at, **block} for at, block in enumerate(blocks) if _is_other(block)]
    kept = {key: value for key, value in message.additional_kwargs.items() if key not in _READ_KWARGS and value}
    content: Any = [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts)
    return {
        "role": "assistant",
        "content": content,
        **({"tool_calls": calls} if calls else {}),
        **({_OTHERS: {"blocks": others, "kwargs": kept}} if others or kept else {}),
    }


def _write_given(message: BaseMessage) -> Mapping[str, object]:
    """A message that no model wrote."""
    content = message.content
    if isinstance(content, list):
        message = message.model_copy(update={"content": [_name_unknown(_fit_block(block)) for block in content]})
    wire: Mapping[str, object] = convert_to_openai_messages(message)
    return wire


def _fit_block(block: Any) -> Any:
    """A block of any provider's as one that `convert_to_openai_messages` takes in every message."""
    match block:
        case {"type": "image_url" | "input_image", "image_url": str(url)}:
            return {"type": "image_url", "image_url": {"url": url}}
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return {"type": "image_url", "image_url": {"url": url}}
        case {"type": "media", "mime_type": str(kind), "data": str(data)} if not kind.startswith(("audio/", "video/")):
            return {"type": "image" if kind.startswith("image/") else "file", "base64": data, "mime_type": kind}
        case {"type": "file", "url": str(url)}:
            extras = block.get("extras") or {}
            title, kind = block.get("filename") or extras.get("filename") or "", block.get("mime_type") or ""
            return _write_file(File(title=title, media_type=kind, url=url))
        case {"type": "input_file"} if file := find_file(block):
            return _write_file(file)
        case {"type": "document", "source": dict()}:
            return _fit_document(block)
        case {"type": "text-plain", "text": str(text)}:
            return {"type": "text", "text": text}
        case _:
            return block


def _fit_document(block: JsonObject) -> JsonObject:
    """A document of Anthropic's: a file, or its texts under its title."""
    file = find_file(block)
    (part,) = read_wire({"role": "user", "content": [block]}).parts
    if file is not None or not isinstance(part, DocumentPart):
        return _write_file(file or File())
    text = part.text or "\n".join(read_inner_texts(part))
    return {"type": "text", "text": f"[{part.title}]\n{text}"}


def _write_file(file: File) -> JsonObject:
    """A file in OpenAI's form, where an address, with its media type beside it, stands for the data."""
    if file.data:
        data = f"data:{file.media_type};base64,{file.data}"
        return {"type": "file", "file": {"file_data": data, "filename": file.name}}
    if file.url:
        kind: JsonObject = {"mime_type": file.media_type} if file.media_type else {}
        return {"type": "file", "file": {"file_data": file.url, "filename": file.name, **kind}}
    return {"type": "file", "file": {"file_id": file.file_id}} if file.file_id else _name_left_out("file")


def _name_unknown(block: Any) -> Any:
    """A block, or what names it where the framework cannot write it in OpenAI's form."""
    try:
        convert_to_openai_messages(HumanMessage([block]))
    except (KeyError, TypeError, ValueError):
        return _name_left_out(block.get("type"))
    return block


def _name_left_out(kind: object) -> JsonObject:
    return {"type": "text", "text": f"[content of type {kind}]"}


def _read_text(block: Any) -> str:
    """The text of a block of a reply; empty where it is another."""
    return block if isinstance(block, str) else block["text"] if block.get("type") == "text" else ""


def _is_other(block: Any) -> bool:
    """Whether a block is neither text nor a call, which the message has beside its blocks."""
    return isinstance(block, dict) and block.get("type") not in _READ_BLOCKS


def _write_call(call: Any) -> dict[str, Any]:
    """A call; one whose arguments are no JSON has them as they came."""
    given = call["args"]
    arguments = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else given or ""
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def read_messages(messages: Sequence[Any]) -> list[BaseMessage]:
    """The messages of a request in OpenAI's form as LangChain's."""
    return [_read_reply(wire) if _OTHERS in wire else _read(wire) for wire in messages]


def _read(wire: Any) -> BaseMessage:
    (message,) = convert_to_messages([wire])
    if isinstance(message, HumanMessage) and isinstance(message.content, list):
        message.content = [_read_block(block) for block in message.content]
    return message


def _read_block(block: Any) -> Any:
    """A block as the framework has it: a file at an address is one of its own."""
    match block:
        case {"type": "file", "file": {"file_data": str(url), "filename": str(name)} as file} if not _is_data(url):
            kind = file.get("mime_type") or guess_type(name)[0] or guess_type(url)[0] or PDF
            return {"type": "file", "url": url, "mime_type": kind, "filename": name}
        case _:
            return block


def _is_data(url: str) -> bool:
    return url.startswith("data:")


def _read_reply(wire: Any) -> BaseMessage:
    """A reply with its other blocks where they stood."""
    message = _read({key: value for key, value in wire.items() if key != _OTHERS})
    others = wire[_OTHERS]
    if others["blocks"]:
        content = message.content
        texts = [{"type": "text", "text": content}] if isinstance(content, str) and content else []
        blocks: list[Any] = texts if isinstance(content, str) else [*content]
        for other in others["blocks"]:
            blocks.insert(other["at"], {key: value for key, value in other.items() if key != "at"})
        message.content = blocks
    message.additional_kwargs = {**message.additional_kwargs, **others["kwargs"]}
    return message
