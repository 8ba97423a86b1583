"""Characters that show nothing or turn the direction of what they enclose, where writing has no use for them.

Most have a use somewhere: the joiner in emoji and in Indic scripts, the non-joiner in Persian, the zero-width space
between Thai words, the soft hyphen in any long word, a variation selector behind a symbol, an isolate around a name.
What is told here is the rest: between Latin letters, in runs, or turning Latin text around.

Source: Unicode UTS 51 (emoji sequences), UAX 9 (bidirectional text), UAX 14 and UTS 37 (zero-width space, ideographic
variation); the classes of attack are those known as tag smuggling and source that reads differently from how it shows.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

from everfold.core.text.patterns import compile_pattern
from everfold.core.threats.disguises import UNSEEN

_ANY: Final = f"[{UNSEEN}\u0008\u007f\u2800]"
_TURNING: Final = "[\u202a-\u202e\u2066-\u2069]"
_TAGGED_FLAG: Final = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_SOFT_HYPHENS_COUNT: Final = 2
"""How many soft hyphens stand between two letters of a word at least, when they are there to hyphenate."""

_JOINING_SCRIPTS: Final = "[\u0590-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff\u1800-\u18af\u1900-\u1aff\ua840-\ua87f\ua8e0-\ua9df\uaa00-\uaadf\ufb1d-\ufdff\ufe70-\ufefc]"
"""Scripts from Hebrew and Arabic to Khmer and Mongolian, in which joiners and zero-width spaces have a use."""
_IDEOGRAPH: Final = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_RIGHT_TO_LEFT: Final = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_PICTURE: Final = "[\u00a9\u00ae\u2122\u2139\u203c\u2049\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_KEYCAPS: Final = "0123456789#*"
_SELECTORS: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_OPENERS: Final = {
    "\u202a": "\u202c",
    "\u202b": "\u202c",
    "\u202d": "\u202c",
    "\u202e": "\u202c",
    "\u2066": "\u2069",
    "\u2067": "\u2069",
    "\u2068": "\u2069",
}
_TURNERS: Final = frozenset("\u202b\u202d\u202e\u2067")


def find_invisible(text: str) -> tuple[int, int] | None:
    """The first run of characters that show nothing and have no use where they stand, or None. O(length)."""
    if text.isascii() and "\b" not in text and "\x7f" not in text:
        return None
    allowed = {place for flag in compile_pattern(_TAGGED_FLAG).finditer(text) for place in range(*flag.span())}
    for match in compile_pattern(_ANY).finditer(text):
        at = match.start()
        if at not in allowed and not compile_pattern(_TURNING).match(match[0]) and not _has_use(text, at):
            return at, _end_of_run(text, at)
    return None


def strip_unseen(text: str) -> str:
    """The text without what shows nothing and has no use where it stands, and without marks that turn text. O(length)."""
    if text.isascii() and "\b" not in text and "\x7f" not in text:
        return text
    text = compile_pattern(_TURNING).sub("", text)
    while (span := find_invisible(text)) is not None:
        text = text[: span[0]] + text[span[1] :]
    return text


def find_turned(text: str) -> tuple[int, int] | None:
    """The first place where marks turn Latin text around, or are left open at the end of a line, or None. O(length)."""
    if text.isascii() or not compile_pattern(_TURNING).search(text):
        return None
    offset = 0
    for line in text.splitlines(keepends=True):
        for start, end in _find_turned_in_line(line):
            return offset + start, offset + end
        offset += len(line)
    return None


def _find_turned_in_line(line: str) -> Iterator[tuple[int, int]]:
    opened: list[int] = []
    for match in compile_pattern(_TURNING).finditer(line):
        if match[0] in _OPENERS:
            opened.append(match.start())
        elif not opened or _OPENERS[line[opened[-1]]] != match[0]:
            yield match.span()
        else:
            start = opened.pop()
            if _turns(line[start], line[start + 1 : match.start()]):
                yield start, match.end()
    if opened:
        yield opened[0], opened[0] + 1


def _turns(mark: str, inside: str) -> bool:
    """Whether the mark shows letters that run from left to right in another order."""
    return mark in _TURNERS and any(map(str.isalpha, inside)) and not compile_pattern(_RIGHT_TO_LEFT).search(inside)


def _end_of_run(text: str, start: int) -> int:
    end = start + 1
    while end < len(text) and compile_pattern(_ANY).match(text[end]):
        end += 1
    return end


def _has_use(text: str, at: int) -> bool:
    """Whether writing has a use for the character where it stands."""
    char = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == "\ufeff":
        return at == 0
    if char == "\u00ad":
        return _hyphenates(text, at)
    if char in "\u200b\u200c\u200d":
        return _joins(char, before, after)
    if char in "\u200e\u200f\u061c":
        return not (before.isalnum() and before.isascii() and after.isalnum() and after.isascii())
    if compile_pattern(_SELECTORS).match(char):
        return _selects(char, before, after)
    if "\u180b" <= char <= "\u180f":
        return "\u1800" <= before <= "\u18af"
    if char in "\u115f\u1160\uffa0\u17b4\u17b5":
        return (
            bool(after) and unicodedata.category(after) in {"Lo", "Mn", "Mc"} and not compile_pattern(_ANY).match(after)
        )
    return False


def _joins(char: str, before: str, after: str) -> bool:
    if compile_pattern(_JOINING_SCRIPTS).match(before):
        return True
    if char == "\u200b":
        return bool(compile_pattern(_IDEOGRAPH).match(before))
    return char == "\u200d" and bool(
        (compile_pattern(_PICTURE).match(before) or before == "\ufe0f") and compile_pattern(_PICTURE).match(after)
    )


def _selects(char: str, before: str, after: str) -> bool:
    if not before or compile_pattern(_ANY).match(before):
        return False
    if compile_pattern(_IDEOGRAPH).match(before) or compile_pattern(_PICTURE).match(before):
        return True
    return char == "\ufe0f" and (before in _KEYCAPS and after == "\u20e3")


def _hyphenates(text: str, at: int) -> bool:
    """A hyphenated word has some letters on each side; one that is torn apart letter by letter has not."""
    near = text[max(at - _SOFT_HYPHENS_COUNT, 0) : at], text[at + 1 : at + 1 + _SOFT_HYPHENS_COUNT]
    return all(len(side) == _SOFT_HYPHENS_COUNT and side.isalpha() for side in near)
