"""How texts begin that a client puts in the user's place, and whose words follow."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from everfold.core.primitives.json_values import JsonValue, list_objects
from everfold.core.primitives.origins import AUTHORITY, Origin

_BEGIN_CHARS: Final = 64
"""More than the longest mark has."""


def list_marked(content: JsonValue, marks: Mapping[str, Origin]) -> list[Origin | None]:
    """Whose words each text of a content holds, by the mark that it begins with; None for a text without a mark.

    Args:
        content: A string, or a list of parts with their text under ``text``.
        marks: How a text begins, in lower case, and whose words it is then.
    """
    begins = [text.lstrip()[:_BEGIN_CHARS].lower() for text in _list_texts(content)]
    return [next((origin for mark, origin in marks.items() if begin.startswith(mark)), None) for begin in begins]


def find_least(origins: Iterable[Origin | None]) -> Origin | None:
    """The origin of the least authority; None where there is none."""
    return min((origin for origin in origins if origin is not None), key=AUTHORITY.__getitem__, default=None)


def _list_texts(content: JsonValue) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in list_objects(content):
        if isinstance(text := part.get("text"), str):
            yield text
