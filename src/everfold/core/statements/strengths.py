"""Strengths: how strongly a standing instruction binds, by its kind and its words alone.

So a line that was stored before strengths were told has one as well. The rows of `rule_tables.strengths` are tried in
their order, the first that holds decides; what no row knows has the strength of its kind.

Source: DESIGN 3.4; precision and recall in bench/statements.py.
"""

import re
from functools import cache, lru_cache
from typing import Final

from everfold.core.primitives.stepwise import Steps
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.kinds import Strength
from everfold.core.statements.quotes import REMEMBERED_TEXTS
from everfold.core.statements.rule_tables import STRENGTHS
from everfold.core.statements.rules import read_pattern
from everfold.core.statements.segments import cut_segments, drop_marks, lower_text

STRONG: Final = 2
"""From this strength on a statement is an order or a limit."""
_OF_KINDS: Final[dict[LineKind, Strength]] = {
    "remember": 3,
    "constraint": 1,
    "decision": 1,
    "correction": 1,
    "preference": 1,
    "identity": 1,
}

_blank_titles: Final = re.compile(r"\b(?:Always|Never|Only|Don't|Remember|Every)(?: [A-Z][\w']+){2,}").sub
"""Songs and books are named after rules: "Never Let Me Go" orders nothing."""


def measure_line(line: ExtractLine) -> Strength:
    """How strongly a standing line binds."""
    return measure_strength(line.kind, line.quote)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def measure_strength(kind: LineKind, quote: str) -> Strength:
    """How strongly a standing line of a kind binds; of several sentences the strongest counts."""
    told_text = _blank_titles("", quote)
    segments = cut_segments(told_text, lower_text(told_text), len(told_text), is_output=False)
    strengths = [_measure_sentence(kind, drop_marks(segment.lowered.replace("\u2019", "'"))) for segment in segments]
    told = [strength for strength in strengths if strength is not None]
    return max(told) if told else _OF_KINDS.get(kind, 0)


def _measure_sentence(kind: LineKind, sentence: str) -> Strength | None:
    """The strength of the first row that holds for a lower-cased sentence; None where no row does."""
    for strength, kinds, pattern in _read_rows():
        if (not kinds or kind in kinds) and pattern.search(sentence):
            return strength
    return None


def read_rows_ahead() -> Steps[None]:
    """Make the patterns ready, with a pause after each: together they take a tenth of a second, once in a process."""
    for row in () if _read_rows.cache_info().currsize else STRENGTHS:
        read_pattern(row.pattern, "anywhere")
        yield


@cache
def _read_rows() -> tuple[tuple[Strength, frozenset[str], re.Pattern[str]], ...]:
    return tuple(
        (row.strength, frozenset(filter(None, row.kinds.split("|"))), read_pattern(row.pattern, "anywhere"))
        for row in STRENGTHS
    )
