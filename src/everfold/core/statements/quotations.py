"""Quotations: what a text holds between marks of quotation, and whether its writer quotes himself."""

import re
from typing import Final, NamedTuple

_OPENING: Final = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\u2018": "\u2019",
    "\u2039": "\u203a",
}
_QUOTE_SIGNS: Final = re.compile(
    "[\"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]|`(?!``)|(?<![\\w'`])'(?=\\w)(?!(?:cause|em|til|till|bout|tis|twas|round|n)\\b)|(?<=[\\w.!?,])'(?![\\w'])|\u2018|\u2019(?!\\w)"
)
_MENTION_WORDS: Final = 2
"""A quotation of so few words is a name or a word that is spoken of."""
_TITLE: Final = re.compile(
    r"(?!(?:Always|Never|Only|Don['\u2019]t|Do|Please|Remember|Ignore|Must|You Must|From)\b)[A-Z\d][\w'\u2019-]*[,:]?"
    r"(?: (?:(?:a|an|and|at|by|de|for|from|in|la|le|of|on|or|the|to|with|&)|[A-Z\d][\w'\u2019-]*[,:]?)){1,7}[.,]?"
)
"""The name of a song or a book, with the stop of the sentence around it. Source: the usual style of English titles."""
_MOST_QUOTED_CHARS: Final = 6_000
_OWN_QUOTE: Final = re.compile(
    r"(?:(?<![\w'])(?:i|we|ich|wir|je|j'ai|yo|io|eu|ik|я)(?![\w'])[^.!?\n\"]{0,30}\b(?:said|say|told|tell|wrote|write|mean|meant|repeat|sage|sagte|gesagt|schrieb|dis|dit|dije|dicho|detto|disse|zei|сказал\w*)\b"
    r"|\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|mi|mis|mio|mia|meu|minha|mijn|мо[йяеё])\b[^.!?\n\"]{0,40}(?:is|are|ist|sind|est|es|è|é|:)"
    r"|\b(?:remember|note|keep in mind|rule|merk dir|denk daran|retiens|recuerda|ricorda|lembre)\b[^.!?\n\"]{0,24})[^.!?\n\"]{0,24}[:,]?[ \t]*$"
    r"|\b(?:sign|begin|start|open|end|close|address|label|title|name|mark)\b[^.!?\n\"]{0,40}\b(?:as|with)[ \t]*$",
    re.IGNORECASE,
)


class Quotation(NamedTuple):
    """Words between marks of quotation, the marks included."""

    start: int
    end: int
    is_closed: bool


def list_quotations(text: str) -> list[Quotation]:
    """The outermost quotations of more than two words; one that is not closed reaches to the end of its line."""
    found: list[Quotation] = []
    opened: list[tuple[int, str]] = []
    for sign in _QUOTE_SIGNS.finditer(text):
        at, mark = sign.start(), sign[0]
        if opened and at - opened[0][0] > _MOST_QUOTED_CHARS:
            opened.clear()
        if opened and opened[-1][1] in "'`" and "\n" in text[opened[-1][0] : at]:
            opened.pop()
        if opened and mark in opened[-1][1] and not (mark == '"' and _opens(text, at)):
            start, _ = opened.pop()
            if not opened:
                found.append(Quotation(start, at + 1, is_closed=True))
        elif mark in _OPENING or (mark in "\"'`" and _opens(text, at)):
            opened.append((at, _OPENING.get(mark, mark)))
    if opened and opened[0][1] not in "'`":
        start = opened[0][0]
        end = text.find("\n", start)
        found.append(Quotation(start, end if end >= 0 else len(text), is_closed=False))
    return [one for one in found if len(text[one.start : one.end].split()) > _MENTION_WORDS or _is_wide(text, one)]


def _opens(text: str, at: int) -> bool:
    """Whether a mark that has one form for both begins a quotation."""
    after = text[at + 1 : at + 2]
    return (
        (at == 0 or not (text[at - 1].isalnum() or text[at - 1] in ".,!?%)]")) and bool(after) and not after.isspace()
    )


def _is_wide(text: str, one: Quotation) -> bool:
    return any("\u2e80" <= char <= "\uffdc" for char in text[one.start + 1 : one.start + 9])


def is_title(text: str, one: Quotation) -> bool:
    """Whether the name of a song or a book is quoted: every word but the small ones begins with a capital, and none orders."""
    return one.is_closed and _TITLE.fullmatch(text, one.start + 1, one.end - 1) is not None


def is_own_quote(text: str, one: Quotation) -> bool:
    """Whether the writer quotes himself, or gives his own rule in marks of quotation."""
    before = text[max(one.start - 120, 0) : one.start]
    return _OWN_QUOTE.search(before) is not None
