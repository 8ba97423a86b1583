"""Refusals: whether a provider refused a request because it does not fit the model's context.

Only what the provider says is read, never what it repeats of the request.
"""

from typing import Final

SHOWN_CHARS: Final = 300
"""How much of what a provider says of an error is read: enough for its reason, too little for our request."""

_TOO_LONG: Final = (
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "exceeds the available context size",
    "maximum context length",
    "context length",
    "context window",
    "prompt is too long",
    "input is too long",
    "too large to process",
    "too many tokens",
    "reduce the length",
)
"""How a request that is too large is told, in a code or in words.

Source: the error pages of OpenAI and Anthropic; the servers of llama.cpp, vLLM and Ollama.
"""
_STATUSES: Final = frozenset({400, 413, 422, 500})
"""The statuses that come with it; 500 from servers that find out late."""


def is_too_long(status: int, *said: object) -> bool:
    """Whether a status, with the code, the type and the message of an error, means that a request does not fit."""
    words = " ".join(map(str, said)).lower()
    return status in _STATUSES and any(one in words for one in _TOO_LONG)


def find_message(body: object) -> str:
    """The sentence in the body of an error, in the places where servers put it."""
    if isinstance(body, dict):
        return next((find_message(body[key]) for key in ("error", "message", "detail") if body.get(key)), "")
    return body[:SHOWN_CHARS] if isinstance(body, str) else ""
