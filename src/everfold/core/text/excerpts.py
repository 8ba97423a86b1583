"""The part of a message that shows why it was found.

An excerpt is an exact slice of the message's own text, never of its neighbours'. It is the stretch of bounded length
that holds the most different words of the query; of equal ones the first.
"""

from collections import Counter
from dataclasses import dataclass

from everfold.core.text.searching import SearchQuery
from everfold.core.text.words import find_words

EXCERPT_CHARS = 240
"""The usual length of an excerpt, at most."""
_LEAD_SHARE = 4
"""One part in so many of what an excerpt may hold stands before its first match, for the reader's bearings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A slice of a message's text with the places that match.

    Attributes:
        text: Exactly the message's `text[start:end]`.
        start: Where it begins, in code points.
        end: Where it ends, exclusive.
        matches: Start and end of each matching word, in code points of the message's text, in order.
    """

    text: str
    start: int
    end: int
    matches: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    words: tuple[str, ...]


def make_excerpt(text: str, query: SearchQuery, *, max_chars: int = EXCERPT_CHARS) -> Excerpt:
    """The stretch of a text that shows the query best; its beginning when no word matches. O(length).

    Args:
        text: All text of the message.
        query: What was asked.
        max_chars: The length of the excerpt, at most; at least 1.
    """
    matches = _find_matches(text, query)
    first, last = _densest(matches, max_chars)
    if first == last:
        return _cut(text, 0, max_chars, ())
    held = matches[first:last]
    lead = min((max_chars - (held[-1].end - held[0].start)) // 2, max_chars // _LEAD_SHARE)
    return _cut(text, held[0].start - max(0, lead), max_chars, matches)


def _find_matches(text: str, query: SearchQuery) -> tuple[_Match, ...]:
    asked = query.words
    return tuple(
        _Match(start, end, tuple(sorted(asked.intersection(words))))
        for start, end, words in find_words(text)
        if not asked.isdisjoint(words)
    )


def _densest(matches: tuple[_Match, ...], max_chars: int) -> tuple[int, int]:
    """First and last (exclusive) of the matches within max_chars that have the most different words."""
    best, best_range, first = 0, (0, 0), 0
    held: Counter[str] = Counter()
    for last, match in enumerate(matches):
        held.update(match.words)
        while first <= last and match.end - matches[first].start > max_chars:
            held.subtract(matches[first].words)
            first += 1
        different = sum(count > 0 for count in held.values())
        if different > best:
            best, best_range = different, (first, last + 1)
    return best_range


def _cut(text: str, start: int, max_chars: int, matches: tuple[_Match, ...]) -> Excerpt:
    """The slice from start on, moved to the front of a word where there is one near, and filled to its length."""
    start = max(0, min(start, len(text) - max_chars))
    limit = min((match.start for match in matches if match.start >= start), default=start)
    space = text.find(" ", start, limit) if start else -1
    start = space + 1 if space >= 0 else start
    end = min(len(text), start + max_chars)
    inside = tuple((match.start, match.end) for match in matches if start <= match.start and match.end <= end)
    return Excerpt(text=text[start:end], start=start, end=end, matches=inside)
