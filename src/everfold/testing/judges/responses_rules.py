"""What OpenAI's Responses endpoint accepts as `input`, as far as the doors to its clients depend on it.

Nothing of Everfold is used here. Each function call needs its output after it, each output its call before it, and both
once; a message has a role and content.

Source: OpenAI API reference, "Create a model response", input items; and the texts of its 400 answers.
"""

from collections.abc import Iterator, Mapping

Wire = Mapping[str, object]
ROLES = frozenset({"user", "assistant", "system", "developer"})


def list_responses_violations(request: Wire) -> Iterator[str]:
    """Yield what the endpoint would refuse in `request`, in the order of the items."""
    items = request.get("input")
    if isinstance(items, str):
        return
    if not isinstance(items, list) or not items:
        yield "input: a text or a non-empty list is required"
        return
    open_ids: list[object] = []
    for index, item in enumerate(items):
        yield from _check_item(item, open_ids, f"input[{index}]")
    yield from (f"input: no output answers call {call_id!r}" for call_id in open_ids)


def _check_item(item: Wire, open_ids: list[object], path: str) -> Iterator[str]:
    call_id = item.get("call_id")
    match item.get("type", "message"):
        case "function_call":
            open_ids.append(call_id)
        case "function_call_output" if call_id in open_ids:
            open_ids.remove(call_id)
        case "function_call_output":
            yield f"{path}.call_id: {call_id!r} answers no open call before it"
        case "message":
            if item.get("role") not in ROLES:
                yield f"{path}.role: {item.get('role')!r} is unknown"
            if not item.get("content"):
                yield f"{path}.content: is empty"
        case "reasoning":
            pass
        case kind:
            yield f"{path}.type: {kind!r} is unknown"
