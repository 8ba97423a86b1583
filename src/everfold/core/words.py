"""Text as index words: what search stores and asks for, the same in every store.

The words leave here ready: folded to lower case without accents, stemmed, composites whole and by part, CJK as
overlapping pairs. A store only splits them at spaces, so every dialect and the in-memory ranking find the same.

A composite (`getUserById`, `src/foo_bar.py`, `RES-1234`) gives its parts and the whole, squeezed to one word without
its joints. A run of CJK characters gives each pair, and its last character alone, so that every single character
begins some word of the index and can be found as a prefix.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from everfold.core.stems import stem

MAX_WORD_CHARS = 64
"""Longer words are cut: nobody types them."""
MAX_COMPOSITE_CHARS = 256
"""Of longer composites only the segments are words, not their parts: encoded data would fill the index with itself."""

_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_JOINT = r"[-_./:@\\#&+]+"
_PIECE = re.compile(rf"[^\W_{_CJK}]+(?:(?:{_JOINT}|['\u2019](?=[^\W_]))[^\W_{_CJK}]+)*|[{_CJK}]+")
_ASCII_PIECE = re.compile(rf"[A-Za-z0-9]+(?:(?:{_JOINT}|'(?=[A-Za-z0-9]))[A-Za-z0-9]+)*", re.ASCII)
"""The same for a text of ASCII only: in half the time, since no character is looked up."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_SEGMENT_END = re.compile(r"[./:@\\#&+]+")
_ASCII_SEGMENTS = bytes(32 if _SEGMENT_END.match(chr(code)) else code for code in range(256))
_MARKS = ".,!?;:()[]{}'\"*`~"
_CONTRACTION = re.compile(r"['\u2019](?:s|d|m|ll|re|ve)$", re.IGNORECASE)
_JOINT_BYTES = bytes(code for code in range(128) if not chr(code).isalnum())
_MOST_PRICE_CHARS = 21
_SHORT_PRICE_CHARS = 5
"""There are so few prices of this length that they come again, and fill nothing."""
_match_code = re.compile(r"([A-Z]{2,20})-([0-9]{1,20})").fullmatch
"""`81.58` and `ORD-66543`, the two composites that logs are full of, are read in one step; a test holds it to the long way."""
_CASES = bytes(ord(re.sub("[0-9]", "0", re.sub("[A-Z]", "A", re.sub("[a-z]", "a", chr(code))))) for code in range(256))
"""A for every capital, a for every other letter, 0 for every digit: all that cutting a composite looks at."""
_MOST_CHUNKS = 131_072
_MOST_CASES = 8_192
_APOSTROPHE = re.compile(r"['\u2019]")
_GRAMMAR = """
    a an the this that these those and or but if then than so as of at by for from in into on onto to with about
    i me my mine myself you your yours yourself he him his she her hers it its we us our ours they them their theirs
    be is am are was were been being do does did done doing have has had having can could will would shall should might must
    no nor not dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt havent hasnt hadnt
    there here just also too very some any all both each other such only own same while during through out up down off
    over under again once
"""
STOP_WORDS = frozenset(map(stem, _GRAMMAR.split()))
"""Stems of the English words that carry grammar and no matter.

Source: the closed word classes of the language, without "may", which is a month too.
"""

_ACCENT = re.compile("[\u0300-\u036f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def read_words(text: str) -> list[str]:
    """The index words of a text in order, with repeats. O(length)."""
    words: list[str] = []
    for chunk in text.split():
        words += _read_chunk(chunk) if len(chunk) <= MAX_WORD_CHARS else _read_pieces(chunk)
    return words


def read_matter(text: str) -> str:
    """The index words of a text without stop words, joined by spaces. O(length)."""
    return " ".join(filter(None, map(_KNOWN_MATTER.__getitem__, text.split())))


class _Matter(dict[str, str]):
    """What was read of the chunks met so far: most chunks of a log have been seen before.

    What is read in one step is not kept, unless it is short, nor long chunks (links, data): they would only fill it.
    """

    def __missing__(self, chunk: str) -> str:
        bare = chunk.strip(_MARKS)
        if bare.isalpha():
            if bare.isascii() and (bare.islower() or bare[1:].islower()):
                word = stem(bare.lower()[:MAX_WORD_CHARS])
                return self._keep(chunk, "" if word in STOP_WORDS else word)
        elif bare.isascii() and len(bare) <= MAX_WORD_CHARS:
            first, point, second = bare.partition(".")
            if point and first.isdigit() and second.isdigit() and len(bare) <= _MOST_PRICE_CHARS:
                price = f"{first} {second} {first}{second}"
                return price if len(chunk) > _SHORT_PRICE_CHARS else self._keep(chunk, price)
            if (code := _match_code(bare)) is not None:
                letters, digits = code.groups()
                whole = letters.lower() + digits
                return f"{word} {digits} {whole}" if (word := self[letters]) else f"{digits} {whole}"
            whole = bare.replace("-", "").replace("_", "")
            if whole.isalnum():
                return self._keep(chunk, self._join_parts(bare, whole.lower()))
        return self._keep(chunk, " ".join([word for word in _read_pieces(chunk) if word not in STOP_WORDS]))

    def _keep(self, chunk: str, matter: str) -> str:
        if len(chunk) <= MAX_WORD_CHARS:
            if len(self) >= _MOST_CHUNKS:
                self.clear()
            self[chunk] = matter
        return matter

    def _join_parts(self, composite: str, whole: str) -> str:
        """The matter of an ASCII composite of one segment (`SN83-0e8`): its parts, then all of it as one word."""
        cuts = _KNOWN_CUTS[composite.encode().translate(_CASES)]
        words = [composite[start:end] if is_number else self[composite[start:end]] for start, end, is_number in cuts]
        if len(cuts) > 1 and whole not in STOP_WORDS:
            words.append(whole)
        return " ".join(filter(None, words) if "" in words else words)


class _Cuts(dict[bytes, tuple[tuple[int, int, bool], ...]]):
    """Where the parts of a composite lie and which are numbers, by its cases: those of a log's ids are few.

    Looking them up takes half of the time of cutting.
    """

    def __missing__(self, cases: bytes) -> tuple[tuple[int, int, bool], ...]:
        if len(self) >= _MOST_CASES:
            self.clear()
        parts = _PART.finditer(cases.decode())
        cuts = self[cases] = tuple([(*part.span(), part[0].isdigit()) for part in parts])
        return cuts


_KNOWN_CUTS: Final = _Cuts()
_KNOWN_MATTER: Final = _Matter()


@lru_cache(maxsize=65_536)
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
    for piece in _PIECE.findall(fold(chunk)):
        words += _pairs(piece) if _CJK_RUN.match(piece) else _parts(piece)
    return words


def find_words(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Each word or composite where it stands: start, end and its index words; CJK pair by pair."""
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if _CJK_RUN.match(match[0]):
            yield from ((at, at + 2, (text[at : at + 2], text[at])) for at in range(start, end - 1))
            yield end - 1, end, (text[end - 1],)
        else:
            yield start, end, tuple(read_words(match[0]))


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
        parts = _PART.findall(segment)
        words += [part[:MAX_WORD_CHARS] if part.isdigit() else stem(part.lower()[:MAX_WORD_CHARS]) for part in parts]
        if len(parts) > 1:
            words.append(_squeeze(segment))
    if len(segments) > 1:
        words.append(_squeeze(plain))
    return words


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
