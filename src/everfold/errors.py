"""Every exception of Everfold.

    EverfoldError
    ├── UsageError                    the caller asked for something that cannot be
    │   ├── InvalidInputError         422  a value is not what it must be
    │   ├── MalformedRequestError     400  a request cannot be read
    │   ├── NotFoundError             404  no such session, message or event
    │   └── ConflictError             409  the state is not the one that the caller expected
    │       └── OpenStepError         409  calls of the newest step wait for their results
    ├── LimitError                    a bound would be passed
    │   ├── BudgetUnsatisfiableError  422  no window can fit; names the smallest limit that works
    │   ├── RateLimitedError          429
    │   └── OverBudgetError           422  a spend cap would be passed
    ├── ModelError                    a model did not serve
    │   ├── ModelUnavailableError     503
    │   ├── ModelReplyError           502
    │   └── ContextLengthError        502  the request is larger than the model takes
    ├── StoreError                    the store did not serve
    │   ├── StoreUnavailableError     503  locked, full, read-only or out of reach
    │   ├── SchemaError               500  written by a newer Everfold, or its migrations were changed
    │   └── CorruptStoreError         500  the file is no database, or damaged
    ├── AccessError                   the caller may not
    │   ├── UnauthenticatedError      401
    │   └── ForbiddenError            403
    ├── HookError                     503  no plug-in did what `hooks.strict` waits for
    ├── SourceError                   502  a context source has no answer to give
    │   └── SourceUnavailableError    503  out of reach, overloaded or too slow
    ├── ToolServerError               503  a server of tools cannot be used
    └── OutcomeUnknownError           500  a write failed, and may have been carried out all the same

A message says what failed, on which id, what was expected and what came, and what to do. The ids are attributes too.
What came is quoted with at most `MOST_QUOTED_CHARS` characters, whatever an error is raised with: see `shorten`.
"""

import re
from typing import ClassVar, Final

MOST_QUOTED_CHARS: Final = 200
"""How much an error repeats of one thing that came in. Source: own choice; an error is read in a log or a terminal."""
_LEFT_OUT: Final = " [...] "
_MOST_LINE_CHARS: Final = 600
_MOST_CHARS: Final = 4_000
_QUOTED: Final = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.|'(?=\w))*+'(?!\w)"""
    r"""|(?<!\w)"(?:[^"\\]|\\.|"(?=\w))*+"(?!\w)"""
    r"""|`[^`]*+`""",
    re.DOTALL,
)
"""What stands between quotes; an apostrophe within a word is none."""
_UNBROKEN: Final = re.compile(r"\S+")


def shorten(text: str) -> str:
    """A message in which everything that is quoted, and every unbroken run, has at most `MOST_QUOTED_CHARS` characters.

    `[...]` stands for what is left out in the middle. Lines and messages that are still long are cut likewise.
    """
    if len(text) <= MOST_QUOTED_CHARS:
        return text
    text = _cut(_UNBROKEN.sub(_cut_quoted, text), _MOST_CHARS)
    text = _QUOTED.sub(_cut_quoted, text)
    return "\n".join(_cut_line(line) for line in text.split("\n"))


def _cut_line(line: str) -> str:
    """A line of which, where it is too long, no more than that many characters in a row are left."""
    if len(line) <= _MOST_LINE_CHARS:
        return line
    return f"{line[:MOST_QUOTED_CHARS]}{_LEFT_OUT}{line[-MOST_QUOTED_CHARS:]}"


def _cut_quoted(found: re.Match[str]) -> str:
    return _cut(found[0], MOST_QUOTED_CHARS)


def _cut(text: str, most_chars: int) -> str:
    if len(text) <= most_chars:
        return text
    head = most_chars * 3 // 4
    return f"{text[:head]}{_LEFT_OUT}{text[head + len(_LEFT_OUT) - most_chars :]}"


class EverfoldError(Exception):
    """The root of every error that Everfold raises on purpose.

    Attributes:
        code: A stable word for programs.
        http_status: The status that a server answers with.
        exit_code: The exit code that a command ends with.
        retryable: Whether the same call may succeed later, unchanged.
        ids: The ids that the error speaks of, by name: session, seq, event, line, path ...; long ones are cut.
        own_words: The message without the words of a provider, which may quote what it was sent. Only these are stored
            beside the log, since an erase could not find what they quote.
    """

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **ids: str | int) -> None:
        super().__init__(shorten(message))
        self.own_words = str(self)
        self.ids: dict[str, str | int] = {
            name: _cut(value, MOST_QUOTED_CHARS) if isinstance(value, str) else value for name, value in ids.items()
        }


class UsageError(EverfoldError):
    """The caller asked for something that cannot be done as asked."""

    code = "usage"
    http_status = 422
    exit_code = 2


class InvalidInputError(UsageError):
    """A value is not what it must be; the session is as it was before."""

    code = "invalid_input"


class MalformedRequestError(UsageError):
    """A request cannot be read: an id in it has no form that an id has."""

    code = "malformed_request"
    http_status = 400


class NotFoundError(UsageError):
    """Nothing has the id that was named."""

    code = "not_found"
    http_status = 404
    exit_code = 3


class ConflictError(UsageError):
    """The state is not the one that the caller expected; read again, then decide again."""

    code = "conflict"
    http_status = 409
    exit_code = 4
    retryable = True


class OpenStepError(ConflictError):
    """The newest step is open: some of its calls have no result yet.

    Attributes:
        calls: The ids of those calls, in their order.
    """

    code = "open_step"

    def __init__(self, message: str, *, calls: tuple[str, ...] = (), **ids: str | int) -> None:
        super().__init__(message, calls=", ".join(calls), **ids)
        self.calls = calls


class LimitError(EverfoldError):
    """A bound would be passed."""

    code = "limit"
    http_status = 422
    exit_code = 5


class BudgetUnsatisfiableError(LimitError):
    """No window can fit the limit.

    Attributes:
        smallest_limit_tokens: The smallest context limit that works for this session as it is.
    """

    code = "budget_unsatisfiable"

    def __init__(self, message: str, *, smallest_limit_tokens: int, **ids: str | int) -> None:
        super().__init__(message, smallest_limit_tokens=smallest_limit_tokens, **ids)
        self.smallest_limit_tokens = smallest_limit_tokens


class RateLimitedError(LimitError):
    """Too many requests in too little time.

    Attributes:
        retry_after_secs: After how many whole seconds the same request passes; None where it is not known.
    """

    code = "rate_limited"
    http_status = 429
    retryable = True

    def __init__(self, message: str, *, retry_after_secs: int | None = None, **ids: str | int) -> None:
        super().__init__(message, **ids)
        self.retry_after_secs = retry_after_secs


class OverBudgetError(LimitError):
    """A spend cap would be passed."""

    code = "over_budget"


class ModelError(EverfoldError):
    """A model did not serve."""

    code = "model"
    http_status = 502
    exit_code = 6


class ModelUnavailableError(ModelError):
    """The model could not be reached, or did not answer in time."""

    code = "model_unavailable"
    http_status = 503
    retryable = True


class ModelReplyError(ModelError):
    """The model answered with something that cannot be used."""

    code = "model_reply"


class ContextLengthError(ModelError):
    """The request is larger than the model takes."""

    code = "context_length"


class StoreError(EverfoldError):
    """The store did not serve."""

    code = "store"
    exit_code = 7


class StoreUnavailableError(StoreError):
    """The store is locked, full, read-only or out of reach; nothing was half-written."""

    code = "store_unavailable"
    http_status = 503
    retryable = True


class SchemaError(StoreError):
    """The database was written by a newer Everfold, or one of its migrations was changed."""

    code = "schema"


class CorruptStoreError(StoreError):
    """The file is no database, or it is damaged."""

    code = "corrupt_store"


class AccessError(EverfoldError):
    """The caller may not do this."""

    code = "access"
    http_status = 403
    exit_code = 8


class UnauthenticatedError(AccessError):
    """The caller did not say who it is, or it could not be believed."""

    code = "unauthenticated"
    http_status = 401


class ForbiddenError(AccessError):
    """The caller is known and may not do this."""

    code = "forbidden"


class HookError(EverfoldError):
    """No plug-in saved what it should before a compaction, and `hooks.strict` keeps everything unfolded until one did."""

    code = "hook"
    http_status = 503
    exit_code = 9
    retryable = True


class SourceError(EverfoldError):
    """A context source has no answer to give: it is set wrongly, refuses us, or what it gave cannot be read."""

    code = "source"
    http_status = 502
    exit_code = 10


class SourceUnavailableError(SourceError):
    """The source could not be reached, is overloaded, or did not answer in time."""

    code = "source_unavailable"
    http_status = 503
    retryable = True


class ToolServerError(EverfoldError):
    """A server of an agent's tools could not be started or reached, or does not speak as it must."""

    code = "tool_server"
    http_status = 503
    exit_code = 11
    retryable = True


class OutcomeUnknownError(EverfoldError):
    """A write failed or was cut off, and may have been carried out, in whole or in part."""

    code = "outcome_unknown"
    exit_code = 12
