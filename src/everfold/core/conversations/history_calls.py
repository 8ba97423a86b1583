"""History calls: calls of our own tools in what a model says to a client, which the client never sees.

Theory of operation. A request is sent with our tools before the client's own. A reply that calls ours is a *round*: what the
model said and what its calls gave are added to the request, and the request goes to the provider again, until a reply has no
call of ours. The client gets one reply: all that was said in the rounds, less the calls of ours. Only that reply is stored,
since a round repeats what the log has, and an erase must find no copy of it.

A reply that calls a tool of the client's too goes to the client at once, less the calls of ours, which are answered beside. While
the turn goes on, the client's requests hold that reply as the client knows it; the provider gets the rounds in its place, so
that the model still has what it read. They leave with the turn, and as soon as anything of the user is erased.

Source: the API references of OpenAI and Anthropic on calls and their results; DESIGN.md G6 and G10.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from everfold.core.conversations.requests import ClientRequest
from everfold.core.log.messages import CallPart, WireFormat
from everfold.core.log.responses import group_items, is_of_reply
from everfold.core.log.wire import read_wire
from everfold.core.memory.schemas import list_history_schemas
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json, list_objects
from everfold.core.text.tokens import estimate_text_tokens

_LISTS: Final[Mapping[WireFormat, str]] = {"openai": "messages", "responses": "input", "anthropic": "messages"}
_ENDINGS: Final[Mapping[str, str]] = {"tool_calls": "stop", "tool_use": "end_turn"}
"""What a reply ends with for which only calls of ours are left, instead of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One reply that called our tools, as the provider gets it with the next request.

    Attributes:
        messages: The reply, and the results of its calls, as messages or items of its form.
        beside: Results that belong in front of those of the client in its next message: Anthropic takes all results of a
            reply in one message.
    """

    messages: tuple[JsonObject, ...]
    beside: tuple[JsonObject, ...] = ()

    @property
    def tokens(self) -> int:
        """The fixed estimate of what it adds to a request."""
        written = encode_json([*self.messages, *self.beside], at="round")
        return estimate_text_tokens(written.decode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRounds:
    """The rounds behind one reply that the client holds, while its turn goes on.

    Attributes:
        call_id: A call of the client's own tools in that reply, by which it is found in a request.
    """

    call_id: str
    rounds: tuple[Round, ...]

    @property
    def tokens(self) -> int:
        """The fixed estimate of what they add to a request."""
        return sum([one.tokens for one in self.rounds])


def offer(request: ClientRequest) -> tuple[ClientRequest, frozenset[str]]:
    """A request with our tools before the client's own, and their names.

    A name that the client uses itself is the client's. None are offered where several replies are asked for, or where the client
    gives its tools in a form beside which there can be no others.
    """
    taken = {_read_name(tool) for tool in request.tools}
    schemas = {_read_name(schema): schema for schema in list_history_schemas()}
    names = frozenset(schemas) - taken
    if not names or request.choices_count != 1 or "functions" in request.body:
        return request, frozenset()
    ours = [_write_schema(request.form, schema) for name, schema in schemas.items() if name in names]
    tools = (*ours, *request.tools)
    return replace(request, body={**request.body, "tools": list(tools)}, tools=tools), names


def _read_name(tool: JsonValue) -> str:
    function = tool.get("function") if isinstance(tool, dict) else None
    named = function if isinstance(function, dict) else tool
    return str(named.get("name", "")) if isinstance(named, dict) else ""


def _write_schema(form: WireFormat, schema: JsonObject) -> JsonObject:
    function = cast("JsonObject", schema["function"])
    match form:
        case "openai":
            return schema
        case "responses":
            return {"type": "function", **function, "strict": False}
        case "anthropic":
            named: JsonObject = {"name": function["name"], "description": function["description"]}
            return {**named, "input_schema": function["parameters"]}


def split_calls(form: WireFormat, wire: JsonObject, names: Collection[str]) -> tuple[list[CallPart], list[CallPart]]:
    """The calls of a reply: those of our tools, and the client's own."""
    calls = read_wire(wire, wire_format=form).calls
    return [call for call in calls if call.name in names], [call for call in calls if call.name not in names]


def is_hidden(item: JsonValue, names: Collection[str]) -> bool:
    """Whether a call, a block or an item is a call of ours."""
    if not isinstance(item, dict) or item.get("type", "function") not in ("function", "tool_use", "function_call"):
        return False
    return _read_name(item) in names


def write_round(
    form: WireFormat, wire: JsonObject, results: Sequence[tuple[CallPart, str]], *, has_others: bool
) -> Round:
    """A reply with the results of our calls.

    Args:
        form: Of the request.
        wire: The reply as the provider gave it.
        results: What each call of ours gave.
        has_others: It calls tools of the client's too, whose results the client brings.
    """
    match form:
        case "openai":
            given = [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]
            return Round(messages=(wire, *cast("list[JsonObject]", given)))
        case "responses":
            items = cast("list[JsonObject]", wire["output"])
            given = [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in results]
            return Round(messages=(*items, *cast("list[JsonObject]", given)))
        case "anthropic":
            blocks: list[JsonObject] = [
                {"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results
            ]
            if has_others:
                return Round(messages=(_leave_out_empty(wire),), beside=tuple(blocks))
            results_message: JsonObject = {"role": "user", "content": cast("list[JsonValue]", blocks)}
            return Round(messages=(_leave_out_empty(wire), results_message))


def write_reply(form: WireFormat, wire: JsonObject) -> Round:
    """A reply without calls of ours, as the last of some rounds."""
    if form == "responses":
        return Round(messages=tuple(cast("list[JsonObject]", wire["output"])))
    return Round(messages=(_leave_out_empty(wire) if form == "anthropic" else wire,))


def _leave_out_empty(wire: JsonObject) -> JsonObject:
    """A reply without its empty texts, which Anthropic gives and does not take."""
    blocks = list_objects(wire["content"])
    return {**wire, "content": [block for block in blocks if block.get("type") != "text" or block.get("text")]}


def extend_body(form: WireFormat, body: JsonObject, more: Round) -> JsonObject:
    """A request with a round at its end."""
    return {**body, _LISTS[form]: [*list_messages(form, body), *_leave_out_lost(body, more.messages)]}


def _leave_out_lost(body: JsonObject, messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Messages without the reasoning that the provider has not stored and does not take back without its content."""
    if body.get("store") is not False:
        return list(messages)
    return [one for one in messages if one.get("type") != "reasoning" or one.get("encrypted_content")]


def list_messages(form: WireFormat, body: JsonObject) -> list[JsonObject]:
    """The messages or items of a request."""
    given = body.get(_LISTS[form])
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return cast("list[JsonObject]", given)


def put_rounds(form: WireFormat, body: JsonObject, held: Sequence[HeldRounds]) -> JsonObject:
    """A request with the rounds in place of the replies that the client holds of them; those it does not hold are left out."""
    messages = list_messages(form, body)
    for one in held:
        messages = _put(form, messages, replace(one, rounds=tuple([_choose(body, made) for made in one.rounds])))
    return {**body, _LISTS[form]: cast("list[JsonValue]", messages)}


def _choose(body: JsonObject, made: Round) -> Round:
    return replace(made, messages=tuple(_leave_out_lost(body, made.messages)))


def _put(form: WireFormat, messages: list[JsonObject], held: HeldRounds) -> list[JsonObject]:
    at = next((at for at, message in enumerate(messages) if _makes_call(form, message, held.call_id)), None)
    if at is None:
        return messages
    first, end = _find_reply(messages, at) if form == "responses" else (at, at + 1)
    own = [message for one in held.rounds for message in one.messages]
    beside = [block for one in held.rounds for block in one.beside]
    return [*messages[:first], *own, *_put_beside(messages[end:], beside)]


def _makes_call(form: WireFormat, message: JsonObject, call_id: str) -> bool:
    match form:
        case "openai":
            return any(call.get("id") == call_id for call in list_objects(message.get("tool_calls")))
        case "responses":
            return message.get("call_id") == call_id and is_of_reply(message)
        case "anthropic":
            blocks = list_objects(message.get("content"))
            return any(block.get("type") == "tool_use" and block.get("id") == call_id for block in blocks)


def _find_reply(items: Sequence[JsonObject], at: int) -> tuple[int, int]:
    """Where the items of a reply begin and end, of which one stands at a place."""
    first = end = 0
    for wire in group_items(items):
        first, end = end, end + (1 if wire is items[end] else len(cast("list[object]", wire["output"])))
        if end > at:
            break
    return first, end


def _put_beside(messages: Sequence[JsonObject], blocks: Sequence[JsonObject]) -> list[JsonObject]:
    if not blocks or not messages:
        return list(messages)
    content = messages[0].get("content")
    own = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [{**messages[0], "content": [*blocks, *cast("list[JsonValue]", own)]}, *messages[1:]]


# --- what the client gets of several replies


def join_bodies(form: WireFormat, bodies: Sequence[JsonObject], names: Collection[str]) -> JsonObject:
    """Plain replies as one: all that they say, less our calls; anything else is that of the last one."""
    last = bodies[-1]
    match form:
        case "openai":
            return _join_choices(bodies, names)
        case "responses":
            items = [item for body in bodies for item in list_objects(body.get("output")) if not is_hidden(item, names)]
            return {**last, "output": cast("list[JsonValue]", items)}
        case "anthropic":
            blocks = [
                block for body in bodies for block in list_objects(body.get("content")) if not is_hidden(block, names)
            ]
            has_calls = any(block.get("type") == "tool_use" for block in blocks)
            stop = choose_ending(last.get("stop_reason"), has_calls=has_calls)
            return {**last, "content": cast("list[JsonValue]", blocks), "stop_reason": stop}


def _join_choices(bodies: Sequence[JsonObject], names: Collection[str]) -> JsonObject:
    choices = [list_objects(body.get("choices"))[0] for body in bodies]
    messages = [cast("JsonObject", choice["message"]) for choice in choices]
    texts = [text for message in messages if isinstance(text := message.get("content"), str) and text]
    calls = [call for call in list_objects(messages[-1].get("tool_calls")) if not is_hidden(call, names)]
    message: JsonObject = {**messages[-1], "content": "\n\n".join(texts) if texts else messages[-1].get("content")}
    message.pop("tool_calls", None)
    if calls:
        message["tool_calls"] = cast("list[JsonValue]", calls)
    ending = choose_ending(choices[-1].get("finish_reason"), has_calls=bool(calls))
    return {**bodies[-1], "choices": [{**choices[-1], "message": message, "finish_reason": ending}]}


def choose_ending(reason: JsonValue, *, has_calls: bool) -> JsonValue:
    """Why a reply ended, where calls of ours may have been taken out of it."""
    return reason if has_calls or not isinstance(reason, str) else _ENDINGS.get(reason, reason)
