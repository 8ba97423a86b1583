"""What kind of statement a sentence of Chinese, Japanese or Korean is, by its plainest forms.

Theory of operation: these scripts set no blanks between words, or fuse them with their endings, so that no table of words
finds the rules worth trying. One pattern a kind is tried over the sentence instead, the more binding kind first.

Source: own grammar, in `rule_tables`; DESIGN G3.
"""

import re
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Final, cast

from everfold.core.statements.classification import StatedKind, Statement
from everfold.core.statements.rule_tables import WIDE_RULES
from everfold.core.text.patterns import compile_pattern

_MOSTLY_WIDE: Final = 8
"""A text of whose characters fewer than one in so many takes more than a byte has no sentence of a wide script."""
_WIDE: Final = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_LETTERS: Final = 3
"""How many letters of an alphabet say as much as one of these characters."""


def has_wide_script(text: str) -> bool:
    """Whether a text that is not ASCII has characters of Chinese, Japanese or Korean, more than a few.

    The size in bytes tells most texts of an alphabet without reading them.
    """
    more_bytes = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return more_bytes * _MOSTLY_WIDE > len(text) and compile_pattern(_WIDE).search(text) is not None


def measure_wide(text: str) -> int:
    """The length of a text in letters of an alphabet that would say as much."""
    return len(text) + (_LETTERS - 1) * len(compile_pattern(_WIDE).findall(text))


def find_wide_statement(sentence: str, *, from_user: bool) -> Statement | None:
    """The statement that a sentence makes, or None; only a user's is standing, and a question never is."""
    for kind, pattern in _read_patterns():
        if found := pattern.search(sentence):
            if kind == "question":
                return Statement("question", False, 0, False)
            return Statement(kind, from_user, found.start(), from_user or kind == "decision")
    return None


@cache
def _read_patterns() -> tuple[tuple[StatedKind, re.Pattern[str]], ...]:
    """One pattern a kind, of all languages."""
    return tuple(
        (cast("StatedKind", kind), re.compile("|".join(rule.pattern for rule in rules)))
        for kind, rules in groupby(WIDE_RULES, key=attrgetter("kind"))
    )
