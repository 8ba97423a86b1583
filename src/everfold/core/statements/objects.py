"""Objects: the sentence beside a rule that the rule points at, without which it binds nobody to anything.

"Always do that." and "When you write to her, keep it short." say what they are about in the sentence before, "Remember
this:" in the one behind. Such a rule is quoted together with that sentence, as one exact quote.

Source: DESIGN 3.4.
"""

import re
from collections.abc import Sequence
from typing import Final

from everfold.core.statements.extracts import QUOTE_CHARS
from everfold.core.statements.scoring import Scored
from everfold.core.statements.segments import Span

_GAP_CHARS: Final = 4
"""How many marks and blanks stand at most between two sentences of one thought: a line break and a list mark too."""
_NAMED: Final = r"(?:my|our|your|the|a|an|every|each|any|some|all|no) (?!one\b|time\b|same\b)\w+"
_points_back: Final = re.compile(
    rf"(?!.*\b{_NAMED}.*\b(?:her|him|them|those|these|she|he|they)\b).*\b(?:her|him|them|those|these|she|he|they)\b(?! (?:\w+ )?(?:is|are|was|were)\b)"
    r"|(?:please |and |so |but |just |btw,? )*(?:always|never|only|do|don't|do not|remember|note|use|apply|follow|repeat|mention|share|change|touch|save|write|say|put)"
    r"(?: ever)?(?: (?:do|use|say|apply|follow|repeat|mention|share|change|touch|forget|send|book|put|write|add))? (?:that|this|it|so)(?=[,.!:;]|$| (?:in mind|for|from|every|each|always|again|when|whenever|please|too|as well|to me|ever|down)\b)"
    r"|(?:please |and |so )*keep (?:that|this|it) in mind\b"
    r"|.*\b(?:do (?:so|the same)|(?:like|just) (?:that|this)|(?:that|this|the same) way)\b"
    r"|(?:no exceptions|without exception|under no circumstances|not once|always|never|every ?(?:single )?time)[.!]*$"
).match
"""Tried where a sentence begins."""
_goes_on: Final = re.compile(
    r"(?:this|that|it|the same) (?:also )?(?:goes|applies|holds|counts) (?:for|to|also|too)\b|i mean (?:it|that|this)\b|it's (?!not\b)\w+[.!]*$"
    r"|be (?:as |very |more |less )?\w+\b|every \w+(?: \w+){0,4}[.!]*$"
    r"|(?:always|never|ever|every ?(?:single )?time|not (?:once|one|ever)|in none of them|no exceptions|without exception)\b(?: \w+){0,3}[.!]*$"
    r"|(?:\w+ ){1,4}(?:especially|too|as well|included)[.!]*$"
).match
"""What a short sentence begins with that goes on with the rule before it."""
_GOES_ON_CHARS: Final = 60
_has_name: Final = re.compile(r" (?!I\b)[A-Z][a-z]+").search
_points_on: Final = re.compile(
    r".*(?::|\b(?:the following|as follows|one (?:more )?(?:thing|rule)|remember this|note this)[.:!]*)$"
).match


def join_objects(text: str, lowered: str, said: str, scored: Sequence[Scored]) -> list[Scored]:
    """The sentences of a text with each standing one that points at its neighbour joined to it, in their order.

    A neighbour that holds words of others is left alone: they bind nothing. O(sentences).

    Args:
        text: The whole text.
        lowered: The same in lower case.
        said: The same, with blanks for what it quotes of others.
        scored: The speaker's sentences, rising.
    """
    joined: list[Scored] = []
    is_open = is_pair = False
    for one in scored:
        before = joined[-1] if joined else None
        is_row = is_open and before is not None and "\n" in text[before.end : one.start]
        is_wanted = is_open or (not is_pair and _belongs(text, lowered, before, one))
        if before and is_wanted and _is_near(lowered, said, before, one):
            joined[-1] = _join(before, one)
            is_open, is_pair = is_row, True
        else:
            joined.append(one)
            is_open = is_pair = False
        is_open = is_open or (one.standing and _points_on(lowered[one.start : one.end]) is not None)
    return joined


def _belongs(text: str, lowered: str, before: Scored | None, one: Scored) -> bool:
    """Whether a sentence points at the one before it, or says more of the rule in it."""
    if before is None or lowered[before.start : before.end] == lowered[one.start : one.end]:
        return False
    return _is_going_on(lowered, before, one) or _is_pointing_back(text, lowered, one)


def _is_pointing_back(text: str, lowered: str, one: Scored) -> bool:
    """Whether a standing sentence speaks of something that it does not name."""
    if not one.standing or _has_name(text, one.start + 1, one.end):
        return False
    return _points_back(lowered[one.start : one.end].replace("\u2019", "'")) is not None


def _is_going_on(lowered: str, before: Scored, one: Scored) -> bool:
    """Whether a short sentence says more of the rule before it: for what else it holds, or how strictly."""
    is_short = one.end - one.start <= _GOES_ON_CHARS
    return is_short and before.standing and _goes_on(lowered[one.start : one.end].replace("\u2019", "'")) is not None


def _is_near(lowered: str, said: str, before: Scored, one: Scored) -> bool:
    """Whether two sentences stand beside one another, fit one quote, and are the speaker's own words."""
    gap: Span = before.end, one.start
    return (
        one.start - before.end <= _GAP_CHARS
        and not any(map(str.isalnum, lowered[slice(*gap)]))
        and "\n\n" not in lowered[slice(*gap)]
        and one.end - before.start <= QUOTE_CHARS
        and lowered[before.start : one.end] == said[before.start : one.end]
    )


def _join(before: Scored, one: Scored) -> Scored:
    """Both as one sentence: of the kind of the one that stands, or of the one behind."""
    rule = before if before.standing and not one.standing else one
    at = rule.start + rule.at - before.start
    return rule._replace(
        start=before.start,
        end=one.end,
        at=at,
        score=max(before.score, one.score),
        lasting=before.lasting or one.lasting,
    )
