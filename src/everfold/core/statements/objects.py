"""Objects: the sentence beside a rule that the rule points at, without which it binds to nothing.

"Always do that." and "When you write to her, keep it short." say what they are about in the sentence before, "Remember
this:" in the one behind. Such a rule is quoted together with that sentence, as one exact quote.

Source: DESIGN 3.4.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from everfold.core.statements.extracts import QUOTE_CHARS, LineKind
from everfold.core.statements.pronouns import points_back
from everfold.core.statements.quotes import REMEMBERED_TEXTS
from everfold.core.statements.scoring import REMEMBERED, Scored
from everfold.core.statements.segments import Span, cut_prose

_GAP_CHARS: Final = 4
"""How many marks and blanks stand at most between two sentences of one thought: a line break and a list mark too."""
_points_back: Final = re.compile(
    r"(?:please |and |so |but |just |btw,? )*(?:always |never |only |do |don't |do not )*(?:keep (?:that|this|it) in mind\b|(?:do|use|say|apply|follow|repeat|remember|mention|share|note|forget) (?:that|this|it|so)(?=[,.!:;]|$))"
    r"|.*\b(?:do (?:so|the same)|(?:like|just) (?:that|this)|(?:that|this|the same) way)\b"
    r"|(?:this|that) is (?:a|an|the|my|our) (?:\w+ )?(?:rule|order|must|limit|requirement)\b"
    r"|(?:no exceptions|without exception|under no circumstances|not once|always|never|every ?(?:single )?time)[.!]*$"
).match
"""Tried where a sentence begins; what it says by a pronoun of a thing is told by `points_back`."""
_ORDERING: Final = frozenset(("constraint", "remember"))
"""Kinds that say what to do with a thing. Of the others, a taste or a plan that names none ("I love it!") binds to nothing; who is
spoken of matters for all."""
_has_person: Final = re.compile(r"\b(?:her|him|them|those|these|she|he|they)\b").search
_has_own_turn: Final = re.compile(
    r"(?:and |so |but |well,? )*(?:i|we)(?:'ll|'m|'re| will| am| are| know| think| guess| hope| wish| can| could| have to| need to| try| tried| plan)\b"
).match
"""What the speaker means to do, or thinks, is no order."""
_goes_on: Final = re.compile(
    r"(?:this|that|it|the same) (?:also )?(?:goes|applies|holds|counts) (?:for|to|also|too)\b|i mean (?:it|that|this)\b|it's (?!not\b)\w+[.!]*$"
    r"|be (?:as |very |more |less )?\w+\b|every \w+(?: \w+){0,4}[.!]*$"
    r"|(?:always|never|ever|every ?(?:single )?time|not (?:once|one|ever)|in none of them|no exceptions|without exception)\b(?: \w+){0,3}[.!]*$"
    r"|(?:\w+ ){1,4}(?:especially|too|as well|included)[.!]*$|(?:my|our|the) [\w' -]{1,40}, i mean[.!]*$|i mean (?:my|our|the|her|his|their)\b"
).match
"""What a short sentence begins with that goes on with the rule before it."""
_GOES_ON_CHARS: Final = 60
_points_on: Final = re.compile(
    r".*(?::|\b(?:the following|as follows|one (?:more )?(?:thing|rule)|remember this|note this)[.:!]*)$"
).match
_announces: Final = re.compile(
    r"(?:and |so |but |ok,? |please )*(?:(?:here(?:'s| is| are)|there(?:'s| is| are)) (?:my|our|a|an|one|another|two|three|some|the)|(?:my|one|another|new|house|first|second|last)) (?:\w+ ){0,2}rules?\b[^?]*[.!:]$"
).match
"""A sentence that says of the one behind it that it is a rule."""
_tells_of: Final = re.compile(r"(?:it|he|she|they|this|that|these|those)(?:'s|'re| \w)").match
"""A sentence whose subject the one before it names."""
_ends_pointing: Final = re.compile(r".*\b(?:like this|this way|like so)[.:!]*$").match
_wants_kept: Final = re.compile(
    r"(?:and |so |but |please |pls |now )*(?:remember|memori[sz]e|don't forget|do not forget|never forget)(?: (?:it|this|that))?(?:,? (?:please|ok(?:ay)?))?[.!]*$"
).match
"""What asks to remember the sentence before it, whatever that is."""


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
        is_wanted = is_open or (not is_pair and _belongs(lowered, before, one))
        if before and is_wanted and _is_near(lowered, said, before, one):
            joined[-1] = _join(lowered, before, one)
            if not (is_open or is_pair) and len(joined) > 1 and _tells_of(_read(lowered, before)):
                joined[-2:] = _join_near(lowered, said, *joined[-2:])
            is_open, is_pair = is_row, True
        else:
            joined.append(one)
            is_open = is_pair = False
        is_open = is_open or (one.standing and _is_pointing_on(lowered, one, is_first=len(joined) == 1))
    return joined


def _belongs(lowered: str, before: Scored | None, one: Scored) -> bool:
    """Whether a sentence points at the one before it, says more of the rule in it, or is announced by it."""
    if before is None or _read(lowered, before) == _read(lowered, one):
        return False
    sentence = _read(lowered, one)
    if one.standing and (
        _is_pointing_back(sentence, one.kind) or (not before.standing and _announces(_read(lowered, before)))
    ):
        return True
    return _is_going_on(sentence, before) or _wants_kept(sentence) is not None


@lru_cache(maxsize=REMEMBERED_TEXTS)
def lacks_object(kind: LineKind, quote: str) -> bool:
    """Whether a standing line is one sentence that speaks of something which it does not name. O(length)."""
    is_one = len(list(cut_prose(quote, 0, len(quote)))) == 1
    return is_one and _is_pointing_back(quote.lower().replace("\u2019", "'"), kind)


def _is_pointing_back(sentence: str, kind: LineKind) -> bool:
    """Whether a standing sentence speaks of something that it does not name."""
    if _points_back(sentence) is not None:
        return True
    is_judged = kind in _ORDERING or _has_person(sentence) is not None
    return is_judged and _has_own_turn(sentence) is None and points_back(sentence)


def _is_going_on(sentence: str, before: Scored) -> bool:
    """Whether a short sentence says more of the rule before it: for what else it holds, or how strictly."""
    return before.standing and len(sentence) <= _GOES_ON_CHARS and _goes_on(sentence) is not None


def _is_pointing_on(lowered: str, one: Scored, *, is_first: bool) -> bool:
    """Whether a standing sentence says what it is about in the one behind it; "like this" does where nothing is before it."""
    sentence = _read(lowered, one)
    return _points_on(sentence) is not None or (is_first and _ends_pointing(sentence) is not None)


def _read(lowered: str, one: Scored) -> str:
    """A sentence in lower case with plain apostrophes."""
    return lowered[one.start : one.end].replace("\u2019", "'")


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


def _join_near(lowered: str, said: str, before: Scored, one: Scored) -> list[Scored]:
    """Both as one where they stand beside one another, else both."""
    return [_join(lowered, before, one)] if _is_near(lowered, said, before, one) else [before, one]


def _join(lowered: str, before: Scored, one: Scored) -> Scored:
    """Both as one sentence: of the kind of the one that stands, or of the one behind."""
    rule = before if before.standing and not one.standing else one
    at = rule.start + rule.at - before.start
    score = max(before.score, one.score)
    if _wants_kept(_read(lowered, one)):
        return one._replace(
            start=before.start, at=0, kind="remember", score=max(score, REMEMBERED), standing=True, lasting=True
        )
    return rule._replace(start=before.start, end=one.end, at=at, score=score, lasting=before.lasting or one.lasting)
