"""Strands: `Agent(..., hooks=[EverfoldHooks(session)], conversation_manager=NullConversationManager())`.

Strands tells of each message that it adds to `agent.messages`, and names it with an id that stays: there the message is
stored. Each call of the model runs through a middleware, which puts the session's window in the place of the messages and
listens to the reply, so that what a stopped one had said is kept. When a turn has begun, the turns before it leave
`agent.messages`, which Strands copies at every call.

Messages are stored in Anthropic's form, which the content blocks of Strands follow.

Source: Strands Agents 1.x: hooks, the middleware stage of a model call, content blocks of Bedrock.
"""

import base64
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Final
from uuid import uuid4

from everfold.core.log.interruption import write_interrupted
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Door, Given
from everfold.session import Session
from everfold.sync_classes import SyncSession

if find_spec("strands") is None:
    raise InvalidInputError("the hooks of Strands need the extra `strands`: pip install 'everfold[strands]'")

from strands.hooks import AgentInitializedEvent, HookProvider, HookRegistry, MessageAddedEvent
from strands.middleware import InvokeModelContext, InvokeModelStage, ModelStopReason

Block = Mapping[str, Any]

_STOPPED: Final = "the run was stopped"
_TEXT_FORMATS: Final = frozenset({"csv", "html", "md", "txt"})
_COUNTED: Final = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


@dataclass
class _Call:
    """The last call of the model: what it was asked, and what a stopped reply had said, until its message is added."""

    asked: Asked | None = None
    stopped_text: str = ""


class EverfoldHooks(HookProvider):
    """Gives an agent's model the window of a session, and stores what is said.

    Each conversation needs hooks of its own. An agent that is called (`agent("Hello.")`) runs on a thread of its own, so
    that it needs a session of `everfold.open_sync`.

    Args:
        session: Of `everfold.open`, on the event loop of the runs, or of `everfold.open_sync` for any.
    """

    def __init__(self, session: Session | SyncSession) -> None:
        self.door = Door(session, convert=read_messages)
        self._call = _Call()

    def register_hooks(self, registry: HookRegistry, **_options: Any) -> None:
        """Listen to an agent."""
        registry.add_callback(AgentInitializedEvent, self._join)
        registry.add_callback(MessageAddedEvent, self._store)

    def _join(self, event: AgentInitializedEvent) -> None:
        event.agent.add_middleware(InvokeModelStage, self._invoke)

    async def _store(self, event: MessageAddedEvent) -> None:
        """Store a message that was added; a reply with what its request counted."""
        message, call = event.message, self._call
        if message["role"] != "assistant" or call.asked is None:
            await self.door.call(lambda: self._take(event.agent.messages))
            return
        asked, given = call.asked, give(message)
        if call.stopped_text:
            given = Given(given.id, partial(_write_stopped, call.stopped_text))
        self._call = _Call()
        await self.door.call(lambda: self.door.reply(asked, given, counted_tokens=_count(message)))

    async def _invoke(self, context: InvokeModelContext, call_next: Any) -> AsyncIterator[Any]:
        """Ask the model with the window, and listen to its reply."""
        messages = context.agent.messages
        asked = await self.door.call(lambda: self._ask(messages, context))
        del messages[: _find_turn(messages)]
        heard: list[str] = []
        self._call = _Call(asked)
        try:
            async for event in call_next(_rewrite(context, asked)):
                heard.append(_hear(event))
                if isinstance(event, ModelStopReason) and event.stop_reason == "cancelled":
                    self._call = _Call(asked, "".join(heard))
                yield event
        except BaseException:
            text = "".join(heard)
            await self.door.call(lambda: self.door.break_off(text, reason=_STOPPED))
            raise

    async def _take(self, messages: Sequence[Any]) -> None:
        await self.door.take_each(messages, name=name, write=_write)

    async def _ask(self, messages: Sequence[Any], context: InvokeModelContext) -> Asked:
        await self._take(messages)
        tools = [_write_tool(tool) for tool in context.tool_specs]
        return await self.door.ask(
            form="anthropic", system=_read_system(context.system_prompt), tools=tools, suffix=_read_suffix(context)
        )


def name(message: Any) -> str:
    """The id of a message; one without gets it here, and keeps it."""
    if not message.get("tracking_id"):
        message["tracking_id"] = str(uuid4())
    return str(message["tracking_id"])


def give(message: Any) -> Given:
    """A message under its id."""
    return Given(name(message), partial(_write, message))


def _write_stopped(text: str) -> list[JsonObject]:
    return [write_interrupted(text, reason=_STOPPED)]


def _count(message: Any) -> int:
    """What the provider counted for the request of a reply."""
    usage = message.get("metadata", {}).get("usage", {})
    return sum(usage.get(name, 0) for name in _COUNTED)


def _hear(event: Any) -> str:
    """What a piece of a reply says."""
    data = event.get("data") if isinstance(event, Mapping) else None
    return data if isinstance(data, str) else ""


def _find_turn(messages: Sequence[Any]) -> int:
    """Where the newest turn begins: at the newest message of the user that brings no results."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "user" and not any("toolResult" in block for block in messages[at]["content"]):
            return at
    return 0


def _read_system(prompt: Any) -> str:
    """A system prompt as a text; it may have blocks."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return "\n".join(block["text"] for block in prompt if "text" in block)


def _read_suffix(context: InvokeModelContext) -> str | None:
    """What other middleware puts at the end of this call only."""
    count = context.dynamic_trailing_blocks
    blocks = context.messages[-1]["content"][-count:] if count and context.messages else []
    return "\n\n".join(block["text"] for block in blocks if "text" in block) or None


def _rewrite(context: InvokeModelContext, asked: Asked) -> InvokeModelContext:
    """The call with the window's messages. What the window adds to the system prompt stands behind the prompt's blocks."""
    prompt = context.system_prompt
    blocks: list[Any] = [{"text": prompt}] if isinstance(prompt, str) else [*(prompt or ())]
    shown: Any = asked.body.get("system", ())
    added = shown[1:] if _read_system(prompt).strip() else shown
    blocks += [{"text": block["text"]} for block in added]
    return context.replace(messages=asked.messages, system_prompt=blocks or None, dynamic_trailing_blocks=0)


def _write_tool(tool: Any) -> JsonValue:
    schema = tool["inputSchema"]
    return {"name": tool["name"], "description": tool["description"], "input_schema": schema.get("json", schema)}


# --- To the log -------------------------------------------------------------------------------------------------------


def _write(message: Any) -> list[JsonObject]:
    """A message in Anthropic's form; none where nothing of it is left."""
    blocks = [block for one in message["content"] for block in _write_block(one)]
    return [{"role": message["role"], "content": blocks}] if blocks else []


def _write_block(block: Block) -> list[JsonValue]:
    match block:
        case {"text": str(text)} | {"guardContent": {"text": {"text": str(text)}}}:
            return [{"type": "text", "text": text}]
        case {"toolUse": call}:
            return [_write_call(call)]
        case {"toolResult": result}:
            return [_write_result(result)]
        case {"reasoningContent": reasoning}:
            return [_write_reasoning(reasoning)]
        case {"citationsContent": {"content": content}}:
            return [{"type": "text", "text": "".join(part.get("text", "") for part in content)}]
        case {"image": image}:
            return [_write_image(image)]
        case {"document": document}:
            return [_write_document(document)]
        case {"cachePoint": _}:
            return []
        case _:
            return [_name_left_out(next(iter(block), "nothing"))]


def _name_left_out(kind: str) -> JsonValue:
    return {"type": "text", "text": f"[content of type {kind}]"}


def _write_call(call: Block) -> JsonValue:
    signature = {"reasoning_signature": call["reasoningSignature"]} if "reasoningSignature" in call else {}
    return {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": call["input"], **signature}


def _write_result(result: Block) -> JsonValue:
    content = [block for one in result["content"] for block in _write_result_block(one)]
    wire: JsonObject = {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content}
    return {**wire, "is_error": True} if result.get("status") == "error" else wire


def _write_result_block(block: Block) -> list[JsonValue]:
    if "json" in block:
        return [{"type": "text", "text": encode_json(block["json"]).decode("utf-8", "surrogatepass")}]
    return _write_block(block)


def _write_reasoning(reasoning: Block) -> JsonValue:
    if "redactedContent" in reasoning:
        return {"type": "redacted_thinking", "data": _encode(reasoning["redactedContent"])}
    text = reasoning["reasoningText"]
    return {"type": "thinking", "thinking": text.get("text", ""), "signature": text.get("signature") or ""}


def _write_image(image: Block) -> JsonValue:
    data = image["source"].get("bytes")
    if data is None:
        return _name_left_out("image")
    source: JsonObject = {"type": "base64", "media_type": f"image/{image['format']}", "data": _encode(data)}
    return {"type": "image", "source": source}


def _write_document(document: Block) -> JsonValue:
    data, kind, source = document["source"].get("bytes"), document.get("format", ""), None
    if data is not None and kind == "pdf":
        source = {"type": "base64", "media_type": "application/pdf", "data": _encode(data)}
    elif data is not None and kind in _TEXT_FORMATS:
        source = {"type": "text", "media_type": "text/plain", "data": data.decode("utf-8", "replace")}
    if source is None:
        return _name_left_out(f"document {kind}".rstrip())
    return {"type": "document", "title": document.get("name", "document"), "source": source}


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


# --- From the window --------------------------------------------------------------------------------------------------


def read_messages(messages: Iterable[JsonValue]) -> list[Any]:
    """The messages of a request in Anthropic's form as those of Strands."""
    return [_read_message(message) for message in messages]


def _read_message(message: Any) -> Any:
    content = message["content"]
    blocks = [{"text": content}] if isinstance(content, str) else [_read_block(block) for block in content]
    return {"role": message["role"], "content": blocks}


def _read_block(block: Any) -> Block:
    match block:
        case {"type": "text", "text": text}:
            return {"text": text}
        case {"type": "tool_use", "id": id_, "name": name, "input": given}:
            call = {"toolUseId": id_, "name": name, "input": given}
            signature = block.get("reasoning_signature")
            return {"toolUse": call if signature is None else {**call, "reasoningSignature": signature}}
        case {"type": "tool_result"}:
            return {"toolResult": _read_result(block)}
        case {"type": "thinking", "thinking": text, "signature": signature}:
            return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}
        case {"type": "redacted_thinking", "data": data}:
            return {"reasoningContent": {"redactedContent": base64.b64decode(data)}}
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return {"image": {"format": kind.removeprefix("image/"), "source": {"bytes": base64.b64decode(data)}}}
        case {"type": "document", "source": {"type": "base64", "data": data}}:
            return _read_document(block, "pdf", base64.b64decode(data))
        case {"type": "document", "source": {"type": "text", "data": text}}:
            return _read_document(block, "txt", text.encode("utf-8", "replace"))
        case _:
            return {"text": f"[content of type {block['type']}]"}


def _read_result(block: Any) -> Block:
    content = block["content"]
    inner = [{"type": "text", "text": content}] if isinstance(content, str) else content
    status = "error" if block.get("is_error") else "success"
    return {"toolUseId": block["tool_use_id"], "status": status, "content": [_read_block(one) for one in inner]}


def _read_document(block: Any, kind: str, data: bytes) -> Block:
    return {"document": {"format": kind, "name": block.get("title") or "document", "source": {"bytes": data}}}
