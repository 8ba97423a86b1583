"""Text as index words: what search stores and asks for, the same in every store.

The words leave here ready: folded to lower case without accents, stemmed, composites whole and by part, CJK as
overlapping pairs. A store only splits them at spaces, so every dialect and the ranking of the core find the same.

A composite (`getUserById`, `src/foo_bar.py`, `RES-1234`) gives its parts and the whole, squeezed to one word without
its joints. A run of CJK characters gives each pair, and its last character alone, so that every single character
begins some word of the index and can be found as a prefix.

Most chunks between two spaces were met before, and are looked up. Of the others the most are prices, ids and times, each
its own and all of few shapes. What a chunk's words are made of hangs on its cases alone (`AAA-00000` of `ORD-66543`), so
it is worked out once for each, as places of the chunk's characters (`_Recipe`), and no chunk like it is cut again.

The reason is imports: 58 to 76 microseconds a message instead of 131 to 151, where a whole message may take 143 for the
7,000 messages a second of docs/adr/0028-plain-python.md. Of a turn it is about 7 %, which alone would be no reason.
Source: our measurement over 6,000 messages of `endless_log`, processor time.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase, digits
from typing import Final

from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

MAX_WORD_CHARS: Final = 64
"""Longer words are cut: people do not type them."""
MAX_COMPOSITE_CHARS: Final = 256
"""Of longer composites only the segments are words, not their parts: encoded data would fill the index with itself."""

_CJK: Final = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_RUN: Final = f"[{_CJK}]+"
_JOINT: Final = r"[-_./:@\\#&+]+"
_PIECE: Final = rf"[^\W_{_CJK}]+(?:(?:{_JOINT}|['\u2019](?=[^\W_]))[^\W_{_CJK}]+)*|[{_CJK}]+"
_ASCII_PIECE: Final = re.compile(rf"[A-Za-z0-9]+(?:(?:{_JOINT}|'(?=[A-Za-z0-9]))[A-Za-z0-9]+)*", re.ASCII)
"""The same for a text of ASCII only: in half the time, since no character is looked up."""
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_SEGMENT_END: Final = re.compile(r"[./:@\\#&+]+")
_ASCII_SEGMENTS: Final = bytes(32 if _SEGMENT_END.match(chr(code)) else code for code in range(256))
_MARKS: Final = ".,!?;:()[]{}'\"*`~"
_CONTRACTION: Final = re.compile(r"['\u2019](?:s|d|m|ll|re|ve)$", re.IGNORECASE)
_JOINT_BYTES: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_SEGMENT: Final = re.compile(r"[^./:@\\#&+]+")
_CASES: Final = bytes(
    ord(re.sub("[0-9]", "0", re.sub("[A-Z]", "A", re.sub("[a-z]", "a", chr(code))))) for code in range(256)
)
"""A for every capital, a for every other letter, 0 for every digit: all that cutting a composite looks at."""
_LOWER: Final = bytes(range(256)).lower()
_ONLY_LETTERS: Final = bytes(code if chr(code) in ascii_lowercase else 32 for code in range(256))
_ONLY_DIGITS: Final = bytes(code if chr(code) in digits else 32 for code in range(256))
_MOST_TURNS: Final = 1
"""What turns more often from a digit to a letter (hex, base64) has cases that hardly come again."""
_MOST_KEPT_DIGITS: Final = 4
"""Chunks of more digits hardly come again themselves. Source: our measurement over `endless_log`, one in five at most."""
_BLANK: Final = 255
_PADDING: Final = tuple([b" " * (256 - count) for count in range(MAX_WORD_CHARS + 1)])
"""What makes a table for `bytes.translate` of so many characters, with a space at `_BLANK`."""
_MOST_CHUNKS: Final = 131_072
_MOST_CASES: Final = 8_192
_APOSTROPHE: Final = re.compile(r"['\u2019]")
_GRAMMAR: Final = """
    a an the this that these those and or but if then than so as of at by for from in into on onto to with about
    i me my mine myself you your yours yourself he him his she her hers it its we us our ours they them their theirs
    be is am are was were been being do does did done doing have has had having can could will would shall should might must
    no nor not dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt havent hasnt hadnt
    there here just also too very some any all both each other such only own same while during through out up down off
    over under again once
"""
STOP_WORDS: Final = frozenset(map(stem, _GRAMMAR.split()))
"""Stems of the English words that carry grammar and no matter.

Source: the closed word classes of the language, without "may", which is a month too.
"""

_ACCENT: Final = re.compile("[\u0300-\u036f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def read_words(text: str) -> list[str]:
    """The index words of a text in order, with repeats. O(length)."""
    words: list[str] = []
    for chunk in text.split():
        words += _read_chunk(chunk) if len(chunk) <= MAX_WORD_CHARS else _read_pieces(chunk)
    return words


def read_matter(text: str) -> str:
    """The index words of a text without stop words, joined by spaces. O(length)."""
    return "".join(map(_KNOWN_MATTER.__getitem__, text.split()))[:-1]


class _Matter(dict[str, str]):
    """What was read of the chunks met so far, a space after each word: most chunks of a log have been seen before.

    Long chunks (links, data) and those of many digits (ids, times) are not kept: they would only fill it.
    """

    @staticmethod  # a bound method for each new chunk would cost as much as looking it up
    def __missing__(chunk: str) -> str:
        bare = chunk.strip(_MARKS)
        if bare.isalnum() and _is_plain(bare):
            word = stem(bare.lower()[:MAX_WORD_CHARS])
            return _keep(chunk, "" if word in STOP_WORDS else f"{word} ")
        if len(bare) <= MAX_WORD_CHARS and bare.isascii():
            characters = bare.encode()
            recipe = _KNOWN_RECIPES[characters.translate(_CASES)]
            if recipe is not None:
                matter = _follow(recipe, bare, characters)
                return _keep(chunk, matter) if recipe.is_kept else matter
            whole = bare.replace("-", "").replace("_", "")
            if whole.isalnum() and whole.islower():
                matter = _join_parts(_list_parts(bare), whole)
                return _keep(chunk, matter) if whole.isalpha() else matter
        return _keep(chunk, "".join([f"{word} " for word in _read_pieces(chunk) if word not in STOP_WORDS]))


def _keep(chunk: str, matter: str) -> str:
    if len(chunk) <= MAX_WORD_CHARS:
        if len(_KNOWN_MATTER) >= _MOST_CHUNKS:
            _KNOWN_MATTER.clear()
        _KNOWN_MATTER[chunk] = matter
    return matter


def _join_parts(parts: list[str], whole: str) -> str:
    """The matter of a composite of one segment: its parts, then all of it as one word."""
    matter = "".join([f"{part} " if part.isdigit() else _KNOWN_MATTER[part] for part in parts])
    return matter if len(parts) == 1 or whole in STOP_WORDS else f"{matter}{whole} "


class _Recipe:
    """What the matter of all chunks of the same cases is made of, by place in the chunk.

    Attributes:
        places: Of each character before the first word of letters; `_BLANK` for a space.
        words: Start and end of each word of letters alone, which is looked up, and the places of what follows it.
        is_kept: Whether such a chunk may well come again.
    """

    __slots__ = ("is_kept", "places", "words")

    def __init__(self, places: bytes, words: tuple[tuple[int, int, bytes], ...], *, is_kept: bool) -> None:
        self.places: Final = places
        self.words: Final = words
        self.is_kept: Final = is_kept


def _follow(recipe: _Recipe, chunk: str, characters: bytes) -> str:
    """The matter of a chunk: the places are translated by the chunk's characters as a table, many in one step."""
    table = (characters.translate(_LOWER) if recipe.words else characters) + _PADDING[len(chunk)]
    matter = recipe.places.translate(table).decode() if recipe.places else ""
    for start, end, places in recipe.words:
        matter += _KNOWN_MATTER[chunk[start:end]]
        if places:
            matter += places.translate(table).decode()
    return matter


class _Recipes(dict[bytes, _Recipe | None]):
    """The recipe for chunks by their cases; None for those that are read the long way."""

    def __missing__(self, cases: bytes) -> _Recipe | None:
        if cases.count(b"0a") + cases.count(b"0A") > _MOST_TURNS:
            return None
        if len(self) >= _MOST_CASES:
            self.clear()
        recipe = self[cases] = _write_recipe(cases.decode())
        return recipe


def _write_recipe(cases: str) -> _Recipe | None:
    """The recipe that gives what the long way does; None where more than the cases decides.

    An apostrophe may begin an ending, and letters squeezed together may be a stop word. What has no digit is kept.
    """
    if "0" not in cases or "'" in cases:
        return None
    words = [(0, 0)]
    places = [bytearray()]
    for start, end, is_part in _list_spans(cases):
        if "0" in cases[start:end]:
            places[-1] += bytes([at for at in range(start, end) if cases[at].isalnum()])
            places[-1].append(_BLANK)
        elif is_part:
            words.append((start, end))
            places.append(bytearray())
        else:
            return None
    steps = tuple([(start, end, bytes(after)) for (start, end), after in zip(words, places, strict=True)])
    return _Recipe(steps[0][2], steps[1:], is_kept=cases.count("0") <= _MOST_KEPT_DIGITS)


def _list_spans(cases: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of all that is a word, in the order of `_parts`, and whether it is a part or several squeezed."""
    for piece in _ASCII_PIECE.finditer(cases):
        segments = [segment.span() for segment in _SEGMENT.finditer(cases, *piece.span())]
        for segment in segments:
            parts = [part.span() for part in _PART.finditer(cases, *segment)]
            yield from ((*part, True) for part in parts)
            if len(parts) > 1:
                yield (*segment, False)
        if len(segments) > 1:
            yield (*piece.span(), False)


_KNOWN_RECIPES: Final = _Recipes()
_KNOWN_MATTER: Final = _Matter()


@lru_cache(maxsize=16_384)
def _read_chunk(chunk: str) -> tuple[str, ...]:
    """The words of what stands between two spaces; most chunks of a log have been seen before."""
    return tuple(_read_pieces(chunk))


def _is_plain(bare: str) -> bool:
    """Whether a chunk is one word of a-z, in lower case or with a capital first."""
    return bare.isalpha() and bare.isascii() and (bare.islower() or bare[1:].islower())


def _read_pieces(chunk: str) -> list[str]:
    bare = chunk.strip(_MARKS)
    if _is_plain(bare):
        return [stem(bare.lower()[:MAX_WORD_CHARS])]
    words: list[str] = []
    if chunk.isascii():
        for piece in _ASCII_PIECE.findall(chunk):
            words += _parts(piece)
        return words
    for piece in compile_pattern(_PIECE).findall(fold(chunk)):
        words += _pairs(piece) if compile_pattern(_CJK_RUN).match(piece) else _parts(piece)
    return words


def find_words(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Each word or composite where it stands: start, end and its index words; CJK pair by pair."""
    for match in compile_pattern(_PIECE).finditer(text):
        start, end = match.span()
        piece = match[0]
        if not piece.isascii() and compile_pattern(_CJK_RUN).match(piece):
            yield from ((at, at + 2, (text[at : at + 2], text[at])) for at in range(start, end - 1))
            yield end - 1, end, (text[end - 1],)
        else:
            yield start, end, _read_chunk(piece) if len(piece) <= MAX_WORD_CHARS else tuple(_read_pieces(piece))


def fold(text: str) -> str:
    """The text in compatibility form, without accents on Latin, Greek and Cyrillic letters; case stays.

    Lone surrogates become spaces: no database takes them.
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", _SURROGATE.sub(" ", text))
    return unicodedata.normalize("NFC", _ACCENT.sub("", decomposed))


def _pairs(run: str) -> list[str]:
    return [left + right for left, right in pairwise(run)] + [run[-1]]


def _parts(piece: str) -> list[str]:
    """A word alone, or a composite's parts, then its segments and its whole, each squeezed to one word."""
    has_apostrophe = "'" in piece or "\u2019" in piece
    plain = _APOSTROPHE.sub("", _CONTRACTION.sub("", piece)) if has_apostrophe else piece
    if plain.isdigit():
        return [plain[:MAX_WORD_CHARS]]
    segments = _list_segments(plain)
    if len(plain) > MAX_COMPOSITE_CHARS:
        return [word for segment in segments if (word := _squeeze(segment))]
    words: list[str] = []
    for segment in segments:
        parts = _list_parts(segment)
        words += [part[:MAX_WORD_CHARS] if part.isdigit() else stem(part.lower()[:MAX_WORD_CHARS]) for part in parts]
        if len(parts) > 1:
            words.append(_squeeze(segment))
    if len(segments) > 1:
        words.append(_squeeze(plain))
    return words


def _list_parts(segment: str) -> list[str]:
    """The words and numbers that a segment is cut into; where no capital decides, in a third of the time."""
    if not (segment.isascii() and segment.islower()):
        return _PART.findall(segment)
    parts: list[str] = []
    for run in segment.replace("_", "-").split("-"):
        if run.isalpha() or run.isdigit():
            parts.append(run)
        elif run:
            parts += _list_turns(run)
    return parts


def _list_turns(run: str) -> list[str]:
    """The words and numbers of a run of a-z and digits, which take turns."""
    characters = run.encode()
    letters = characters.translate(_ONLY_LETTERS).decode().split()
    numbers = characters.translate(_ONLY_DIGITS).decode().split()
    turns = [""] * (len(letters) + len(numbers))
    starts_with_number = run[0].isdigit()
    turns[starts_with_number::2] = letters
    turns[not starts_with_number :: 2] = numbers
    return turns


def _list_segments(composite: str) -> list[str]:
    """What stands between the joints that are no hyphen and no underscore; of ASCII through bytes, in a tenth of the time."""
    if composite.isascii():
        return composite.encode().translate(_ASCII_SEGMENTS).decode().split()
    return [segment for segment in _SEGMENT_END.split(composite) if segment]


def _squeeze(composite: str) -> str:
    lowered = composite.lower()
    if lowered.isascii():
        if lowered.isalnum():
            return lowered[:MAX_WORD_CHARS]
        return lowered.encode().translate(None, _JOINT_BYTES).decode()[:MAX_WORD_CHARS]
    return "".join(character for character in lowered if character.isalnum())[:MAX_WORD_CHARS]
