"""What Pydantic AI raises, as our errors. Its client libraries sort a provider's errors; here they get our names."""

from typing import Final

import pydantic_ai.exceptions as given

from everfold.core.text.refusals import SHOWN_CHARS, find_message, is_too_long
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

_LATER_STATUSES: Final = frozenset({408, 409, 425})
"""A request that came at the wrong moment. Source: RFC 9110, 15.5.9 and 15.5.10; RFC 8470, 5.2."""


def translate(error: Exception, *, model: str, api_key: str | None) -> EverfoldError:
    """Our error for one of `FAULTS`; the key is never repeated in it."""
    why = _say_why(error, api_key)
    if _is_too_long(error):
        return ContextLengthError(f"the request is too large for the model {model} ({why}); send less", model=model)
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
                f"the reply of the model {model} cannot be read ({why}); check the address of the model",
                model=model,
            )


def _say_why(error: Exception, api_key: str | None) -> str:
    match error:
        case given.ModelHTTPError(status_code=status, body=body):
            text = f"HTTP {status}: {find_message(body)}" if find_message(body) else f"HTTP {status}"
        case _:
            text = f"{type(error).__name__}: {error}"
    if api_key:
        text = text.replace(api_key, "[the key]")
    return " ".join(text.split())[:SHOWN_CHARS]


def _is_too_long(error: Exception) -> bool:
    """Whether a request was refused for its size. Only what the server says is looked at, never what it repeats of ours."""
    if isinstance(error, given.ModelContextWindowExceededError):
        return True
    if not isinstance(error, given.ModelHTTPError):
        return False
    said = (error.provider_error_code, error.provider_error_type, find_message(error.body))
    return is_too_long(error.status_code, *said)
