"""Inputs far longer than an error may repeat, and what finds too much of one in what is said."""

import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from everfold.errors import MOST_QUOTED_CHARS

_RANDOM: Final = random.Random(16)


def _draw(alphabet: str, count: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(count))


LETTERS: Final = "abcdefghijkmnopqrstuvwxyz23456789"

LONG: Final[Mapping[str, str]] = {
    "unbroken": _draw(LETTERS, 3_000),
    "words": _draw(LETTERS + " " * 9, 3_000),
    "quotes": _draw(LETTERS + "'\"` " * 4, 3_000),
    "wide": _draw("港湾倉庫鍵番号東西南北春夏秋冬", 2_000),
}
"""Texts without repetition, so that a piece of one is found wherever it stands."""


def find_repeated(said: str, long: str) -> str:
    """A piece of an input that stands in a text and is longer than an error may quote; empty for none.

    Frames, line breaks and escapes that a terminal or JSON puts between are not counted.
    """
    long_pieces = _list_pieces(long)
    return next((piece for piece in _cut(said) if piece in long_pieces), "")


@cache
def _list_pieces(long: str) -> frozenset[str]:
    return frozenset(_cut(long))


def _cut(text: str) -> Iterator[str]:
    squeezed, size = _squeeze(text), MOST_QUOTED_CHARS + 1
    return (squeezed[at : at + size] for at in range(len(squeezed) - size + 1))


def _squeeze(text: str) -> str:
    return re.sub(r"[\s│\\'\"`]+", "", text)
