"""LlamaIndex: `agent.run(text, memory=EverfoldMemory(session))`, and `memory=` of a chat engine likewise.

What is put into the memory is stored, and what is got from it is the session's window. An agent puts the replies and results
of a run into its memory only at the end of the run, and sends them behind what it got until then. So they are taken from the
run's own notes, its scratchpad, whenever the memory is asked within it: a long loop of tools folds too.

The memory is told neither the system prompt nor the tools, nor what the model had said when its stream was stopped.
It learns them from the events of LlamaIndex's instrumentation, where it knows a call of the model by the messages it gave.

Source: LlamaIndex 0.14: `BaseMemory`, `FunctionAgent`, the callbacks of chat models; llama-index-workflows 2.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Final
from uuid import uuid4
from weakref import WeakSet

from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Door, Given
from everfold.session import Session
from everfold.sync_classes import SyncSession

if find_spec("llama_index") is None or find_spec("llama_index.core") is None:
    raise InvalidInputError(
        "the memory of LlamaIndex needs the extra `llama-index`: pip install 'everfold[llama-index]'"
    )

from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMChatInProgressEvent, LLMChatStartEvent
from llama_index.core.llms import ChatMessage, DocumentBlock, ImageBlock, TextBlock
from llama_index.core.memory import BaseMemory
from pydantic import PrivateAttr
from workflows.runtime.types.results import InternalContextVar

_STOPPED: Final = "the run was stopped"
_OTHERS: Final = "llama_index"
"""The member of a stored message that holds blocks which its form has no place for, each with its place."""
_SCRATCHPAD: Final = "scratchpad"
"""Where an agent keeps the messages of its run."""


class EverfoldMemory(BaseMemory):
    """A memory that stores what is put into it in a session, and gives the session's window.

    `get`, `put` and the chat engines' blocking methods need a session of `everfold.open_sync`; the async methods take either.
    """

    _listener: "_Listener" = PrivateAttr()

    def __init__(self, session: Session | SyncSession) -> None:
        """Open the door of a session, of `everfold.open` or of `everfold.open_sync`."""
        super().__init__()
        self._listener = _Listener(session)
        _listen(self._listener)

    @classmethod
    def class_name(cls) -> str:
        """The name of this kind of memory."""
        return "EverfoldMemory"

    @classmethod
    def from_defaults(cls, session: Session | SyncSession | None = None, **_options: Any) -> "EverfoldMemory":
        """A memory over a session.

        Raises:
            InvalidInputError: no session was given.
        """
        if session is None:
            raise InvalidInputError("the memory needs a session: EverfoldMemory(session)")
        return cls(session)

    async def aget(self, input: str | None = None, **_options: Any) -> list[ChatMessage]:  # noqa: A002 - its name
        """The window of the session, without the system prompt, which the agent adds."""
        del input
        run = await _read_run()
        return await self._listener.door.call(lambda: self._listener.get(run))

    def get(self, input: str | None = None, **_options: Any) -> list[ChatMessage]:  # noqa: A002 - its name
        """As `aget`."""
        del input
        return self._listener.door.block(lambda: self._listener.get(()))

    async def aget_all(self) -> list[ChatMessage]:
        """Every message of the log, as it was said."""
        return await self._listener.door.call(self._listener.list)

    def get_all(self) -> list[ChatMessage]:
        """As `aget_all`."""
        return self._listener.door.block(self._listener.list)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages."""
        await self._listener.door.call(lambda: self._listener.put(messages))

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """As `aput_messages`."""
        self._listener.door.block(lambda: self._listener.put(messages))

    async def aput(self, message: ChatMessage) -> None:
        """Store a message."""
        await self.aput_messages([message])

    def put(self, message: ChatMessage) -> None:
        """As `aput`."""
        self.put_messages([message])

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Store the messages of a past that the session does not have yet.

        Raises:
            InvalidInputError: the session has messages already.
        """
        await self._listener.door.call(lambda: self._listener.begin(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """As `aset`."""
        self._listener.door.block(lambda: self._listener.begin(messages))

    async def areset(self) -> None:
        """Begin another session; the log of this one stays in the store."""
        await self._listener.door.call(self._listener.reset)

    def reset(self) -> None:
        """As `areset`."""
        self._listener.door.block(self._listener.reset)


class _Listener:
    """The door of a memory, and what is learned of the calls of its model."""

    def __init__(self, session: Session | SyncSession) -> None:
        self.door = Door(session, convert=read_messages)
        self._prompt: str | None = None
        self._tools: list[JsonValue] | None = None
        self._asked: Asked | None = None
        self._shown: ChatMessage | None = None
        self._counted_tokens = 0
        self._calls: dict[str, str] = {}

    async def get(self, run: Sequence[ChatMessage]) -> list[ChatMessage]:
        if run:
            await self.put(run)
        self._asked = asked = await self.door.ask(form="openai", system=self._prompt, tools=self._tools)
        messages = [message for message in asked.messages if message.role != "system"]
        if messages:  # an agent writes its state into the last one
            messages[-1] = self._shown = messages[-1].model_copy(deep=True)
        return messages

    async def put(self, messages: Sequence[ChatMessage]) -> None:
        for message in messages:
            given, asked = give(message), self._asked
            if message.role == "assistant" and asked is not None:
                self._asked, counted = None, self._counted_tokens
                self._counted_tokens = 0
                await self.door.reply(asked, given, counted_tokens=counted)
            else:
                await self.door.add(given)

    async def list(self) -> list[ChatMessage]:
        return read_messages(message.wire for message in await self.door.session.messages())

    async def begin(self, messages: Sequence[ChatMessage]) -> None:
        if await self.door.session.messages(last=1):
            raise InvalidInputError(
                "the session already has messages, so no other history can be added: omit `chat_history`, or call "
                "reset() first"
            )
        await self.put(messages)

    async def reset(self) -> None:
        self.door = Door(await self.door.session.new(), convert=read_messages)
        self._asked = None

    def hear(self, event: Any) -> None:
        """Take what an event of a call tells."""
        call = event.span_id
        if isinstance(event, LLMChatStartEvent) and any(message is self._shown for message in event.messages):
            self._calls[call] = ""
            self._prompt = "\n\n".join(it.content or "" for it in event.messages if it.role == "system")
            self._tools = [*(event.additional_kwargs.get("tools") or ())]
        elif call not in self._calls:
            return
        elif isinstance(event, LLMChatInProgressEvent):
            self._calls[call] = event.response.message.content or ""
        elif isinstance(event, LLMChatEndEvent):
            del self._calls[call]
            self._counted_tokens = _count(event.response)
        elif isinstance(event, ExceptionEvent):
            self.door.leave(self._calls.pop(call), reason=_STOPPED)


class _Events(BaseEventHandler):
    """Tells every listener of the events of chat models."""

    @classmethod
    def class_name(cls) -> str:
        """The name of this handler."""
        return "EverfoldEvents"

    def handle(self, event: Any, **_options: Any) -> None:
        """Tell them one."""
        if isinstance(event, LLMChatStartEvent | LLMChatInProgressEvent | LLMChatEndEvent | ExceptionEvent):
            for listener in tuple(_LISTENERS):
                listener.hear(event)


_LISTENERS: Final[WeakSet[_Listener]] = WeakSet()
_EVENTS: Final = _Events()


def _listen(listener: _Listener) -> None:
    dispatcher = get_dispatcher()
    if _EVENTS not in dispatcher.event_handlers:
        dispatcher.add_event_handler(_EVENTS)
    _LISTENERS.add(listener)


def _count(response: Any) -> int:
    """What the provider counted for a request, where the model tells it."""
    usage = getattr(response and response.raw, "usage", None)
    return getattr(usage, "prompt_tokens", None) or getattr(usage, "input_tokens", None) or 0


async def _read_run() -> list[ChatMessage]:
    """The messages of the run that asks, which its agent has not put yet; they leave its scratchpad here.

    A reply whose calls are not answered yet stays there.
    """
    found = InternalContextVar.get(None)
    context = found() if found is not None else None
    if context is None:
        return []
    noted: list[ChatMessage] = await context.store.get(_SCRATCHPAD, default=[])
    count = len(noted) - (bool(noted) and bool(_list_calls(noted[-1])))
    await context.store.set(_SCRATCHPAD, noted[count:])
    return noted[:count]


def give(message: ChatMessage) -> Given:
    """A message under a name of its own: what is put is said once."""
    return Given(str(uuid4()), partial(_write, message))


# --- To the log -------------------------------------------------------------------------------------------------------


def _write(message: ChatMessage) -> list[JsonObject]:
    """A message in OpenAI's form."""
    match message.role.value:
        case "tool" | "function":
            id_ = str(message.additional_kwargs.get("tool_call_id") or message.additional_kwargs.get("name") or "call")
            return [{"role": "tool", "tool_call_id": id_, "content": _write_blocks(message.blocks)}]
        case "assistant" | "chatbot" | "model":
            return _write_reply(message)
        case "system" | "developer":
            return [{"role": "system", "content": message.content or ""}]
        case _:
            return [{"role": "user", "content": _write_blocks(message.blocks)}] if message.blocks else []


def _write_reply(message: ChatMessage) -> list[JsonObject]:
    """A reply with its calls, and beside them what has no place in the form, such as thinking."""
    texts = [block.text for block in message.blocks if block.block_type == "text" and block.text]
    calls = _list_calls(message)
    others: list[JsonValue] = [
        {"at": at, **block.model_dump(mode="json", exclude_none=True)}
        for at, block in enumerate(message.blocks)
        if block.block_type not in {"text", "tool_call"}
    ]
    if not any((texts, calls, others)):
        return []
    wire: JsonObject = {"role": "assistant", "content": "\n".join(texts) or None}
    if calls:
        wire["tool_calls"] = calls
    return [{**wire, _OTHERS: others} if others else wire]


def _list_calls(message: ChatMessage) -> list[JsonValue]:
    """The calls of a reply: its blocks, or what an older integration put beside them."""
    calls = [_write_call(block) for block in message.blocks if block.block_type == "tool_call"]
    older = message.additional_kwargs.get("tool_calls") or ()
    return calls or [call if isinstance(call, dict) else call.model_dump(mode="json") for call in older]


def _write_call(block: Any) -> JsonValue:
    given = block.tool_kwargs
    arguments = given if isinstance(given, str) else encode_json(given).decode("utf-8", "surrogatepass")
    id_ = block.tool_call_id or block.tool_name
    return {"id": id_, "type": "function", "function": {"name": block.tool_name, "arguments": arguments}}


def _write_blocks(blocks: Iterable[Any]) -> JsonValue:
    return [_write_block(block) for block in blocks]


def _write_block(block: Any) -> JsonValue:
    """What a user or a tool gave, as a part; what has no form is named."""
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock() if block.url:
            return {"type": "image_url", "image_url": {"url": str(block.url)}}
        case ImageBlock() if block.image_mimetype:
            data = block.resolve_image(as_base64=True).read().decode()
            return {"type": "image_url", "image_url": {"url": f"data:{block.image_mimetype};base64,{data}"}}
        case DocumentBlock() if block.data and block.document_mimetype:
            data = block.resolve_document().read()
            url = f"data:{block.document_mimetype};base64,{base64.b64encode(data).decode()}"
            return {"type": "file", "file": {"filename": block.title or "document", "file_data": url}}
        case _:
            return {"type": "text", "text": f"[content of type {block.block_type}]"}


# --- From the window --------------------------------------------------------------------------------------------------


def read_messages(messages: Iterable[Any]) -> list[ChatMessage]:
    """The messages of a request in OpenAI's form as LlamaIndex's."""
    return [_read(message) for message in messages]


def _read(wire: Mapping[str, Any]) -> ChatMessage:
    kwargs = {"tool_call_id": wire["tool_call_id"]} if wire["role"] == "tool" else {}
    return ChatMessage(role=wire["role"], blocks=_read_blocks(wire), additional_kwargs=kwargs)


def _read_blocks(wire: Mapping[str, Any]) -> list[Any]:
    content = wire["content"] or []
    blocks = [{"block_type": "text", "text": content}] if isinstance(content, str) else [*map(_read_part, content)]
    for call in wire.get("tool_calls", ()):
        function = {"tool_name": call["function"]["name"], "tool_kwargs": call["function"]["arguments"]}
        blocks.append({"block_type": "tool_call", "tool_call_id": call["id"], **function})
    for other in wire.get(_OTHERS, ()):
        blocks.insert(other["at"], {key: value for key, value in other.items() if key != "at"})
    return blocks


def _read_part(part: Any) -> Any:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} if not url.startswith("data:"):
            return ImageBlock(url=url)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            return ImageBlock(image=data.encode(), image_mimetype=kind)
        case {"type": "file", "file": {"file_data": str(url)} as file}:
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            return DocumentBlock(data=base64.b64decode(data), document_mimetype=kind, title=file.get("filename"))
        case _:
            return {"block_type": "text", "text": part.get("text") or f"[content of type {part['type']}]"}
