"""What an extract line gives to memory: the kind of item that it becomes, or nothing.

A line is remembered for what it is, not for its subject. What a user forbids or demands ("never push to main") is a
preference: how this user wants things done. A correction is a fact, the one that replaces another. What either side said
that it would do is a task. Of the assistant only what binds itself is taken; tool output and what came from outside give
nothing.

Source: DESIGN sections 1 (G9) and 4.
"""

from typing import Final, Literal

from everfold.core.extracts import ExtractLine, LineKind

ItemKind = Literal["fact", "preference", "decision", "task", "open_item"]

_OF_USER: Final[dict[LineKind, ItemKind]] = {
    "remember": "fact",
    "identity": "fact",
    "correction": "fact",
    "constraint": "preference",
    "preference": "preference",
    "decision": "decision",
    "commitment": "task",
}
_OF_ASSISTANT: Final[dict[LineKind, ItemKind]] = {"commitment": "task", "decision": "decision"}


def find_memory_kind(line: ExtractLine) -> ItemKind | None:
    """The kind of item that a line becomes, or None for what is not to be remembered."""
    if line.origin == "assistant":
        return _OF_ASSISTANT.get(line.kind)
    if line.origin != "user" or not (line.standing or line.kind == "commitment"):
        return None
    return _OF_USER.get(line.kind)
