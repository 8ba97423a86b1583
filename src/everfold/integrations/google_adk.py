"""Google's Agent Development Kit: `App(..., plugins=[EverfoldPlugin(engine)])`.

The kit's session keeps events, each with an id that stays; from them the kit builds the contents of each call of the model.
The plugin stores the events that have content, and puts the window of the thread's session in the place of the contents.
A reply is stored when its event is told, whole; the partial events before it are only listened to, for a run that is
stopped says nothing of it but by the end of its task.

Contents are stored in OpenAI's form. What has no place there, such as a signature of a thought, stands beside it.

Source: ADK 2.x: plugins, events, `flows/llm_flows` for what a request holds; the reference of Gemini's contents.
"""

import asyncio
import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, Final
from weakref import WeakKeyDictionary

from everfold.core.primitives.json_values import JsonObject, JsonValue, parse_json
from everfold.core.primitives.origins import Origin
from everfold.engine import Everfold
from everfold.errors import InvalidInputError
from everfold.integrations.door import Asked, Converted, Door, Doors, Given
from everfold.sync_classes import SyncEverfold

if find_spec("google") is None or find_spec("google.adk") is None:
    raise InvalidInputError("the plugin of the ADK needs the extra `google-adk`: pip install 'everfold[google-adk]'")

from google.adk.models import Gemini
from google.adk.plugins import BasePlugin
from google.genai import types

_STOPPED: Final = "the run was stopped"
_OTHERS: Final = "google_adk"
"""The member of a stored message that holds parts which its form has no place for, each with its place."""
_OWN_CALL: Final = "adk-"
"""How the ids begin that the kit gives to calls without one; Gemini is not sent them."""
_OWN_TOOLS: Final = frozenset(
    {"adk_request_credential", "adk_request_confirmation", "adk_request_input", "adk_framework"}
)
"""The calls with which the kit speaks to the program. No model is told of them."""


@dataclass(slots=True)
class _Call:
    """A call of the model that goes on.

    Attributes:
        asked: What it was asked.
        heard: What the model has said so far.
        is_open: Whether more may come.
    """

    door: Door
    asked: Asked
    heard: list[str] = field(default_factory=list)
    is_open: bool = True

    def end(self, _task: object) -> None:
        """The task of the run has ended: with a reply that is not whole, it was stopped."""
        if self.is_open:
            self.is_open = False
            self.door.leave("".join(self.heard), reason=_STOPPED)


class EverfoldPlugin(BasePlugin):
    """Gives the model of each session the window of a session of Everfold, and stores what is said in it.

    The user of the kit's session is the user, the app is the agent, and the session's id is the session key. `Runner.run`
    needs an engine of `everfold.open_sync`; `run_async` takes either.

    Args:
        engine: Open, for as long as the app runs.
        agent: The assistant; the app's name when left out.
        limit: The model's context limit in tokens; the engine's when left out.
    """

    def __init__(self, engine: Everfold | SyncEverfold, *, agent: str | None = None, limit: int | None = None) -> None:
        super().__init__(name="everfold")
        self._doors = Doors(engine, limit=limit)
        self._agent = agent
        self._calls: dict[tuple[str, str, str], _Call] = {}
        self._converted: WeakKeyDictionary[Door, dict[bool, Converted[types.Content]]] = WeakKeyDictionary()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Store what is new, and put the window in the place of the contents."""
        context = callback_context.get_invocation_context()
        if _is_aside(context) or context.agent.include_contents != "default":
            return
        door, asked = await self._doors.call(lambda: self._ask(context, llm_request))
        _rewrite(llm_request, asked, self._convert(door, asked, keeps_ids=_keeps_ids(context.agent)))
        self._calls[self._name(context.session)] = call = _Call(door, asked)
        if task := asyncio.current_task():
            task.add_done_callback(call.end)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Listen to a reply, which comes in pieces and then whole."""
        if _is_aside(callback_context.get_invocation_context()):
            return
        call = self._calls.get(self._name(callback_context.session))
        if call and llm_response.partial:
            call.heard += [part.text for part in _list_parts(llm_response) if part.text and not part.thought]
        elif call:
            call.is_open = False

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Store a reply or a result, once it is whole."""
        if event.partial or _is_aside(event) or not _has_content(event):
            return
        name = self._name(invocation_context.session)
        call = self._calls.pop(name, None) if event.author != "user" and _is_reply(event) else None
        await self._doors.call(lambda: self._store(invocation_context.session, event, call))

    async def _ask(self, context: Any, request: Any) -> tuple[Door, Asked]:
        door = await self._find(context.session)
        await door.take_each(context.session.events, name=attrgetter("id"), write=_tell, find_origin=_find_origin)
        config = request.config
        asked = await door.ask(
            form="openai",
            system=_read_system(config.system_instruction),
            tools=_write_tools(config.tools),
            suffix=_read_suffix(context, request.contents),
        )
        return door, asked

    async def _store(self, session: Any, event: Any, call: _Call | None) -> None:
        if call is None:
            await (await self._find(session)).add(give(event))
            return
        usage = event.usage_metadata
        await call.door.reply(call.asked, give(event), counted_tokens=(usage and usage.prompt_token_count) or 0)

    def _convert(self, door: Door, asked: Asked, *, keeps_ids: bool) -> list[types.Content]:
        """The contents of a request; those that the last one had are not made again."""
        kinds = self._converted.setdefault(door, {})
        converted = kinds.setdefault(keeps_ids, Converted(partial(read_messages, keeps_ids=keeps_ids)))
        return gather(converted.convert(name_results(asked.messages)))

    def _name(self, session: Any) -> tuple[str, str, str]:
        return session.user_id, self._agent or session.app_name, session.id

    async def _find(self, session: Any) -> Door:
        user, agent, key = self._name(session)
        return await self._doors.find(key, user=user, agent=agent)


def give(event: Any) -> Given:
    """An event under its id."""
    return Given(event.id, partial(_tell, event), _find_origin(event))


def _find_origin(event: Any) -> Origin | None:
    """Whose words an event is: what comes beside a tool's results is the tool's; None leaves it to the role."""
    return None if event.author == "user" or _is_reply(event) else "tool"


def _tell(event: Any) -> list[JsonObject]:
    """An event as messages of the log; none where no model is told of it."""
    return _write(event) if _is_told(event) else []


# --- What the kit hands over ------------------------------------------------------------------------------------------


def _list_parts(event: Any) -> Sequence[Any]:
    return (event.content and event.content.parts) or ()


def _is_aside(where: Any) -> bool:
    """Whether a context or an event is on a branch of its own, beside the conversation."""
    return bool(where.branch or getattr(where, "isolation_scope", None))


def _is_told(event: Any) -> bool:
    """Whether an event of a session is part of what the model is told."""
    return not event.partial and not _is_aside(event) and _has_content(event)


def _has_content(event: Any) -> bool:
    calls = {part.function_call.name for part in _list_parts(event) if part.function_call}
    answers = {part.function_response.name for part in _list_parts(event) if part.function_response}
    return not (calls | answers) & _OWN_TOOLS and any(map(_is_visible, _list_parts(event)))


def _is_reply(event: Any) -> bool:
    return not any(part.function_response for part in _list_parts(event))


def _is_visible(part: Any) -> bool:
    """Whether the kit sends a part to a model again: anything but a thought without a signature."""
    if part.function_call or part.function_response or part.thought_signature:
        return True
    return not part.thought and bool(part.text or part.model_dump(exclude_none=True).keys() - {"text"})


def _keeps_ids(agent: Any) -> bool:
    """Whether the model is sent the ids that the kit made; Gemini takes only its own."""
    model = agent.canonical_model
    return not isinstance(model, Gemini) or bool(getattr(model, "use_interactions_api", False))


def _read_system(instruction: Any) -> str:
    """A system instruction as a text, whichever form it has."""
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    parts = getattr(instruction, "parts", None)
    items = parts if parts is not None else instruction if isinstance(instruction, list) else [instruction]
    return "\n\n".join(item if isinstance(item, str) else item.text or "" for item in items)


def _read_suffix(context: Any, contents: Iterable[Any]) -> str | None:
    """What the kit adds to this request alone: a changing instruction, or context of the run."""
    config = context.run_config
    if not (getattr(context.agent, "static_instruction", None) or getattr(config, "model_input_context", None)):
        return None
    known = {part.text for event in context.session.events for part in _list_parts(event)}
    texts = [part.text for content in contents if content.role == "user" for part in content.parts or () if part.text]
    return "\n\n".join(text for text in texts if text not in known and text != "For context:") or None


def _write_tools(tools: Any) -> list[JsonValue]:
    """The schemas of the functions; a tool that the provider runs is named."""
    written: list[JsonValue] = []
    for tool in tools or ():
        declarations = getattr(tool, "function_declarations", None)
        if declarations is None:
            written.append({"type": type(tool).__name__})
        written += [_write_function(one) for one in declarations or ()]
    return written


def _write_function(declaration: Any) -> JsonValue:
    parameters = declaration.parameters_json_schema
    if parameters is None and declaration.parameters is not None:
        parameters = declaration.parameters.model_dump(mode="json", exclude_none=True)
    function: JsonObject = {"name": declaration.name, "description": declaration.description or ""}
    return {"type": "function", "function": {**function, "parameters": parameters or {"type": "object"}}}


def _rewrite(request: Any, asked: Asked, contents: list[types.Content]) -> None:
    """Give a request the window's contents. It is whole, so that no interaction of the provider's own goes on."""
    systems = [message["content"] for message in asked.messages if message["role"] == "system"]
    if systems:
        request.config.system_instruction = "\n\n".join(systems)
    request.contents = contents
    request.previous_interaction_id = None


# --- To the log -------------------------------------------------------------------------------------------------------


def _write(event: Any) -> list[JsonObject]:
    """An event in OpenAI's form: a reply, or results, or words of the user."""
    parts = [part for part in event.content.parts if _is_visible(part)]
    if event.author != "user" and _is_reply(event):
        return [_write_reply(parts)]
    results = [_write_result(part.function_response) for part in parts if part.function_response]
    said = [_write_part(part) for part in parts if not part.function_response]
    spoken: list[JsonObject] = [{"role": "user", "content": said}] if said else []
    return [*results, *spoken]


def _write_reply(parts: Sequence[Any]) -> JsonObject:
    texts = [part.text for part in parts if _is_text(part)]
    calls = [_write_call(part) for part in parts if part.function_call]
    content: JsonValue = (
        [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts) or None
    )
    wire: JsonObject = {"role": "assistant", "content": content}
    if calls:
        wire["tool_calls"] = calls
    others: list[JsonValue] = [other for at, part in enumerate(parts) if (other := _write_other(at, part))]
    return {**wire, _OTHERS: others} if others else wire


def _is_text(part: Any) -> bool:
    return bool(part.text) and not part.thought


def _write_other(at: int, part: Any) -> JsonObject | None:
    """What of a reply's part has no place in the form."""
    if part.function_call:
        return None
    if _is_text(part):
        return {"at": at, "signature": _encode(part.thought_signature)} if part.thought_signature else None
    return {"at": at, "part": part.model_dump(mode="json", exclude_none=True)}


def _write_call(part: Any) -> JsonValue:
    call = part.function_call
    arguments = json.dumps(call.args or {}, ensure_ascii=False, default=str)
    wire = {"id": call.id or call.name, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    if part.thought_signature:
        wire["extra_content"] = {"google": {"thought_signature": _encode(part.thought_signature)}}
    return wire


def _write_result(answer: Any) -> JsonObject:
    match answer.response:
        case {"result": str(text)} if len(answer.response) == 1:
            pass
        case response:
            text = json.dumps(response or {}, ensure_ascii=False, default=str)
    return {"role": "tool", "tool_call_id": answer.id or answer.name, "content": text}


def _write_part(part: Any) -> JsonValue:
    """What a user gave, as a part; what has no form is named."""
    blob, file = part.inline_data, part.file_data
    kind = (blob and blob.mime_type) or (file and file.mime_type) or ""
    if part.text is not None:
        return {"type": "text", "text": part.text}
    if blob and kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": _write_url(blob)}}
    if blob and kind.startswith("application/"):
        return {"type": "file", "file": {"filename": blob.display_name or "document", "file_data": _write_url(blob)}}
    if file and kind.startswith("image/") and file.file_uri.startswith(("https://", "http://")):
        return {"type": "image_url", "image_url": {"url": file.file_uri}}
    return {"type": "text", "text": f"[content of type {kind or 'unknown'}]"}


def _write_url(blob: Any) -> str:
    return f"data:{blob.mime_type};base64,{_encode(blob.data)}"


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


# --- From the window --------------------------------------------------------------------------------------------------


def name_results(messages: Iterable[Any]) -> list[JsonValue]:
    """The messages of a request without those of the system, each result with the name of what was called."""
    names: dict[str, str] = {}
    named: list[JsonValue] = []
    for message in messages:
        names.update({call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())})
        if message["role"] == "tool":
            named.append({**message, "name": names.get(message["tool_call_id"], "unknown")})
        elif message["role"] != "system":
            named.append(message)
    return named


def read_messages(messages: Iterable[Any], *, keeps_ids: bool) -> list[types.Content]:
    """The named messages of a request in OpenAI's form as contents."""
    return [_read(message, keeps_ids=keeps_ids) for message in messages]


def gather(contents: Iterable[types.Content]) -> list[types.Content]:
    """Contents for a request: the results of one step are one content, as Gemini needs it, and the last is a copy."""
    gathered: list[types.Content] = []
    for content in contents:
        if gathered and _brings_results(content) and _brings_results(gathered[-1]):
            gathered[-1] = types.Content(role="user", parts=[*(gathered[-1].parts or ()), *(content.parts or ())])
        else:
            gathered.append(content)
    last = [content.model_copy(update={"parts": [*(content.parts or ())]}) for content in gathered[-1:]]
    return [*gathered[:-1], *last]


def _brings_results(content: types.Content) -> bool:
    return bool(content.parts and content.parts[0].function_response)


def _read(wire: Any, *, keeps_ids: bool) -> types.Content:
    match wire["role"]:
        case "tool":
            return types.Content(role="user", parts=[_read_result(wire, keeps_ids=keeps_ids)])
        case "assistant":
            return types.Content(role="model", parts=_read_reply(wire, keeps_ids=keeps_ids))
        case _:
            return types.Content(role="user", parts=_read_parts(wire["content"]))


def _show_id(id_: str, *, keeps_ids: bool) -> str | None:
    return id_ if keeps_ids or not id_.startswith(_OWN_CALL) else None


def _read_result(wire: Any, *, keeps_ids: bool) -> types.Part:
    id_ = _show_id(wire["tool_call_id"], keeps_ids=keeps_ids)
    answer = types.FunctionResponse(id=id_, name=wire["name"], response=_read_response(wire["content"]))
    return types.Part(function_response=answer)


def _read_reply(wire: Any, *, keeps_ids: bool) -> list[types.Part]:
    parts = _read_parts(wire["content"] or [])
    parts += [_read_call(call, keeps_ids=keeps_ids) for call in wire.get("tool_calls", ())]
    for other in wire.get(_OTHERS, ()):
        at = other["at"]
        if "part" in other:
            parts.insert(at, types.Part.model_validate_json(json.dumps(other["part"])))
        elif at < len(parts):
            parts[at].thought_signature = base64.b64decode(other["signature"])
    return parts


def _read_call(wire: Any, *, keeps_ids: bool) -> types.Part:
    function = wire["function"]
    arguments = _parse_object(function["arguments"])
    call = types.FunctionCall(
        id=_show_id(wire["id"], keeps_ids=keeps_ids),
        name=function["name"],
        args={"arguments": function["arguments"]} if arguments is None else arguments,
    )
    signature = wire.get("extra_content", {}).get("google", {}).get("thought_signature")
    return types.Part(function_call=call, thought_signature=signature and base64.b64decode(signature))


def _read_response(text: str) -> dict[str, Any]:
    value = _parse_object(text)
    return {"result": text} if value is None else value


def _parse_object(text: str) -> dict[str, Any] | None:
    """A text as the JSON object that it is; None where it is none."""
    try:
        value = parse_json(text) if text.startswith("{") else None
    except InvalidInputError:
        return None
    return value if isinstance(value, dict) else None


def _read_parts(content: Any) -> list[types.Part]:
    return [types.Part(text=content)] if isinstance(content, str) else [_read_part(part) for part in content]


def _read_part(part: Mapping[str, Any]) -> types.Part:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} if not url.startswith("data:"):
            return types.Part(file_data=types.FileData(file_uri=url, mime_type="image/*"))
        case {"type": "image_url", "image_url": {"url": str(url)}} | {"type": "file", "file": {"file_data": str(url)}}:
            head, _, data = url.removeprefix("data:").partition(";base64,")
            return types.Part(inline_data=types.Blob(mime_type=head, data=base64.b64decode(data)))
        case _:
            return types.Part(text=part.get("text") or f"[content of type {part['type']}]")
