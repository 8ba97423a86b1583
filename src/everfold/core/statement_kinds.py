"""The kinds of statements, and the rows of the tables that tell them.

One row a rule: the kind, the cues without one of which it is not tried, the parts of a sentence (between bars) without one
of which it is not tried either, and its pattern over the lower-cased sentence.

In a pattern `@` stands for where a word begins, `{open}` for the beginning of a clause, `{start}` for one that is not
merely joined by "and" or "to", and the name of a table of words for any of them. `read_pattern` gives two forms of it. One
is for any sentence. The other is for a sentence with a comma and a blank before it, in which every word that a rule may
begin with stands behind a blank: it looks only where a blank is, in half the time. `read_loose_pattern` gives a third, which
tells quickly that the first finds nothing.
"""

from typing import Literal, TypeAlias

StatementKind = Literal[
    "remember",
    "correction",
    "decision",
    "constraint",
    "identity",
    "preference",
    "commitment",
    "task",
    "question",
    "need",
    "open",
]

RuleRow: TypeAlias = tuple[StatementKind, str, str, str]
"""Kind, cues, needles between bars, pattern.

A cue is a word (`must`), a phrase by its first word (`have_to`), or a word and what must stand in the sentence as well
(`sure:not_sure`).
"""

DenialRow: TypeAlias = tuple[str, str]
"""Needles between bars without one of which a denial cannot hold, and its pattern."""
