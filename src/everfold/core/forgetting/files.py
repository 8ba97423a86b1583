"""What an erase takes out of memory files."""

from itertools import pairwise
from typing import Final

from everfold.core.text.words import read_matter

_LEAST_ID_CHARS: Final = 4
"""A shorter number stands in a line by chance. Source: own choice; a year has four."""


def forget_lines(content: str, gone_words: frozenset[str]) -> str:
    """A file without the lines that repeat something erased.

    A line does where it has a number or id of it, two of its words in a row, or is nothing but one of its words. It may
    have been written from elsewhere; a note of an agent is lost rather than that erased words stay.

    Args:
        content: Of the file.
        gone_words: The index words of what is erased, without stop words.
    """
    return "\n".join(line for line in content.split("\n") if not _repeats(read_matter(line).split(), gone_words))


def _repeats(words: list[str], gone_words: frozenset[str]) -> bool:
    held = [word in gone_words for word in words]
    if not any(held):
        return False
    has_id = any(
        is_held and len(word) >= _LEAST_ID_CHARS and any(char.isdigit() for char in word)
        for word, is_held in zip(words, held, strict=True)
    )
    return has_id or len(words) == 1 or any(one and other for one, other in pairwise(held))
