"""Others' words: which parts of a user's message are not what the user says.

A message of a person often holds words of other people: quoted, fenced, forwarded, attached, reported, pasted. They say
what was said there; only what the user says around them binds (G9). This is the one place that tells them apart: extract
lines and standing quotes (`reading`), what memory reads (`extraction.evidence`), the record that a digest is made of
and recall ask it.

Source: docs/adr/0030-others-words.md; tests/data/others_words.jsonl has examples of both kinds.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from everfold.core.statements.marked import list_marked
from everfold.core.statements.quotations import is_own_quote, list_quotations
from everfold.core.statements.reported import list_reported
from everfold.core.statements.segments import Segment, Span

PASTE_CHARS: Final = 6_000
"""A longer message of a person is a paste. Source: DESIGN G3, "a fact buried in an oversized paste is best effort";
1500 tokens of English, the cap of a kept message."""
LEAD_CHARS: Final = 600
"""How much of what stands before a paste is the person's own at most. Source: docs/adr/0013-pastes.md."""
_has_sign: Final = re.compile('[>\uff1e<:\uff1a"\u201c\u201e\u00ab\u00bb\u300c\u300e\u2018`~]').search
_RARE_SIGNS: Final = ("---", "_____", "#", "//", "/*", "@@ -")
_has_gap: Final = re.compile(r"\n(?: {4}|\t|[ \t]*\n)").search
_has_quote: Final = re.compile('["\u201c\u201e\u00ab\u300c\u300e\u2018\u2039`]').search
_has_apostrophe: Final = re.compile(r"'(?<![\w']')\w").search
"""An apostrophe that begins a word. Each pattern here begins with what a search finds fast: every message is looked at."""


def find_others(text: str, *, attached: Sequence[Span] = ()) -> tuple[Span, ...]:
    """The spans of a user's text that hold words of others, rising and apart. O(length).

    `attached` are those of its documents, which belong to them whatever they say: a report that begins in one ends there.
    """
    if len(text) <= PASTE_CHARS and not _may_hold(_leave_out(text, attached)):
        return join_spans(attached)
    end = _find_lead_end(text) if len(text) > PASTE_CHARS else len(text)
    own = text[:end]
    marked = list(list_marked(own))
    reported = [
        one
        for one in list_reported(own, list_quotations(own), marked)
        if not any(low < one[0] <= high for low, high in attached)
    ]
    return join_spans([*attached, *marked, *reported, (end, len(text))])


def blank_mentions(text: str, lowered: str) -> str:
    """A text in lower case, as long, with blanks for what it quotes in more than two words within a sentence.

    What the writer quotes of himself stays, without its marks: it follows as a clause would, behind a comma. A text
    without quotations is given back as it is.
    """
    if _has_quote(text) is None and _has_apostrophe(text) is None:
        return lowered
    pieces: list[str] = []
    at = 0
    for one in list_quotations(text):
        if is_own_quote(text, one):
            has_blank = one.start > at and text[one.start - 1].isspace()
            pieces += [lowered[at : one.start - has_blank], "," * has_blank, " "]
            pieces += [lowered[one.start + 1 : one.end - one.is_closed], " " * one.is_closed]
        elif one.is_closed:
            pieces += [lowered[at : one.start], " " * (one.end - one.start)]
        else:
            pieces.append(lowered[at : one.end])
        at = one.end
    return "".join([*pieces, lowered[at:]]) if at else lowered


def _may_hold(text: str) -> bool:
    """Whether a sign is there without which no text of usual length holds words of others."""
    has_sign = bool(_has_sign(text) or _has_apostrophe(text))
    return has_sign or any(map(text.__contains__, _RARE_SIGNS)) or _has_gap(text) is not None


def _leave_out(text: str, spans: Sequence[Span]) -> str:
    """What stands outside of spans."""
    if not spans:
        return text
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return "".join([text[end:start] for end, start in zip(ends, starts, strict=True)])


def join_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, those that touch as one; empty ones left out."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def part_segments(
    segments: Sequence[Segment], others: Sequence[Span], said: str
) -> tuple[list[Segment], list[Segment]]:
    """Segments cut where words of others begin and end: those of the speaker, and those of others.

    `said` is the whole text without what it quotes: a segment of which nothing is left there is not the speaker's.
    """
    own: list[Segment] = []
    foreign: list[Segment] = []
    for segment in segments:
        at = segment.start
        end = at + len(segment.text)
        for low, high in others:
            if high <= at or low >= end:
                continue
            own += _slice(segment, at, low)
            foreign += _slice(segment, max(low, at), min(high, end))
            at = min(high, end)
        own += _slice(segment, at, end) if at > segment.start else [segment]
    quoted = [one for one in own if said[one.start : one.start + len(one.text)].isspace()]
    if quoted:
        own = [one for one in own if one not in quoted]
        foreign = sorted([*foreign, *quoted])
    return (own, foreign) if own or foreign else ([], list(segments))


def _slice(segment: Segment, low: int, high: int) -> list[Segment]:
    """A part of a segment without the blanks around it; none where no letter or digit is in it."""
    text = segment.text[max(low - segment.start, 0) : max(high - segment.start, 0)]
    if not any(map(str.isalnum, text)):
        return []
    start = max(low, segment.start) + len(text) - len(text.lstrip())
    kept = text.strip()
    at = start - segment.start
    return [Segment(start, kept, segment.lowered[at : at + len(kept)])]


def _find_lead_end(text: str) -> int:
    """Where the person's own words before a paste end: with the first paragraph, line, or clause before a colon."""
    lead = text[:LEAD_CHARS]
    for mark in ("\n\n", "\n"):
        if (at := lead.find(mark)) >= 0 and lead[:at].strip():
            return at
    return lead.find(":") + 1
