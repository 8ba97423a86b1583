"""Meaning: whether two wire forms are the same message.

A program that hands over its history again seldom hands over the same bytes: text comes back as one text part, the
arguments of a call with other blanks, an answer without its last line break.
"""

import json

from everfold.core.log.messages import CallPart, MessageView, Part, ResultPart, TextPart
from everfold.core.primitives.json_values import canonical_json


def means_same(one: MessageView, other: MessageView) -> bool:
    """Whether two messages say the same: role, name, and part by part, in either provider's form.

    Text is compared without the white space around it, empty text not at all, and arguments of calls as JSON values.
    Any other part must be equal as it was given. Fields of a message that the view does not read are not compared.
    """
    return one == other or _tell(one) == _tell(other)


def _tell(view: MessageView) -> tuple[object, ...]:
    parts = [_tell_part(part) for part in view.parts if not isinstance(part, TextPart) or part.text.strip()]
    return (view.role, view.name, *parts)


def _tell_part(part: Part) -> tuple[object, ...]:
    match part:
        case TextPart():
            return (part.kind, part.text.strip())
        case CallPart():
            return (part.kind, part.id, part.name, _tell_arguments(part.arguments))
        case ResultPart():
            return (part.kind, part.call_id, part.text.strip(), part.is_error, part.image_count)
        case _:
            return (part.kind, canonical_json(part.raw))


def _tell_arguments(arguments: str) -> str:
    try:
        return canonical_json(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return arguments.strip()
