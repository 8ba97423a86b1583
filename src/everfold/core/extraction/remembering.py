"""The kind of item that an extract line becomes, or none.

The kind of a line decides, not its subject. What a user forbids or demands ("never push to main") is a preference: how
this user wants things done. A correction is a fact, the one that replaces another. What either side said that it would
do is a task. Of the assistant's lines only its own promises are taken; tool output and text from outside give none.

Source: DESIGN sections 1 (G9) and 4.
"""

from typing import Final

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
_TELLING: Final[frozenset[LineKind]] = frozenset(("lead", "name", "date", "number", "identifier", "path"))
"""Kinds that say what a sentence holds and not what it is for: it may tell a fact of the speaker's."""


def find_memory_kind(line: ExtractLine, *, before: str | None = None) -> ItemKind | None:
    """The kind of item that a line becomes, or None for what is not to be remembered.

    Args:
        line: A line of a message.
        before: What was said just before that message: a user who answers a question about himself tells a fact.
    """
    _, origin, kind, _, quote, _, standing, _, lasting = line
    if origin != "user":
        return _OF_ASSISTANT.get(kind) if lasting and origin == "assistant" else None
    if lasting or standing:
        return _OF_USER.get(kind)
    if kind in _TELLING and tells_lasting(quote, kind):
        return "fact"
    return "fact" if before is not None and is_answer(quote, before=before) else None
