"""What Pydantic AI raises, as our errors. Its client libraries sort a provider's errors; here they get our names."""

from typing import Final

import pydantic_ai.exceptions as given

from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
)

FAULTS: Final = (RuntimeError, OSError, ValueError, LookupError, TypeError, AttributeError)
"""What a request may raise: the libraries' own errors are RuntimeErrors; the others are what they stumble with over an
odd answer."""

_SHOWN_CHARS: Final = 300
"""How much of what a provider says of an error is repeated: enough for its reason, too little for our request."""

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
    "too many tokens",
    "reduce the length",
)
"""How a request that is too large is told, in a code or in words.

Source: the error pages of OpenAI and Anthropic; the servers of llama.cpp, vLLM and Ollama.
"""
_TOO_LONG_STATUSES: Final = frozenset({400, 413, 422, 500})
"""The statuses that come with it; 500 from servers that find out late."""
_LATER_STATUSES: Final = frozenset({408, 409, 425})
"""A request that came at the wrong moment. Source: RFC 9110, 15.5.9 and 15.5.10; RFC 8470, 5.2."""


def translate(error: Exception, *, model: str, api_key: str | None) -> EverfoldError:
    """Our error for one of `FAULTS`; the key is never repeated in it."""
    why = _say_why(error, api_key)
    if _is_too_long(error):
        return ContextLengthError(f"the request is larger than the model {model} takes ({why}); send less", model=model)
    match error:
        case given.ModelRateLimitError():
            return RateLimitedError(
                f"the model {model} has had too many requests ({why}); wait, then try again", model=model
            )
        case (
            given.ModelUnavailableError()
            | given.ModelServerError()
            | given.ModelConnectionError()
            | given.ModelRequestTimeout()
        ):
            return ModelUnavailableError(f"the model {model} did not serve ({why}); try again", model=model)
        case given.ModelHTTPError(status_code=status) if status in _LATER_STATUSES:
            return ModelUnavailableError(f"the model {model} did not serve ({why}); try again", model=model)
        case given.ModelHTTPError():
            return ModelReplyError(
                f"the model {model} refused the request ({why}); check its name, its API key and its account",
                model=model,
            )
        case _:
            return ModelReplyError(
                f"the model {model} gave no answer that can be read ({why}); check that its address is one of a model",
                model=model,
            )


def _say_why(error: Exception, api_key: str | None) -> str:
    match error:
        case given.ModelHTTPError(status_code=status, body=body):
            text = f"HTTP {status}: {_find_message(body)}" if _find_message(body) else f"HTTP {status}"
        case _:
            text = f"{type(error).__name__}: {error}"
    if api_key:
        text = text.replace(api_key, "[the key]")
    return " ".join(text.split())[:_SHOWN_CHARS]


def _is_too_long(error: Exception) -> bool:
    """Whether a request was refused for its size. Only what the server says is looked at, never what it repeats of ours."""
    if isinstance(error, given.ModelContextWindowExceededError):
        return True
    if not isinstance(error, given.ModelHTTPError) or error.status_code not in _TOO_LONG_STATUSES:
        return False
    said = f"{error.provider_error_code} {error.provider_error_type} {_find_message(error.body)}".lower()
    return any(words in said for words in _TOO_LONG)


def _find_message(body: object) -> str:
    """The sentence in the body of an error, in the places where servers put it."""
    if isinstance(body, dict):
        return next((_find_message(body[key]) for key in ("error", "message", "detail") if body.get(key)), "")
    return body[:_SHOWN_CHARS] if isinstance(body, str) else ""
