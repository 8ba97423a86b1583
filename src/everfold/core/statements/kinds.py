"""The kinds of statements, and the rows of the tables that tell them.

In a pattern `@` stands for where a word begins, `{open}` for the beginning of a clause, `{start}` for one that is not
merely joined by "and" or "to", and the name of a list of words in `rules` for any of them. `rules.read_pattern` gives
the three forms in which a pattern is searched for.
"""

from typing import Final, Literal, NamedTuple

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

Strength = Literal[0, 1, 2, 3]
"""How strongly a statement binds. 3: an explicit rule (remember, from now on, "when you ...", an order with always, never,
every, only). 2: an order, a limit, an allergy, a deadline. 1: a decision or a preference. 0: a wish, a plan or advice,
which does not stand. Source: DESIGN 3.4."""
EXPLICIT: Final[Strength] = 3


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
        is_explicit: Whether no denial of its kind holds against it; a story does.
    """

    kind: StatementKind
    pattern: str
    example: str
    counter: str = ""
    cues: str = ""
    needles: str = ""
    is_explicit: bool = False


class StrengthRule(NamedTuple):
    """One row: how strongly a standing instruction binds that holds a wording.

    Attributes:
        strength: 3 for an explicit rule, 2 for an order or a limit, 1 for less, 0 for what does not stand.
        pattern: As in `StatementRule`.
        example: A sentence of which this row is the first that holds.
        counter: A sentence that only the row's exceptions keep out; empty without any.
        kinds: The kinds of lines that the row is for, between bars; empty for all.
        cues: As in `StatementRule`: a row with cues makes a sentence a constraint as well, whatever else found it.
        needles: Parts of a sentence, between bars, without one of which the row cannot hold. A row with needles tells of a
            story, so that the sentence is no constraint, explicit rules included.
    """

    strength: Strength
    pattern: str
    example: str
    counter: str = ""
    kinds: str = ""
    cues: str = ""
    needles: str = ""


Lifting = Literal["allows", "relieves", "drops"]
"""What a statement does to a rule. `allows`: what was forbidden. `relieves`: from what was asked. `drops`: any rule of a thing."""


class LiftingRule(NamedTuple):
    """One row: a wording that lifts a rule.

    Attributes:
        lifting: What it does.
        pattern: Of a clause in lower case, to its end; `what` is what the rule is about.
        example: A sentence of which this is the first row that holds.
        what: What it then finds.
        stands: Whether the wording alone makes a sentence a standing instruction.
        is_english: Whether it is English.
    """

    lifting: Lifting
    pattern: str
    example: str
    what: str
    stands: bool = True
    is_english: bool = True


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
