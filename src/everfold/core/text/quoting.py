"""Quoting: where a text says what a quote claims.

Models copy words faithfully and marks loosely: they straighten quotation marks, join lines, drop a space. So a quote is
looked for with those differences taken off both sides, and what is given back is the place in the text itself, whose
slice is the quote that is kept.

Source: own rule; every index is kept beside its character, since a text changes its length when it is normalised.
"""

from typing import Final

_DOUBLE: Final = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"
_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2032`\u00b4"
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212"
_SAME: Final = {ord(char): mark for marks, mark in ((_DOUBLE, '"'), (_SINGLE, "'"), (_DASHES, "-")) for char in marks}
_UNSEEN: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_EDGES: Final = " \t\n\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_ENDS: Final = "\u2026."


class Quotable:
    """A text that many quotes are looked for in: what is made alike in it is made once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._plain: tuple[str, list[int]] | None = None

    def find(self, quote: str) -> tuple[int, int] | None:
        """Start and end of a quote, None where the text does not say it; of several places the first.

        White space counts as one blank, and quotation marks and dashes of any form are alike. A quote that stands in
        marks of its own, or ends in a dot that the text does not have, is found without them. Case counts. O(length).
        """
        bare = quote.strip(_EDGES)
        if not bare:
            return None
        if (at := self.text.find(bare)) >= 0:
            return at, at + len(bare)
        if self._plain is None:
            self._plain = _normalise(self.text)
        plain, places = self._plain
        for wanted in dict.fromkeys((bare, bare.strip(f"{_ENDS} "))):
            sought = _normalise(wanted)[0].strip()
            if sought and (at := plain.find(sought)) >= 0:
                return places[at], places[at + len(sought) - 1] + 1
        return None


def _normalise(text: str) -> tuple[str, list[int]]:
    """The text with loose marks made alike, and for each of its characters the place that it has in the text."""
    chars: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char in _UNSEEN:
            continue
        plain = " " if char.isspace() else _SAME.get(ord(char), char)
        if plain == " " and chars and chars[-1] == " ":
            continue
        chars.append(plain)
        places.append(at)
    return "".join(chars), places
