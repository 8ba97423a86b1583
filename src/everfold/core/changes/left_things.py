"""Whether what the speaker takes part in, has or does is over.

"I left the choir" takes the place of "I sing in the church choir".

What is left has to be all that the older statement is about: the noun of its object, or of its first phrase where it has
none. "I have a friend in the choir" is about a friend, and "I left the church" leaves no choir.

Source: own rules, English, tuned on the pairs that docs/adr/0031-what-replaces-what.md tells of.
"""

import re
from collections.abc import Iterator
from typing import Final

from everfold.core.changes.ending_words import (
    GONE,
    LEAVING,
    OWN,
    WITHDRAWING,
    WORD,
    is_out_of_power,
    join,
    list_cues,
)
from everfold.core.clauses.assertions import BE, list_tokens
from everfold.core.clauses.frames import JOINS, TIMES, Frame, is_under_way, list_plain
from everfold.core.clauses.slots import is_number
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

_THING: Final = r"(?:the |my |our |all |both )*(?P<old>[\w'-]+(?: [\w'-]+){0,4}?)"
_END: Final = (
    r"(?=[.,;!]|$| (?:and|because|so|but|since|last|yesterday|today|this|after|for good|for now|in (?:favou?r|january|february|march|april|may|june|july|august|september|october|november|december)|altogether"
    r"|completely|entirely|(?:a|two|three|some) \w+ ago|as a whole)\b| [-\u2013\u2014] )"
)
_ENDED: Final = (*WITHDRAWING, *LEAVING, *OWN)
_LEFT: Final = (
    r"(?:^|[,;:.!] |\band |\bso |\bbut |[-\u2013\u2014] )(?:i|we) (?:have |had |just |finally |recently |officially |already |decided to |had to )*"
    rf"(?:{join(_ENDED)}) {_THING}{_END}"
)
_LAPSED: Final = rf"\b(?:i|we) (?:\w+ )?let {_THING} (?:lapse|expire|go(?=[.,;!]|$)|run out(?=[.,;!]|$))"
_FINAL: Final = tuple(one for one in GONE if one.is_final)
_GONE: Final = (
    rf"(?:^|[,;:.!] |\band |\bso |\bbut )(?:the|my|our|all) {_THING} (?:has |have |had |just |sadly |all |both |was |were |is |are |got )*"
    rf"(?:{join(_FINAL)}){_END}"
)
_COMPLETED: Final = re.compile(r"\b(?:finished|completed|done with)\b")
_OVER: Final = (_LEFT, _LAPSED, _GONE)
_CUES: Final = list_cues((*_ENDED, *_FINAL)) | {"let"}
_LASTING: Final = frozenset(
    map(
        stem,
        "make bake cook produce paint knit write live say know mean think remember meet see want hope plan need like love hate".split(),
    )
)
"""What has no end by that its object is left."""
_BEGUN: Final = re.compile(
    r"(?i)^(?:\w+ )?(?:i|we) (?:\w+ )?(?:signed up for|joined|subscribed to|enrolled in|started|began|took up|got|bought|adopted)\b"
)
"""What has begun goes on: the older statement tells of more than one day."""


def is_over(told: str, frame: Frame) -> bool:
    """Whether a prepared statement says that the thing which the older one is about was left, sold or ended."""
    said = frame.clause
    if not said.is_first or stem(said.tokens[said.verb_at]) in _LASTING:
        return False
    if frame.is_past and not _BEGUN.match(" ".join(said.raw)):
        return False
    thing = _find_thing(frame)
    ended = list_over(told, is_under_way=is_under_way(frame)) if thing else ()
    return any(_is_of(old, thing, frame.verb) for old in ended)


def list_over(told: str, *, is_under_way: bool = True) -> Iterator[tuple[str, ...]]:
    """The words of each thing that a prepared statement says was left, sold or ended; finished, where it was under way."""
    for pattern in _OVER if not _CUES.isdisjoint(WORD.findall(told.lower())) else ():
        for found in compile_pattern(pattern).finditer(told.lower()):
            if not is_out_of_power(found) and (is_under_way or not _COMPLETED.search(found[0])):
                yield list_tokens(found["old"])


def _find_thing(frame: Frame) -> tuple[str, ...]:
    """The words of what the older clause is about, in their order: its object, or its first phrase where it has none."""
    tokens = frame.clause.tokens
    at = frame.clause.verb_at
    while at < len(tokens) and (tokens[at] in BE or tokens[at] in _HELPERS):
        at += 1
    start = at + 1
    while start < len(tokens) and tokens[start] in JOINS | _PARTICLES:
        start += 1
    end = next(
        (
            at
            for at in range(start, len(tokens))
            if tokens[at] in JOINS or stem(tokens[at]) in TIMES or tokens[at] == "of"
        ),
        len(tokens),
    )
    words = tokens[start:end]
    return tuple(word for word in words if list_plain((word,)) and not is_number(word))


_HELPERS: Final = frozenset("have has been still currently now also always usually".split())
_PARTICLES: Final = frozenset("up out".split())


def _is_of(old: tuple[str, ...], thing: tuple[str, ...], verb: str) -> bool:
    """Whether all that is left is told by the words of the thing, its noun among them in the same form.

    "My chess account" and "as netball coach" are told of who plays chess and of who coaches netball.
    """
    left = [word for word in old if list_plain((word,))]
    if len(left) > 1 and (left[-1] in _FORMS or stem(left[-1]) == verb):
        return list_plain(left[:-1]) <= list_plain(thing)
    return bool(left) and left[-1] == thing[-1] and list_plain(left) <= list_plain(thing)


_FORMS: Final = frozenset(
    "account subscription membership lesson lessons class classes course courses practice training habit job role plan".split()
)
"""In what form a thing is taken part in."""
