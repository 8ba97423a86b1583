"""Whether what was liked is disliked now, or the other way round.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

from typing import Final

from everfold.core.replacement.assertions import read_assertion
from everfold.core.replacement.changes import DENIALS, SOFT_MARKS
from everfold.core.replacement.frames import LIGHT, Frame, make_plain
from everfold.core.replacement.given_up import split_clauses
from everfold.core.text.stems import stem


def is_liked_otherwise(told: str, frame: Frame) -> bool:
    """Whether exactly what the older one says is liked is said to be disliked, or the other way round."""
    if frame.verb not in _DISLIKES | _LIKES:
        return False
    opposite = _LIKES if frame.verb in _DISLIKES else _DISLIKES
    thing = make_plain(frame.clause.content) - {frame.verb}
    return any(
        thing == make_plain(clause.content) - LIGHT - STARTING - opposite
        and bool(make_plain(clause.content) & opposite)
        for clause in map(read_assertion, split_clauses(SOFT_MARKS.sub(" ", told)))
        if clause.is_first == frame.clause.is_first and not DENIALS.search(" ".join(clause.tokens))
    )


_LIKES: Final = make_plain(frozenset(map(stem, "like love enjoy adore appreciate".split())))
_DISLIKES: Final = make_plain(frozenset(map(stem, "hate dislike detest loathe despise".split())))
STARTING: Final = frozenset(
    map(stem, "start begin resume learn grow come return back actually quite finally buy".split())
)
"""Words that only say that something is begun, or done again."""
