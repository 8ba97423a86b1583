"""How texts begin that a client puts in the user's place, and whose words follow."""

from collections.abc import Iterator, Mapping
from typing import Final

from everfold.core.primitives.json_values import JsonValue, list_objects
from everfold.core.primitives.origins import AUTHORITY, Origin

_BEGIN_CHARS: Final = 64
"""More than the longest mark has."""


def find_marked(content: JsonValue, marks: Mapping[str, Origin]) -> Origin | None:
    """The least of the origins that the marks of a content's texts stand for; None where no text begins with one.

    Args:
        content: A string, or a list of parts with their text under ``text``.
        marks: How a text begins, in lower case, and whose words it is then.
    """
    begins = [text.lstrip()[:_BEGIN_CHARS].lower() for text in _list_texts(content)]
    found = [origin for begin in begins for mark, origin in marks.items() if begin.startswith(mark)]
    return min(found, key=AUTHORITY.__getitem__, default=None)


def _list_texts(content: JsonValue) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in list_objects(content):
        if isinstance(text := part.get("text"), str):
            yield text
