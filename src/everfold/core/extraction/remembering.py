"""The kind of item that an extract line becomes, or none.

The kind of a line decides, not its subject. What a user forbids or demands ("never push to main") is a preference: how
this user wants things done. A correction is a fact, the one that replaces another. What either side said that it would
do is a task. Of the assistant's lines only its own promises are taken; tool output and text from outside give none.

Source: DESIGN sections 1 (G9) and 4.
"""

import re
from typing import Final

from everfold.core.extraction.self_contained import (
    LEAST_MATTER,
    find_identity,
    has_own_turn,
    is_advice,
    is_self_contained,
    is_small_talk,
    lower,
)
from everfold.core.memory.items import ItemKind
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.telling import is_answer, tells_lasting

_OF_USER: Final[dict[LineKind, ItemKind]] = {
    "remember": "fact",
    "identity": "fact",
    "correction": "fact",
    "constraint": "preference",
    "preference": "preference",
    "decision": "decision",
    "commitment": "task",
    "task": "task",
    "question": "open_item",
}
_OF_ASSISTANT: Final[dict[LineKind, ItemKind]] = {"commitment": "task", "decision": "decision"}
_OF_SELF: Final = re.compile(r"^(?!since\b|because\b|for\b|about\b).*\b(?:i|i'm|my|we|our)\b", re.IGNORECASE)
_BOUND: Final[frozenset[LineKind]] = frozenset(("remember", "constraint", "correction"))
_TELLING: Final[frozenset[LineKind]] = frozenset(("lead", "name", "date", "number", "identifier", "path"))
"""Kinds that say what a sentence holds and not what it is for: it may tell a fact of the speaker's."""


def find_memory_kind(line: ExtractLine, *, before: str | None = None) -> ItemKind | None:
    """The kind of item that a line becomes, or None for what is not to be remembered.

    Args:
        line: A line of a message.
        before: What was said just before that message: a user who answers a question about himself tells a fact.
    """
    found = _find_kind(line)
    if found is not None:
        return found if _is_of_use(line) else None
    return "fact" if line.origin == "user" and before is not None and is_answer(line.quote, before=before) else None


def is_bare_answer(line: ExtractLine) -> bool:
    """Whether a line is an item only as the answer to a question, and says too little without it."""
    if _find_kind(line) is not None:
        return False
    return _OF_SELF.search(line.quote) is None or not is_self_contained(line.quote)


def _find_kind(line: ExtractLine) -> ItemKind | None:
    """The kind by the line's own kind, whether or not it is of use alone."""
    _, origin, kind, _, quote, _, standing, _, lasting = line
    if origin != "user":
        return _OF_ASSISTANT.get(kind) if lasting and origin == "assistant" else None
    if lasting or standing:
        return _OF_USER.get(kind)
    if kind in _TELLING and (tells_lasting(quote, kind) or find_identity(lower(quote))):
        return "fact"
    return None


def _orders(quote: str) -> bool:
    """Whether a limit binds others too; what the speaker alone has to do must be understood alone."""
    return not has_own_turn(lower(quote)) or is_self_contained(quote)


def _is_of_use(line: ExtractLine) -> bool:
    """Whether an item of it is understood alone. Orders and corrections say what they speak of by what they change."""
    if line.kind in _BOUND:
        if is_advice(line.quote) or is_small_talk(line.quote):
            return False
        return line.kind != "constraint" or _orders(line.quote)
    return is_self_contained(line.quote, least_matter=1 if line.kind == "preference" else LEAST_MATTER)
