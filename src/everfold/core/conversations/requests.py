"""Requests of clients: what is read of a body in each provider's form, and the same body with other messages.

Everything else in a body is the client's own and is passed on: model, sampling, tools, members that are not known here.

Source: the API references of OpenAI (chat completions, Responses) and Anthropic (messages).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from everfold.core.conversations.hashes import GivenMessage, read_given
from everfold.core.log.messages import WireFormat
from everfold.core.log.responses import group_items
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, JsonValue, list_objects
from everfold.errors import InvalidInputError

MOST_MARKS: Final = 4
"""Cache breakpoints in one request. Source: Anthropic's documented limit."""
_SYSTEM: Final = ("system", "developer")
_HELD_BY_PROVIDER: Final = ("previous_response_id", "conversation", "prompt")
"""Members by which the provider itself holds a part of the request, so that its history cannot be known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequest:
    """What is read of a request.

    Attributes:
        system: The system prompt as text; empty for none.
        lead: The leading system messages of the list, as they came.
        tools: The tool schemas as they came.
        messages: The rest of the list, each a message of the log.
        held_by: The member by which the provider holds a part of the history; empty for none.
        is_streamed: The reply is to be streamed.
        choices_count: How many replies are asked for.
    """

    form: WireFormat
    body: JsonObject
    system: str
    lead: tuple[JsonObject, ...]
    tools: tuple[JsonValue, ...]
    messages: tuple[JsonObject, ...]
    held_by: str = ""
    is_streamed: bool = False
    choices_count: int = 1

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.body.get("model", ""))


def read_request(form: WireFormat, body: JsonValue) -> ClientRequest:
    """What a body asks.

    Raises:
        InvalidInputError: it is no request of this form.
    """
    if not isinstance(body, dict):
        raise InvalidInputError(f"the body must be a JSON object, got {type(body).__name__}")
    items = _read_items(form, body)
    lead_count = 0
    if form != "anthropic":
        lead_count = next((at for at, item in enumerate(items) if item.get("role") not in _SYSTEM), len(items))
    rest = items[lead_count:]
    tools = body.get("tools")
    return ClientRequest(
        form=form,
        body=body,
        system=_read_system(form, body, items[:lead_count]),
        lead=tuple(items[:lead_count]),
        tools=tuple(tools) if isinstance(tools, list) else (),
        messages=tuple(cast("Sequence[JsonObject]", list(group_items(rest))) if form == "responses" else rest),
        held_by=_find_held(form, body, rest),
        is_streamed=body.get("stream") is True,
        choices_count=count if isinstance(count := body.get("n"), int) else 1,
    )


def _read_items(form: WireFormat, body: JsonObject) -> list[JsonObject]:
    name = "input" if form == "responses" else "messages"
    items = body.get(name)
    if form == "responses" and isinstance(items, str):
        return [{"role": "user", "content": items}]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidInputError(f"{name} must be a list of objects")
    return cast("list[JsonObject]", items)


def _read_system(form: WireFormat, body: JsonObject, lead: Sequence[JsonObject]) -> str:
    own = body.get({"anthropic": "system", "responses": "instructions"}.get(form, ""))
    texts = [_read_text(own), *(_read_text(message.get("content")) for message in lead)]
    return "\n".join(filter(None, texts))


def _read_text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        [str(part["text"]) for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    )


def _find_held(form: WireFormat, body: JsonObject, items: Sequence[JsonObject]) -> str:
    if form != "responses":
        return ""
    held = next((name for name in _HELD_BY_PROVIDER if body.get(name) is not None), "")
    is_referring = any(item.get("type") == "item_reference" for item in items)
    return held or ("item_reference" if is_referring else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """The messages of a request with what recognising needs of each."""

    wires: tuple[JsonObject, ...]
    given: tuple[GivenMessage, ...]


def read_list(request: ClientRequest, before: ReadList | None = None) -> ReadList:
    """What recognising needs of a request's messages.

    What a request has in common with the one before it is not read again: to compare is a tenth of the cost.

    Raises:
        InvalidInputError: a message cannot be read.
    """
    count = 0 if before is None else count_common(before.wires, request.messages)
    known = () if before is None else before.given[:count]
    new = [read_given(wire, read_wire(wire, wire_format=request.form)) for wire in request.messages[count:]]
    return ReadList(wires=request.messages, given=(*known, *new))


def count_common(one: Sequence[JsonObject], other: Sequence[JsonObject]) -> int:
    """How many messages two lists begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(one), len(other)))


def order_results(read: ReadList) -> ReadList:
    """The same list with the results of each step in the order of its calls, whichever order they came in."""
    order = list(range(len(read.given)))
    for first, end in _find_runs(read.given):
        calls = read.given[first - 1].calls if first else ()
        order[first:end] = sorted(order[first:end], key=lambda at: _find_place(calls, read.given[at]))
    if order == sorted(order):
        return read
    return ReadList(wires=tuple([read.wires[at] for at in order]), given=tuple([read.given[at] for at in order]))


def _find_runs(given: Sequence[GivenMessage]) -> list[tuple[int, int]]:
    """The stretches of two and more results that follow one another."""
    runs: list[tuple[int, int]] = []
    first = None
    for at, message in enumerate((*given, None)):
        if message is not None and message.answers:
            first = at if first is None else first
        elif first is not None:
            if at - first > 1:
                runs.append((first, at))
            first = None
    return runs


def _find_place(calls: Sequence[str], message: GivenMessage) -> int:
    return min([calls.index(answer) if answer in calls else len(calls) for answer in message.answers])


def write_request(request: ClientRequest, rendered: Mapping[str, JsonValue], *, has_prompt: bool) -> JsonObject:
    """The client's body with the messages of a rendered window in place of its own.

    The client's system prompt and tools stay as they came, since a window only measures them.

    Args:
        request: With the client's body.
        rendered: The window in the request's form.
        has_prompt: The window has a system prompt, which is the first of its messages in OpenAI's chat form.
    """
    body = dict(request.body)
    if request.form == "responses":
        body["input"] = [*request.lead, *cast("list[JsonValue]", rendered["input"])]
        return body
    messages = cast("list[JsonObject]", rendered["messages"])
    if request.form == "anthropic":
        body["messages"] = cast("list[JsonValue]", messages)
        _bound_marks(body, messages)
        return body
    body["messages"] = [*request.lead, *messages[has_prompt:]]
    return body


def _bound_marks(body: JsonObject, messages: Sequence[JsonObject]) -> None:
    """Take away the first cache marks of the messages where those of system prompt and tools leave no place for them."""
    fixed = [*list_objects(body.get("system")), *list_objects(body.get("tools"))]
    free = MOST_MARKS - sum("cache_control" in block for block in fixed)
    marked = [
        block for message in messages for block in list_objects(message.get("content")) if "cache_control" in block
    ]
    for block in marked[: max(len(marked) - free, 0)]:
        del block["cache_control"]
