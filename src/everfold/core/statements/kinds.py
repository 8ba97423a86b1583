"""The kinds of statements, and the rows of the tables that tell them.

In a pattern `@` stands for where a word begins, `{open}` for the beginning of a clause, `{start}` for one that is not
merely joined by "and" or "to", and the name of a list of words in `rules` for any of them. `rules.read_pattern` gives
the three forms in which a pattern is searched for.
"""

from typing import Literal, NamedTuple

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


class StatementRule(NamedTuple):
    """One row: a wording that makes a sentence a statement of a kind.

    Attributes:
        kind: What such a sentence is. `need` and `open` become a task and a question that last.
        pattern: What is searched for in the sentence in lower case.
        example: A sentence that this rule finds.
        counter: A sentence that only the rule's exceptions, its `(?!...)` and `(?<!...)`, keep out; empty without any.
        cues: Words without one of which the rule is not tried. A cue is a word (`must`), a phrase by its first word
            (`have_to`), or a word and what must stand in the sentence as well (`sure:not_sure`). The scripts without
            blanks between words have none.
        needles: Parts of a sentence, between bars, without one of which the rule is not tried; empty for none.
    """

    kind: StatementKind
    pattern: str
    example: str
    counter: str = ""
    cues: str = ""
    needles: str = ""


class DenialRule(NamedTuple):
    """One row: what makes a sentence that a rule of a kind finds none of the kind after all.

    Attributes:
        kind: The kind that is denied.
        needles: Parts of a sentence, between bars, without one of which the denial cannot hold.
        pattern: As in `StatementRule`.
        example: A sentence that a rule of the kind finds and this denies.
    """

    kind: StatementKind
    needles: str
    pattern: str
    example: str
