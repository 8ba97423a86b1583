"""What tools raise: what is meant for the model or the caller, and how a failure is told in one line."""

from collections.abc import Callable
from typing import Final

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed, UserError

from everfold.core.sources.source_texts import clean_line
from everfold.core.threats.redaction import redact_secrets

SHOWN_CHARS: Final = 300
"""How much of an error of a tool server is repeated."""
MEANT: Final = (ApprovalRequired, CallDeferred, ModelRetry, ToolFailed, UserError)
"""What a tool raises to tell the model or its caller something; none of them is a failure of the tool."""


def say_briefly(error: BaseException, *, hide: Callable[[str], str] = str) -> str:
    """An error of a tool server in one line, without secrets.

    Args:
        error: What is told.
        hide: Leaves out what else is not shown, before the line is cut.
    """
    return clean_line(redact_secrets(hide(f"{type(error).__name__}: {error}")), most_chars=SHOWN_CHARS)
