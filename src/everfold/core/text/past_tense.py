"""Whether a clause tells of the past: by a past form that stands behind its subject, not by any word that ends in "-ed".

Source: own rules; the examples are tried in `tests/unit/core/text/test_end_clauses.py`.
"""

import re
from typing import Final

from everfold.core.text.patterns import compile_pattern

_STATES: Final = (
    "closed|blocked|booked|retired|reserved|rented|hired|borrowed|suspended|paused|postponed|extended|cancelled|canceled|delayed|disabled"
    "|enabled|scheduled|parked|limited|restricted|reduced|locked|occupied|excused|engaged|married|granted|allowed|barred|banned|grounded"
)
"""What is closed or booked is so up to a day ahead: "the hall is booked until Friday", "office closed this week"."""
_SURE: Final = (
    rf"\b(?:was|were|had|did|used to|(?:have|has) been\b(?! (?:{_STATES})\b)"
    r"|war|waren|hatte|hatten|gewesen|(?:habe|haben|hat)\b(?=.*\b(?:ge\w+(?:t|en)|\w+iert|ver\w+t)\b)|wurde"
    r"|était|étais|étions|avait|(?:ai|avons)\b(?= (?:(?:déjà|bien|beaucoup|pas|jamais|toujours|tout|trop|aussi|encore|longtemps) )?\w+(?:é|i|u)e?s?\b)"
    r"|fue|estuve|estaba|estuvimos|era|ero|sono stat\w|(?:ho|abbiamo)\b(?= (?:(?:già|sempre|mai|anche|appena|molto|ancora) )?\w+[aiu]to\b)|(?:heb|hebben)\b(?=.*\bge\w+)"
    r"|был\w*|geweest|foi|estive|estava)\b"
)
_FORMS: Final = (
    r"\b(?:went|came|got|took|met|saw|ran|made|found|lost|bought|sold(?! out\b)|paid|sent|told|said|left|began|became|slept|spent|wrote|gave"
    r"|(?!(?:need|feed|speed|seed|weed|bleed|breed|exceed|proceed|succeed|indeed|hundred|naked|sacred|wicked|embed|shred|fred|alfred|manfred"
    r"|wilfred|jared|ahmed|mohammed|muhammed|hamed)\b)\w{2,}ed)\b"
)
_PRESENT: Final = frozenset(
    "am is are i'm we're you're they're it's that's he's she's there's isn't aren't be need needs want wants stay stays keep keeps get gets"
    " will can must should might may use uses remain remains feel feels let don't do cannot can't won't to ben blijf ga zijn".split()
)
"""Behind one of these a past form is a participle: "the hall is booked", "I need it finished"."""
_NO_SUBJECTS: Final = frozenset(
    "a an the my your his her its our their this that these those no any some every all in on at with without for of by from until till and or en"
    " so very too never".split()
)
"""Behind one of these a past form belongs to a noun: "my retired father", "on paid leave"."""
_ADVERBS: Final = frozenset("just already also only still even not once then finally recently always".split())
_SPEAKERS: Final = frozenset("i we he she they you it who have has i've we've".split())


def tells_past(clause: str, *, looks_ahead: bool) -> bool:
    """Whether a clause in lower case tells what was.

    Args:
        clause: One clause.
        looks_ahead: It names a day up to which it holds, so that "I booked the room" tells what is so until then.
    """
    if compile_pattern(_SURE).search(clause):
        return True
    return any(_is_verb(clause, found, looks_ahead=looks_ahead) for found in compile_pattern(_FORMS).finditer(clause))


def _is_verb(clause: str, found: re.Match[str], *, looks_ahead: bool) -> bool:
    before = [word for word in clause[: found.start()].split() if word not in _ADVERBS]
    if any(word in _PRESENT for word in before):
        return False
    is_state = compile_pattern(_STATES).fullmatch(found[0]) is not None
    if not before:
        return not is_state
    if is_state and (looks_ahead or before[-1] not in _SPEAKERS):
        return False
    return before[-1] not in _NO_SUBJECTS
