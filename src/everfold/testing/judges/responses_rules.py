"""What OpenAI's Responses endpoint accepts as `input`, rule by rule.

Nothing of Everfold is used here. Each call needs its output after it, of the type that belongs to it, each output its call
before it; reasoning is followed by the item that it led to; a message has a role and content.

Source: OpenAI API reference, "Create a model response", input items; and the texts of its 400 answers: "No tool output found for
function call", "No tool call found for function call output", "reasoning was provided without its required following
item".
"""

from collections.abc import Iterator, Mapping
from typing import Final

Wire = Mapping[str, object]
ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
ANSWERED: Final[Mapping[str, str]] = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "mcp_approval_request": "mcp_approval_response",
    "program": "program_output",
}
"""The calls, each with the type of its answer. A program may still run at the end: it waits for the client's results."""
OUTPUT_IDS: Final = {"mcp_approval_response": "approval_request_id", "local_shell_call_output": "id"}
"""Where an answer has the id of its call, when that is not `call_id`."""
ALONE: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "compaction",
        "item_reference",
    }
)
"""Items of the provider's own tools, and others that nothing answers."""
PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file", "input_audio", "refusal"})


def list_responses_violations(request: Wire) -> Iterator[str]:
    """Yield what the endpoint would refuse in `request`, in the order of the items."""
    items = request.get("input")
    if isinstance(items, str):
        return
    if not isinstance(items, list) or not items:
        yield "input: a text or a non-empty list is required"
        return
    open_calls: dict[object, str] = {}
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else {}
        yield from _check_item(item, following, open_calls, f"input[{index}]")
    waiting = [call_id for call_id, answer in open_calls.items() if answer != ANSWERED["program"]]
    yield from (f"input: no output answers call {call_id!r}" for call_id in waiting)


def _check_item(item: Wire, following: Wire, open_calls: dict[object, str], path: str) -> Iterator[str]:
    kind = str(item.get("type", "message"))
    if kind in ANSWERED:
        yield from _open(kind, item, open_calls, path)
    elif kind in ANSWERED.values():
        call_id = item.get("call_id") or item.get(OUTPUT_IDS.get(kind, "call_id"))
        if open_calls.pop(call_id, None) != kind:
            yield f"{path}: this {kind} answers no open call: {call_id!r}"
        if kind == "function_call_output" and not isinstance(item.get("output"), str | list):
            yield f"{path}.output: a text or a list of parts is required"
    elif kind == "message":
        yield from _check_message(item, path)
    elif kind == "reasoning":
        after = str(following.get("type", "message"))
        is_of_reply = (
            after in ANSWERED or after in ALONE or after == "reasoning" or following.get("role") == "assistant"
        )
        if not is_of_reply or not following:
            yield f"{path}: reasoning without the item that it led to"
    elif kind not in ALONE:
        yield f"{path}.type: unknown key {kind!r}"


def _open(kind: str, item: Wire, open_calls: dict[object, str], path: str) -> Iterator[str]:
    call_id = item.get("id" if kind == "mcp_approval_request" else "call_id")
    if not isinstance(call_id, str) or not call_id:
        yield f"{path}: a call needs an id"
    if call_id in open_calls:
        yield f"{path}: call {call_id!r} stands twice before its output"
    if kind == "function_call" and not (item.get("name") and isinstance(item.get("arguments"), str)):
        yield f"{path}: a function call needs a name and arguments"
    open_calls[call_id] = ANSWERED[kind]


def _check_message(item: Wire, path: str) -> Iterator[str]:
    if item.get("role") not in ROLES:
        yield f"{path}.role: {item.get('role')!r} is unknown"
    content = item.get("content")
    if not content or not isinstance(content, str | list):
        yield f"{path}.content: a text or a non-empty list of parts is required"
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, Mapping) or part.get("type") not in PARTS:
            yield f"{path}.content[{index}]: not one of the parts {', '.join(sorted(PARTS))}"
