"""A message of each wire form with everything that one can hold, and each place in them where something else may stand."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

_DATA: Final = "data:text/plain;base64,aGk="
OPENAI: Final[list[Any]] = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "name": "ada",
        "content": [
            {"type": "text", "text": "Remember: berth 1 is free."},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
            {"type": "file", "file": {"filename": "a.txt", "file_data": _DATA}},
        ],
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes."}, {"type": "refusal", "refusal": "No."}],
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            {"id": "c2", "type": "custom", "custom": {"name": "write", "input": "x"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "free"}]},
    {"role": "tool", "tool_call_id": "c2", "content": "done"},
]
ANTHROPIC: Final[list[Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Is berth 1 free?", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}, "title": "a"},
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
        ],
    },
    {
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "s"},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"berth": [1]}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": False, "content": [{"type": "text", "text": "x"}]}
        ],
    },
]
RESPONSES: Final[list[Any]] = [
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Is berth 1 free?"},
            {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"},
            {"type": "input_file", "filename": "a.txt", "file_data": _DATA},
        ],
    },
    {
        "object": "response",
        "output": [
            {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "s"}]},
            {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "x"}},
            {"type": "program", "id": "p1", "call_id": "k1", "code": "x"},
            {"type": "program_output", "id": "p2", "call_id": "k1", "result": "x"},
            {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "custom_tool_call", "id": "f2", "call_id": "c2", "name": "write", "input": "x"},
        ],
    },
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "free"}]},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
    {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "It is."}]},
]
TALKS: Final = {"openai": OPENAI, "anthropic": ANTHROPIC, "responses": RESPONSES}
"""By wire form, messages that can be appended one after the other."""


def list_wrong(talk: list[Any]) -> Iterator[list[Any]]:
    """The talk once for each place in it, an empty list or object in that place: no value of a set, and no key."""
    for path in list(_list_places(talk)):
        for wrong in ([], {}):
            changed = deepcopy(talk)
            at: Any = changed
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = wrong
            yield changed


def _list_places(value: object) -> Iterator[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, held in inside:
        yield (step,)
        yield from ((step, *rest) for rest in _list_places(held))
