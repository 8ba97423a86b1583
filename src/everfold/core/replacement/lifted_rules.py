"""Whether a statement lifts a rule: allows again what was forbidden, asks no longer for what was asked, drops a rule by name.

A rule is lifted only where the newer statement speaks of nothing that the rule does not name, and the rule of little that
the newer one does not ("You can use emojis again." lifts "Never use emojis.", not "Never use emojis in contracts."). What
has a condition or an end of its own ("You can call before nine tomorrow.") lifts nothing for good: both stand.

Source: own grammar; the wordings are in `core/statements/rule_tables/lifting.py`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from everfold.core.changes.words import DENIALS
from everfold.core.clauses.assertions import REMEMBERED_TEXTS, expand, list_tokens
from everfold.core.statements.kinds import Lifting
from everfold.core.statements.rule_tables.lifting import LIFTING, OPENED
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.strengths import STRONG, measure_strength
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

_MOST_BESIDE: Final = {"allows": 1, "relieves": 1, "drops": 2}
"""How many words a rule may have beside what is lifted: its verb, or a thing and where it goes. Source: own choice."""
_IDLE: Final = list_word_set(
    "a an the any some my your our that this these those please always never ever again now more from in at to on of do does not be is are"
    " i you we me us it use using normal normally so and or with remember rule avoid stop no"
    " der die das den dem des ein eine einen nie niemals immer kein keine keinen keinem bitte nicht zu in im am von und"
    " le la les l un une des du de d ne pas jamais toujours plus et el los las una unos no nunca siempre y ya"
)
"""Words of an order that are not about anything."""
_ENDINGS: Final = re.compile(r"(?<=\w\w)(?:ing|en|e)$")
_FORBIDDING: Final = list_word_set("avoid stop nie niemals keine kein keinen jamais nunca sin ohne sans without")
_PROVISOS: Final = list_word_set("if when unless until while for just today tonight tomorrow once wenn bis heute si")
_CUES: Final = list_word_set(
    "again now anymore more longer all on once no stop forget drop scrap ignore lift cancel remove delete disregard undo revoke withdraw"
    " rule rules instruction instructions ban bans restriction restrictions mind"
    " wieder mehr vergiss vergessen nouveau oublie oubliez volver olvida olvide"
)
"""Without one of these no row holds."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_lifted(text: str) -> tuple[tuple[Lifting, frozenset[str]], ...]:
    """What a statement lifts, each by what it does and the stems of what the rule is about; empty for a question."""
    words = list_tokens(text.lower())
    if text.rstrip()[-1:] in "?\uff1f" or _CUES.isdisjoint(words) or not _PROVISOS.isdisjoint(words):
        return ()
    return tuple(_read_clauses(text.strip().lower().replace("\u2019", "'")))


def _read_clauses(lowered: str) -> Iterator[tuple[Lifting, frozenset[str]]]:
    for clause in compile_pattern(r"[,;.!:\u2013\u2014]+ *").split(lowered):
        for rule in LIFTING:
            found = compile_pattern(OPENED + rule.pattern).match(clause.strip())
            if found is None:
                continue
            words = _list_words(list_tokens(found["what"] + f" {found.groupdict().get('verb') or ''}"))
            if words and not DENIALS.search(found["what"]):
                yield rule.lifting, words
            break


def lifts(statement: str, rule: str) -> bool:
    """Whether a statement lifts a rule."""
    lifted = list_lifted(statement)
    lowered = expand(rule).lower() if lifted else ""
    if not lifted or (measure_strength("constraint", rule) < STRONG and not lowered.startswith("no ")):
        return False
    tokens = list_tokens(lowered)
    is_forbidding = DENIALS.search(lowered) is not None or not _FORBIDDING.isdisjoint(tokens)
    named = _list_words(tokens)
    return any(
        words <= named
        and len(named - words) <= _MOST_BESIDE[lifting]
        and (lifting == "drops" or (lifting == "allows") == is_forbidding)
        for lifting, words in lifted
    )


def _list_words(tokens: Iterable[str]) -> frozenset[str]:
    """The stems of what an order is about, without the endings of verbs."""
    return frozenset(_ENDINGS.sub("", stem(token)) for token in tokens if token not in _IDLE)
