"""The rules of threats as data: one module a language, one row a wording, each with a text that it finds.

A new wording is one row in the module of its language, in the rule of its kind;
`tests/unit/core/threats/test_rule_tables.py` tries its example and its counter-example. A new language is a module like
the others and its name in `_OTHERS` below. Spanish, Portuguese, Italian and French share the module `romance`.

Source: own lists, tuned on the dev part of tests/data/threats.
"""

from typing import Final, get_args

from everfold.core.threats.kinds import ThreatKind, ThreatRule
from everfold.core.threats.rule_tables import (
    arabic,
    chinese,
    dutch,
    english,
    english_checks,
    german,
    hindi,
    japanese,
    korean,
    polish,
    romance,
    russian,
    turkish,
)

_OTHERS: Final = (german, romance, dutch, polish, turkish, chinese, japanese, korean, russian, arabic, hindi)
_KINDS: Final[tuple[ThreatKind, ...]] = get_args(ThreatKind)

RULES: Final[tuple[ThreatRule, ...]] = (
    *english.RULES,
    *english_checks.RULES,
    *sorted((rule for table in _OTHERS for rule in table.RULES), key=lambda rule: _KINDS.index(rule.kind)),
)
"""All rules; those of other languages come last, by kind."""
