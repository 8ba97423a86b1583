"""What Pydantic AI raises, as our errors. Its client libraries sort a provider's errors; here they get our names."""

import re
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

_CODE: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)
"""An error code of a provider: a single word. A sentence, which could quote a message, does not match."""


def translate(error: Exception, *, model: str, api_key: str | None) -> EverfoldError:
    """Our error for one of `FAULTS`; the key is never repeated in it, and its own words do not quote the provider."""
    ours = _translate(error, model, _tidy(_say_why(error), api_key))
    ours.own_words = str(_translate(error, model, _tidy(_name_kind(error), api_key)))
    return ours


def _translate(error: Exception, model: str, why: str) -> EverfoldError:
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


def _say_why(error: Exception) -> str:
    match error:
        case given.ModelHTTPError(status_code=status, body=body):
            return f"HTTP {status}: {find_message(body)}" if find_message(body) else f"HTTP {status}"
        case _:
            return f"{type(error).__name__}: {error}"


def _name_kind(error: Exception) -> str:
    """The same in words that quote nothing: the status with the provider's codes, or the class of the error."""
    if not isinstance(error, given.ModelHTTPError):
        return type(error).__name__
    codes = dict.fromkeys(map(str, filter(None, (error.provider_error_type, error.provider_error_code))))
    return ", ".join([f"HTTP {error.status_code}", *filter(_CODE.fullmatch, codes)])


def _tidy(text: str, api_key: str | None) -> str:
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
