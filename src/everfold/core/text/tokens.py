"""How many tokens a text stands for: one fixed estimate, the same for the same text for ever.

No tokenizer runs here. A byte-pair tokenizer cuts a text where the *kind* of character changes, and cuts long runs
again, so its count is close to linear in how often certain neighbours meet: a letter and a space, a digit and a
point, four digits in a row. The estimate maps every byte to one of eight classes (`_KINDS`), counts the patterns of
`_WEIGHTS` in the result, and sums weights that were fitted once against a real tokenizer.

Characters outside ASCII cost by the first byte of their UTF-8 form, which tells their script.

The weights aim about 8 % above the real count: too many tokens waste a little of the window, too few break a request.
They are part of the stored data (retention is decided by them), so they never change for a log that exists.

Source: fitted by `bench/fit_tokens.py`, measured by `bench/tokens_accuracy.py`; DESIGN 3.1, one fixed estimator.
"""

import json
import re
import unicodedata
from typing import Final, NamedTuple

from everfold.errors import InvalidInputError

MESSAGE_OVERHEAD_TOKENS: Final = 4
"""What the framing of one message costs beside its text: three separators and the role.

Source: OpenAI's documented rule for counting chat messages (three tokens a message, the role encoded as one).
"""


IMAGE_TOKENS: Final = 1600
"""What an image of unknown size costs at most.

Source: Anthropic documents width * height / 750 with images scaled down to about 1,600 tokens; OpenAI documents
85 + 170 a tile with at most eight tiles in high detail, 1,445 tokens.
"""

LOW_DETAIL_IMAGE_TOKENS: Final = 85
"""What an image in low detail costs. Source: OpenAI's documented price of `detail: low`."""


_JOINER: Final = "\u200d"
_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
"""The two halves of a character beyond the first 65,536, where a text holds them apart."""


def _kind_table() -> bytes:
    """The class of every byte as a character: letter `a`, capital `A`, digit `0`, blank, line's end, tab, other ASCII `.`.

    First bytes of Latin letters with accents count as letters, of other scripts as `?`, which no pattern has.
    """
    table = bytearray(b"." * 0x80 + b"?" * 0x80)
    for members, kind in (
        (range(0x61, 0x7B), "a"),
        (range(0xC3, 0xCA), "a"),
        (range(0x41, 0x5B), "A"),
        (range(0x30, 0x3A), "0"),
        (b" ", " "),
        (b"\n", "\n"),
        (b"\t", "\t"),
    ):
        for byte in members:
            table[byte] = ord(kind)
    return bytes(table)


_LEAD_COSTS: Final[tuple[tuple[int, int], ...]] = (
    (0xC2, 20),  # signs: degree, section, no-break space
    (0xC3, 24),  # Latin letters of western Europe, beside what they cost as letters
    (0xC4, 50),  # other Latin letters
    (0xCA, 30),  # phonetic letters, combining accents
    (0xCE, 23),  # Greek
    (0xD0, 15),  # Cyrillic
    (0xD2, 30),
    (0xD7, 25),  # Hebrew
    (0xD8, 19),  # Arabic
    (0xDC, 40),
    (0xE0, 30),  # Indic scripts, Thai
    (0xE1, 40),
    (0xE2, 24),  # typographic signs, arrows, boxes, mathematics
    (0xE3, 22),  # kana
    (0xE4, 22),  # Han
    (0xEA, 22),  # Hangul
    (0xEE, 50),
    (0xEF, 30),  # full-width forms, variation selectors
    (0xF0, 62),  # emoji and rare scripts
)
"""From which first byte of a UTF-8 form on a character costs how many twentieths of a token.

Source: our measurement; a little over what a character of running text costs in cl100k_base, by the texts of
`bench/token_corpora.py`. Scripts that share a first byte cost what the dearest of them does.
"""


_MOST_BYTES_PER_TOKEN: Final = 50
"""The floor under texts of one long run. Source: our measurement; runs of spaces come to 127 a token in cl100k_base, of dashes to 64."""


def _lead_cost_table() -> bytes:
    table = bytearray(256)
    for first, cost in _LEAD_COSTS:
        table[first:] = bytes([cost]) * (256 - first)
    return bytes(table)


_KINDS: Final = _kind_table()
_LEAD_COST: Final = _lead_cost_table()
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_ASCII_AND_CONTINUATION: Final = bytes(range(0xC0))

_BASE: Final = 1000
_WEIGHTS: Final[dict[str, int]] = {
    "a": 29, "a ": 928, "aaaaaaaa": 785,
    "a.": 539, ".a": 1034, ". ": 1115,
    "..": 405, "........": -917,
    "A": 507, "AA": -355,
    "aA": 2643, "aAa": -2903,
    "0": 678, "000": -1015, "0a": 1201, "0 ": 1176, "0.": 1181, "0A": 1869, "0A0": -2921,
    "\n": 35, "a\n": 1619, "\n  ": 1606, ".\n": 797, "0\n": 1582,
    "\t": 125, "\ta": 2980,
}  # fmt: skip
"""Patterns over the classes and their thousandths of a token; counted without overlap.

Source: `bench/fit_tokens.py`, least squares of the relative error against cl100k_base.
"""


class MiddleCut(NamedTuple):
    """A text without its middle: `head + text[elided_start:elided_end] + tail` is the text again."""

    head: str
    tail: str
    elided_start: int
    elided_end: int


def estimate_text_tokens(text: str) -> int:
    """The fixed estimate of a text's tokens; 0 for the empty text, else between 1 and its UTF-8 bytes.

    Errs on the high side. Nearly additive: the estimates of two halves sum to that of the whole, give or take a
    few tokens. Takes any str, lone surrogates too. O(n), a few microseconds for a sentence.
    """
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KINDS, _CONTINUATION).decode("ascii")
    millitokens = _BASE + 50 * sum(data.translate(_LEAD_COST, _ASCII_AND_CONTINUATION))
    millitokens += sum([weight * kinds.count(pattern) for pattern, weight in _WEIGHTS.items()])
    return min(max(millitokens // 1000, len(data) // _MOST_BYTES_PER_TOKEN, 1), len(data))


def estimate_json_tokens(value: object) -> int:
    """The estimate of a JSON value, such as a tool's schema, in its compact text.

    Raises:
        InvalidInputError: the value is not JSON: another type, a circle, NaN or an infinity.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"cannot estimate the tokens of a {type(value).__name__}: expected a JSON value ({error}); "
            "pass dicts with text keys, lists, texts, finite numbers, booleans or None"
        ) from error
    return estimate_text_tokens(text)


def estimate_image_tokens(detail: str | None = None) -> int:
    """The estimate of an image whose size is not known, by its wanted detail; anything but "low" costs the most."""
    return LOW_DETAIL_IMAGE_TOKENS if detail == "low" else IMAGE_TOKENS


def truncate_to_tokens(text: str, cap_tokens: int, *, head_share: float = 0.6) -> MiddleCut:
    """Cut the middle out of a text so that the estimates of head and tail sum to at most the cap.

    A text within the cap comes back whole as the head. The cuts fall at a line's end when one is near, else between
    words, and never inside a CR LF, a surrogate pair, or a character and what joins to it. The head gets its share
    of the cap and the tail what is left. One estimate of the whole, then O(what is kept).

    Raises:
        InvalidInputError: the cap is negative, or the share is not within 0 and 1.
    """
    if cap_tokens < 0:
        raise InvalidInputError(f"cannot truncate to {cap_tokens} tokens: expected a cap of 0 or more")
    if not 0 <= head_share <= 1:
        raise InvalidInputError(f"cannot give the head a share of {head_share}: expected 0 to 1")
    if estimate_text_tokens(text) <= cap_tokens:
        return MiddleCut(text, "", len(text), len(text))
    head = _fit_head(text, int(cap_tokens * head_share))
    tail = _fit_tail(text[len(head) + 1 :], cap_tokens - estimate_text_tokens(head))
    return MiddleCut(head, tail, len(head), len(text) - len(tail))


def _fit_head(text: str, cap_tokens: int) -> str:
    """The longest beginning of a text that fits the cap and ends at a good place."""
    size = _fit_size(text, cap_tokens, from_end=False)
    cut = _nearest_break(text, size, size - size // 5, backwards=True)
    while cut > 0 and (_is_joined(text, cut) or estimate_text_tokens(text[:cut]) > cap_tokens):
        cut -= 1
    return text[:cut]


def _fit_tail(text: str, cap_tokens: int) -> str:
    """The longest end of a text that fits the cap and begins at a good place."""
    size = _fit_size(text, cap_tokens, from_end=True)
    start = len(text) - size
    cut = _nearest_break(text, start, start + size // 5, backwards=False)
    while cut < len(text) and (_is_joined(text, cut) or estimate_text_tokens(text[cut:]) > cap_tokens):
        cut += 1
    return text[cut:]


def _fit_size(text: str, cap_tokens: int, *, from_end: bool) -> int:
    """How many characters of one end fit the cap: doubling until it is passed, then halving the interval."""
    low, high = 0, min(len(text), 4 * cap_tokens)
    while high < len(text) and _fits(text, high, cap_tokens, from_end=from_end):
        low, high = high, min(len(text), 2 * high + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(text, middle, cap_tokens, from_end=from_end):
            low = middle
        else:
            high = middle - 1
    return low


def _fits(text: str, size: int, cap_tokens: int, *, from_end: bool) -> bool:
    part = text[len(text) - size :] if from_end else text[:size]
    return estimate_text_tokens(part) <= cap_tokens


def _nearest_break(text: str, cut: int, furthest: int, *, backwards: bool) -> int:
    """The place after a line's end, else after a space, between the cut and the furthest place; else the cut."""
    if cut in (0, len(text)):
        return cut
    for mark in ("\n", " "):
        found = text.rfind(mark, furthest, cut) if backwards else text.find(mark, cut - 1, furthest)
        if found >= 0:
            return found + 1
    return cut


def _is_joined(text: str, cut: int) -> bool:
    """Whether the characters on both sides of a cut read as one."""
    if not 0 < cut < len(text) or text[cut - 1 : cut + 1].isascii():
        return text[cut - 1 : cut + 1] == "\r\n"
    before, after = text[cut - 1], text[cut]
    if _SURROGATES.match(text, cut - 1):
        return True
    return _JOINER in (before, after) or _extends(after) or (_is_flag(before) and _is_flag(after))


def _extends(character: str) -> bool:
    """Whether a character only changes the one before it: an accent, a variation selector, a skin tone."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me") or "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_flag(character: str) -> bool:
    """Whether a character is half of a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"
