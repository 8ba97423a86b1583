"""Segments: what a text is cut into before each is judged, namely sentences of prose, lines of output, runs of JSON.

Source: DESIGN G3, 3.4.
"""

import re
from typing import Final, NamedTuple, TypeAlias

from everfold.core.statements.extracts import QUOTE_CHARS
from everfold.core.statements.rules import list_word_set

Span: TypeAlias = tuple[int, int]
"""Where a segment begins and ends in its text."""

_END_MARKS: Final = ".!?\u3002\uff01\uff1f"
_CLOSING_MARKS: Final = ".!?\"')]\u00bb\u201d\u2019\u300d\u300f"
"""What may stand behind a mark that ends a sentence: more of them, and closing quotes."""
_ABBREVIATIONS: Final = list_word_set(
    "Dr Drs Mr Mrs Ms Prof St Sr Jr vs etc e.g i.e approx No Nr Inc Ltd Co dept fig cf (e.g (i.e Hr Fr Sra bzw ca zzgl inkl z.B d.h"
)
_ABBREVIATION_CHARS: Final = 6
_ABBREVIATION_ENDS: Final = frozenset(word[-2:] for word in _ABBREVIATIONS)
_is_month: Final = re.compile(
    r" (?:Jan(?:uar)?|Jänner|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?|Nov(?:ember)?"
    r"|Dez(?:ember)?|januar|februar|marts|mars|april|maj|mai|juni|juli|august|september|oktober|november|desember|december)\b"
).match
"""Behind "31." in the languages that write a day so. Source: German, Danish and Norwegian spelling."""
_JSON_RUN: Final = re.compile(r"[^{}\[\]]*[^{}\[\]\s,:][^{}\[\]]*")
_JSON_LIKE: Final = re.compile(r"\s*[\[{]\s*[\"{\[]")
_JSON_PAIR_END: Final = re.compile(r",\s*(?=\")")
_SEGMENT_CHARS: Final = 480
_STRONG: Final = "**"
"""Opens and closes a strong emphasis. Source: CommonMark, section 6.2."""
_JOINED_CHARS: Final = 110
"""How long a joined run of JSON gets: a small record, about 30 tokens."""


_drop_marks: Final = re.compile(
    r"^\(?(?:\d{1,2}|[a-z])\)[ \t]+|(?<![\w*_`])(?:\*{1,3}|_{1,3}|`)(?=\w)|(?<=[\w.!?,:])(?:\*{1,3}|_{1,3}|`)(?![\w*_`])"
).sub


class Segment(NamedTuple):
    """A part of a text that is judged alone: where it stands, itself, and itself in lower case, as long as it is."""

    start: int
    text: str
    lowered: str


def drop_marks(sentence: str) -> str:
    """A sentence without the number of a list before it and the marks of emphasis in it."""
    if "*" in sentence or "_" in sentence or "`" in sentence or ")" in sentence[:4]:
        return _drop_marks("", sentence)
    return sentence


def lower_text(text: str) -> str:
    """The text in lower case, as long as it is, so that its segments stand where they stood.

    A letter whose lower case is longer stays.
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join([low if len(low := letter.lower()) == 1 else letter for letter in text])


def cut_segments(text: str, lowered: str, middle: int, *, is_output: bool) -> list[Segment]:
    """The segments of what stands before and behind the middle, in their order; no segment crosses it.

    A text of nothing but marks is its own only segment. `lowered` is what `lower_text` gives for it.
    """
    cut = cut_output if is_output else cut_prose
    spans = cut(text, 0, middle)
    if middle < len(text):
        spans += cut(text, middle, len(text))
    if not spans:
        start = len(text) - len(text.lstrip())
        spans = [(start, start + len(text.strip()))]
    return [Segment(start, text[start:end], lowered[start:end]) for start, end in spans]


def cut_prose(text: str, low: int, high: int) -> list[Span]:
    """Sentences and lines of a part of a text, without the blanks and list marks around them."""
    spans: list[Span] = []
    at = after = low
    cut = low - 1
    for piece in _split_at_ends(text[low:high]):
        cut += len(piece) + 1
        if cut < after or cut == high:
            continue
        end = _skip_closing(text, cut + 1, high)
        after = _skip_blanks(text, end, high)
        mark = text[cut]
        if (after == end and end < high and mark in ".!?") or (mark == "." and _is_abbreviated(text, at, cut)):
            continue
        if cut > at:
            if end - at > _SEGMENT_CHARS:
                at = _cut_long(text, at, end, spans)
            if text[at].isalnum() and mark != "\n":
                spans.append((at, end))
            else:
                _trim(text, at, end, spans)
        at = after
    if at < high:
        if high - at > _SEGMENT_CHARS:
            at = _cut_long(text, at, high, spans)
        _trim(text, at, high, spans)
    return spans


def _split_at_ends(text: str) -> list[str]:
    """What stands between the marks that end a sentence, the ideographic ones too: quicker than to search for them."""
    for mark in ".!?" if text.isascii() else _END_MARKS:
        text = text.replace(mark, "\n")
    return text.split("\n")


def _skip_closing(text: str, at: int, high: int) -> int:
    while at < high and text[at] != " " and text[at] in _CLOSING_MARKS:
        at += 1
    return at


def _skip_blanks(text: str, at: int, high: int) -> int:
    while at < high and text[at].isspace():
        at += 1
    return at


def _cut_long(text: str, start: int, end: int, spans: list[Span]) -> int:
    """Cut a sentence without end between words, so that no pattern runs over more than a segment; gives the last start."""
    while end - start > _SEGMENT_CHARS:
        space = text.rfind(" ", start + 1, start + _SEGMENT_CHARS)
        cut = space if space > start else start + _SEGMENT_CHARS
        _trim(text, start, cut, spans)
        start = cut
    return start


def _is_abbreviated(text: str, start: int, cut: int) -> bool:
    """Whether what stands in a sentence before a full stop is an abbreviation or an initial."""
    if text[cut - 2 : cut] not in _ABBREVIATION_ENDS and not text[cut - 1].isupper():
        return text[cut - 1].isdigit() and _is_month(text, cut + 1) is not None and not text[cut - 3 : cut].isdigit()
    before = text[max(start, cut - _ABBREVIATION_CHARS) : cut]
    word = before[before.rfind(" ") + 1 :].lstrip("\"'(\u201c\u201e\u00ab")
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def cut_output(text: str, low: int, high: int) -> list[Span]:
    """Lines of output, or runs of JSON, without the blanks around them."""
    spans: list[Span] = []
    if _JSON_LIKE.match(text):
        _cut_json(text, low, high, spans)
        return spans
    at = low
    while at < high:
        end = text.find("\n", at, high)
        if end < 0:
            end = high
        if end > at:
            if text[at].isalnum() and text[end - 1].isalnum():
                spans.append((at, end))
            else:
                _trim(text, at if at == low else end - len(text[at:end].lstrip()), end, spans)
        at = end + 1
    return spans


def _cut_json(text: str, low: int, high: int, spans: list[Span]) -> None:
    """Runs between brackets; a short run, and one that ends in a key, joins the next."""
    start = end = -1
    for run in _JSON_RUN.finditer(text, low, high):
        if start >= 0:
            joined = run.end() - start
            if joined <= _JOINED_CHARS or (joined <= QUOTE_CHARS and text[start:end].rstrip().endswith(":")):
                end = run.end()
                continue
            _cut_json_run(text, start, end, spans)
        start, end = run.span()
    if start >= 0:
        _cut_json_run(text, start, end, spans)


def _cut_json_run(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Runs of pairs of at most about `QUOTE_CHARS`, cut between pairs."""
    while end - start > QUOTE_CHARS:
        cut = start
        for boundary in _JSON_PAIR_END.finditer(text, start + 1, start + QUOTE_CHARS):
            cut = boundary.start()
        if cut <= start:
            break
        _trim(text, start, cut, spans)
        start = cut + 1
    _trim(text, start, end, spans)


def _trim(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Add the run without the marks of a list, a heading or an emphasis around it."""
    part = text[start:end]
    left = part.lstrip(" \t\r\n,;:>*-•#")
    kept = left.rstrip(" \t\r\n,*")
    if kept and not kept.isspace():
        at = start + len(part) - len(left)
        spans.append(_close_emphasis(text, at, at + len(kept), start, end))


def _close_emphasis(text: str, low: int, high: int, start: int, end: int) -> Span:
    """The span with the stars at its edge whose partners stand inside it: "**Note:** call first" keeps all four."""
    if text.count(_STRONG, low, high) % 2:
        if text.startswith(_STRONG, low - len(_STRONG)) and low - len(_STRONG) >= start:
            return low - len(_STRONG), high
        if text.startswith(_STRONG, high) and high + len(_STRONG) <= end:
            return low, high + len(_STRONG)
    return low, high
