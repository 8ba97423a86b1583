"""A text as a reader takes it in: letters that look alike made equal, what is not seen left out, codes written out.

`fold` changes a text character by character, so that each place in the result can be traced to its place in the raw
text: compatibility forms and letters in circles become letters, marks over Latin letters go, what is invisible goes,
and in a word that mixes alphabets the Cyrillic and Greek letters that look Latin become Latin. `list_readings` gives
what else a model would read out of it: letters set apart, words broken by markup, digits for letters, and character
references, percent signs, base64 and hexadecimal digits decoded, one level deep.

Source: Unicode UAX 15 (NFKC, NFKD), UTS 39 (mixed scripts); the letters that look alike are chosen from its table of
confusables; RFC 4648 for base64.
"""
# ruff: noqa: RUF001  (letters that look like others are what this is about)

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_MOST_CACHED: Final = 8_192
"""How many characters the folding remembers, so that a text of all of Unicode does not stay in memory."""

_ALIKE_FROM: Final = "аеорсхуіјѕһԁԛԝкмтвнгпАВЕКМНОРСТХУІЈЅԌԚԜαβερτυικνογχωηΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցհօյ"
_ALIKE_TO: Final = "aeopcxyijshdqwkmtbhrnABEKMHOPCTXYIJSGQWabeptuikvoyxwnABEZHIKMNOPTYXnugho" + "j"
_ALIKE: Final = str.maketrans(_ALIKE_FROM, _ALIKE_TO)
_ALIKE_WORD: Final = re.compile(rf"[a-zA-Z{_ALIKE_FROM}]{{1,60}}")
_HAS_ALIKE: Final = re.compile(f"[{_ALIKE_FROM}]")
_HAS_OTHER: Final = re.compile(f"(?![{_ALIKE_FROM}])[\u0370-\u03ff\u0400-\u052f\u0531-\u0587]")
_LATIN: Final = re.compile("[a-zA-Z]")

_SINGLE: Final = {
    **dict(zip(range(0x1F150, 0x1F16A), "abcdefghijklmnopqrstuvwxyz", strict=True)),
    **dict(zip(range(0x1F170, 0x1F18A), "abcdefghijklmnopqrstuvwxyz", strict=True)),
    **dict(zip(range(0x1F1E6, 0x1F200), "abcdefghijklmnopqrstuvwxyz", strict=True)),
    **{
        ord(char): plain for char, plain in zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɡɑ", "abcdefghijklmnoprstuvwyzga", strict=True)
    },
    **{ord(char): plain for char, plain in zip("ıøłđØŁĐ", "ioldOLD", strict=True)},
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    ord("ß"): "ss",
    ord("ẞ"): "SS",
    ord("æ"): "ae",
    ord("œ"): "oe",
    ord("ς"): "σ",
}

UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The characters that show nothing of their own, as the inside of a character class.

Source: Unicode, Default_Ignorable_Code_Point, and the interlinear annotation characters.
"""
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_COMBINING: Final = range(0x300, 0x370)


class _Folding(dict[int, str]):
    """What each character is folded to, found when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = _fold_char(chr(code))
        if len(self) < _MOST_CACHED:
            self[code] = folded
        return folded


def _fold_char(char: str) -> str:
    code = ord(char)
    if code in _SINGLE:
        return _SINGLE[code]
    if code in _COMBINING or _UNSEEN.match(char):
        return ""
    parts = unicodedata.normalize("NFKD", char)
    if parts[0].isascii():
        return "".join(part for part in parts if ord(part) not in _COMBINING)
    return unicodedata.normalize("NFKC", char)


_FOLDING: Final = _Folding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A folded text, and the way back.

    Attributes:
        raw: The text as it was written.
        text: The same without disguises, in the case it was written in.
        lowered: `text` in small letters, with spaces for underscores; as long as `text`.
    """

    raw: str
    text: str
    lowered: str

    def find_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from start to end of `text` stand in the raw text. O(length)."""
        if self.raw.isascii():
            return start, end
        raw_start, raw_end, at = len(self.raw), len(self.raw), 0
        for index, char in enumerate(self.raw):
            at += 1 if char.isascii() else len(_FOLDING[ord(char)])
            if at > start:
                raw_start = min(raw_start, index)
            if at >= end:
                raw_end = index + 1
                break
        return min(raw_start, raw_end), raw_end


def fold(text: str) -> Folded:
    """The text without disguises. O(length)."""
    plain = text if text.isascii() else _unify(text.translate(_FOLDING))
    return Folded(raw=text, text=plain, lowered=plain.lower().replace("_", " "))


def _unify(text: str) -> str:
    """Letters that look Latin as Latin ones, in words that have Latin ones or where their own script has no others."""
    if not _HAS_ALIKE.search(text):
        return text
    is_alone = not _HAS_OTHER.search(text)

    def replace(match: re.Match[str]) -> str:
        return match[0].translate(_ALIKE) if is_alone or _LATIN.search(match[0]) else match[0]

    return _ALIKE_WORD.sub(replace, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a part of a raw text reads as once it is decoded, in small letters."""

    text: str
    start: int
    end: int


_APART: Final = re.compile(r"(?<!\w)\w(?:[^\w\n]{1,3}\w(?!\w)){7,300}")
_SOME_APART: Final = re.compile(r"\w[^\w\n]{1,3}\w[^\w\n]{1,3}\w[^\w\n]{1,3}\w[^\w\n]")
_GAPS: Final = re.compile(r"\W{1,3}")
_TAG: Final = re.compile(r"<[^<>]{0,80}>")
_DIGIT_IN_WORD: Final = re.compile(r"[a-z][013457@$][a-z]")
_WORD: Final = re.compile(r"[\w@$]{2,40}")
_LEET: Final = str.maketrans("013457@$", "oieastas")
_CODE: Final = r"&#(?:x[0-9a-fA-F]{2,6}|[0-9]{2,7});|%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
_CODES: Final = re.compile(f"(?:{_CODE}){{3}}")
_ONE_CODE: Final = re.compile(_CODE)
_CHUNK: Final = re.compile(r"[A-Za-z0-9+/]{20}")
_BASE64: Final = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{20,2000}")
_HEX: Final = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){12,1000}")
_AROUND_CHARS: Final = 200
_MOST_CHUNKS: Final = 16
_TRIED_CHARS: Final = 24
"""How much of a chunk must decode to letters before all of it is decoded."""
_BASE64_DIGITS: Final = {
    char: number for number, char in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}


def list_readings(folded: Folded) -> Iterator[Reading]:
    """What else the text, or a part of it, can be read as. O(length)."""
    text = folded.text
    for match in _APART.finditer(folded.lowered) if _SOME_APART.search(folded.lowered) else ():
        start, end = folded.find_span(match.start(), match.end())
        yield Reading(text=_close_up(match[0]), start=start, end=end)
    if "</" in text and (span := _find_span(_TAG, text)):
        yield _read_around(folded, span, lambda part: _TAG.sub("", part))
    if span := _find_span(_DIGIT_IN_WORD, folded.lowered, least_count=2):
        yield _read_around(folded, span, lambda part: _WORD.sub(_read_digits, part.lower()))
    if span := _find_span(_CODES, text):
        yield _read_around(folded, span, lambda part: _ONE_CODE.sub(_write_out, part))
    if not _CHUNK.search(text):
        return
    for pattern, decode in ((_BASE64, _decode_base64), (_HEX, _decode_hex)):
        for _, match in zip(range(_MOST_CHUNKS), pattern.finditer(text), strict=False):
            if _is_plain(decode(match[0][:_TRIED_CHARS])) and " " in (decoded := decode(match[0])):
                start, end = folded.find_span(match.start(), match.end())
                yield Reading(text=decoded.lower(), start=start, end=end)


def _find_span(pattern: re.Pattern[str], text: str, *, least_count: int = 1) -> tuple[int, int] | None:
    """From the first place of a pattern to the end of its last, when there are enough."""
    spans = [match.span() for match in pattern.finditer(text)]
    return (spans[0][0], spans[-1][1]) if len(spans) >= least_count else None


def _read_around(folded: Folded, span: tuple[int, int], decode: Callable[[str], str]) -> Reading:
    """What stands at a place and around it, decoded: a wording may begin before a code or go on behind it."""
    first, last = max(span[0] - _AROUND_CHARS, 0), min(span[1] + _AROUND_CHARS, len(folded.text))
    start, end = folded.find_span(first, last)
    return Reading(text=decode(folded.text[first:last]).lower().replace("_", " "), start=start, end=end)


def _close_up(letters: str) -> str:
    """Letters set apart as words: the gap that is most frequent goes, others are between words."""
    gaps = Counter(gap[0] for gap in _GAPS.finditer(letters))
    (usual, _), *_ = gaps.most_common(1)
    return _GAPS.sub(lambda gap: "" if gap[0] == usual else " ", letters)


def _read_digits(word: re.Match[str]) -> str:
    return word[0] if word[0].isdigit() else word[0].translate(_LEET)


def _write_out(code: re.Match[str]) -> str:
    digits = code[0].strip("&#;%\\").lower()
    is_decimal = code[0].startswith("&#") and not digits.startswith("x")
    number = int(digits, 10) if is_decimal else int(digits.lstrip("ux"), 16)
    return chr(number) if number < 0x110000 else ""  # noqa: PLR2004  (the end of Unicode)


def _decode_base64(chunk: str) -> str:
    """Four digits at a time; a rest of one digit holds no character."""
    parts: list[bytes] = []
    for at in range(0, len(chunk), 4):
        digits = chunk[at : at + 4]
        bits = 0
        for digit in digits.ljust(4, "A"):
            bits = bits << 6 | _BASE64_DIGITS[digit]
        parts.append(bits.to_bytes(3, "big")[: len(digits) * 3 // 4])
    return b"".join(parts).decode("latin-1")


def _decode_hex(chunk: str) -> str:
    return bytes.fromhex(chunk).decode("latin-1")


def _is_plain(text: str) -> bool:
    return text.isascii() and text.replace("\n", " ").isprintable()
