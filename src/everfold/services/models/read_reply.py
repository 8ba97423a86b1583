"""Read a reply: what a model gave is checked before its first use, since a model is another program."""

import re
from typing import Final, get_args

from everfold.core.primitives.ids import CompactionId
from everfold.errors import ModelReplyError
from everfold.ports.models import Finish, ModelReply

_EXPECTED: Final = {
    "text": "a string",
    "finish": f"one of {', '.join(get_args(Finish))}",
    "model": "a string of whole characters without NUL",
    "input_tokens": "a whole number from 0 on",
    "cached_tokens": "a whole number from 0 on",
    "output_tokens": "a whole number from 0 on",
    "cost_usd": "None or a finite number from 0 on",
}
_END: Final = 2**63
"""What both stores keep ends before it."""


def read_reply(given: object, *, model: str, compaction_id: CompactionId | None) -> ModelReply:
    """The reply, once each of its fields is what it must be.

    Raises:
        ModelReplyError: it is none. The type of what came is named, never its words, which would outlive an erase.
    """
    if not isinstance(given, ModelReply):
        raise _refuse("the reply", given, "a ModelReply", model, compaction_id)
    for name, expected in _EXPECTED.items():
        if not _is_fit(name, getattr(given, name)):
            raise _refuse(f"the {name} of the reply", getattr(given, name), expected, model, compaction_id)
    return given


def _is_fit(name: str, value: object) -> bool:
    match name:
        case "text":
            return isinstance(value, str)
        case "model":
            return isinstance(value, str) and not re.search("[\0\ud800-\udfff]", value)
        case "finish":
            return isinstance(value, str) and value in get_args(Finish)
        case "cost_usd":
            return value is None or (isinstance(value, int | float) and 0 <= value < _END)
        case _:
            return isinstance(value, int) and 0 <= value < _END


def _refuse(what: str, came: object, expected: str, model: str, compaction_id: CompactionId | None) -> ModelReplyError:
    ids = {"model": model} | ({} if compaction_id is None else {"compaction": compaction_id})
    about = "" if compaction_id is None else f" for compaction {compaction_id}"
    return ModelReplyError(
        f"the model {model} failed{about}: {what} is an unfit {type(came).__name__}, expected {expected}. Correct the "
        "model, or configure another one",
        **ids,
    )
