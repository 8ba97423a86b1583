"""The rules of statements as data: one module a language, one row a rule, each with a sentence that it finds.

A new rule is one row in the module of its language, beside the rows of its kind; `tests/unit/core/statements/
test_rule_tables.py` tries its example and its counter-example. A new language is a module like the others and its name
in `_SPACED` or `_WIDE` below.

Source: own grammar of English requests, and of the plainest ones of the other languages, tuned on the dev splits of
tests/data/statements.jsonl and tests/data/memory_statements.jsonl only.
"""

from typing import Final

from everfold.core.statements.kinds import EXPLICIT, DenialRule, StatementKind, StatementRule
from everfold.core.statements.rule_tables import (
    chinese,
    dutch,
    english,
    french,
    german,
    italian,
    japanese,
    korean,
    portuguese,
    russian,
    spanish,
    strengths,
)

_SPACED: Final = (english, german, spanish, french, italian, portuguese, dutch, russian)
_WIDE: Final = (chinese, japanese, korean)
"""The languages whose words stand behind blanks, and those whose words do not."""
_ORDER: Final[tuple[StatementKind, ...]] = (
    "question",
    "remember",
    "correction",
    "decision",
    "constraint",
    "identity",
    "preference",
    "open",
    "need",
    "commitment",
    "task",
)
"""The order in which kinds are tried: the more binding one first."""


def _sort(rules: list[StatementRule]) -> tuple[StatementRule, ...]:
    return tuple(sorted(rules, key=lambda rule: _ORDER.index(rule.kind)))


STRENGTHS: Final = strengths.STRENGTHS
_STRENGTH_RULES: Final = [
    StatementRule(
        kind="constraint",
        pattern=row.pattern,
        example=row.example,
        counter=row.counter,
        cues=row.cues,
        is_explicit=row.strength == EXPLICIT,
    )
    for row in STRENGTHS
    if row.cues
]
_STATED: Final = _sort([rule for table in _SPACED for rule in table.RULES])
_FIRST_OPEN: Final = next(at for at, rule in enumerate(_STATED) if rule.kind == "open")
RULES: Final = (*_STATED[:_FIRST_OPEN], *_STRENGTH_RULES, *_STATED[_FIRST_OPEN:])
"""Those of strength stand behind the kinds that bind and before those that do not: they keep the kind of what is known."""
WIDE_RULES: Final = _sort([rule for table in _WIDE for rule in table.RULES])
QUESTIONS: Final = tuple(rule for table in _SPACED for rule in table.QUESTIONS)
"""What a sentence that ends as a question says besides asking."""
STORIES: Final = tuple(
    DenialRule(kind="constraint", needles=row.needles, pattern=row.pattern, example=row.example)
    for row in STRENGTHS
    if row.needles
)
"""What no rule makes a constraint."""
DENIALS: Final[dict[StatementKind, DenialRule]] = {denial.kind: denial for denial in english.DENIALS}
