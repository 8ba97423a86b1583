"""Sentences: the segments of what was said, each with the words that may mean something and the statement it makes."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from everfold.core.statements.classification import (
    Statement,
    collect_cues,
    collect_word_cues,
    find_statement,
    is_enclosing,
    is_spaced,
)
from everfold.core.statements.rules import IMPERATIVE, list_word_set
from everfold.core.statements.segments import Segment, drop_marks
from everfold.core.statements.wide_statements import find_wide_statement, measure_wide

_APOSTROPHE: Final = "\u2019"
_CHARS_PER_POINT: Final = 3
_MOST_POINTS: Final = 30
_PLEASANTRIES: Final = list_word_set(
    "thank thanks thx wow hi hey hello great good nice cool awesome sure ok okay yes yeah yep congrats congratulations that's sounds glad bye"
    " happy certainly absolutely feel i'm woah oh haha lol yay aww"
)


class Sentence(NamedTuple):
    """One segment of talk, classified.

    Attributes:
        lowered: The segment in lower case, as long as it is.
        cues: The rules and flags that its words leave possible, as bits.
        statement: What it states; None for nothing that a rule knows.
        weight: 0 to 30; how much it tells by its length.
    """

    start: int
    text: str
    lowered: str
    cues: int
    statement: Statement | None
    weight: int


def classify_sentences(
    lowered: str, said: str, segments: Sequence[Segment], *, from_user: bool, is_wide: bool
) -> list[Sentence]:
    """The segments of what was said, each with what it states.

    Args:
        lowered: The whole text in lower case.
        said: The same, with blanks for what it quotes of others.
        segments: Its segments.
        from_user: Whether a user says it.
        is_wide: Whether the text has Chinese, Japanese or Korean in it.
    """
    classify = _classify_wide if is_wide else _classify
    may_enclose = is_enclosing(lowered)
    return [classify(segment, said, from_user=from_user, may_enclose=may_enclose) for segment in segments]


def _classify(segment: Segment, said: str, *, from_user: bool, may_enclose: bool) -> Sentence:
    start, text, lowered = segment
    lowered = lowered.replace(_APOSTROPHE, "'")
    words = lowered.split()
    cues = collect_cues(lowered, words) if may_enclose else collect_word_cues(lowered, words)
    statement = None
    if cues >= IMPERATIVE or lowered[-1] == "?":
        own = drop_marks(said[start : start + len(text)].replace(_APOSTROPHE, "'").rstrip())
        statement = find_statement(own, cues, from_user=from_user, is_spaced=is_spaced(lowered))
    return Sentence(start, text, lowered, cues, statement, _weigh_words(lowered, words))


def _classify_wide(segment: Segment, said: str, *, from_user: bool, may_enclose: bool) -> Sentence:
    sentence = _classify(segment, said, from_user=from_user, may_enclose=may_enclose)
    own = said[segment.start : segment.start + len(segment.text)]
    statement = sentence.statement or find_wide_statement(own, from_user=from_user)
    weight = min(measure_wide(sentence.lowered) // _CHARS_PER_POINT, _MOST_POINTS)
    return sentence._replace(statement=statement, weight=weight)


def _weigh_words(lowered: str, words: Sequence[str]) -> int:
    """How much a sentence tells by its length; what opens as a pleasantry tells half."""
    weight = min(len(lowered) // _CHARS_PER_POINT, _MOST_POINTS)
    return weight // 2 if words and words[0].rstrip(",.!") in _PLEASANTRIES else weight
