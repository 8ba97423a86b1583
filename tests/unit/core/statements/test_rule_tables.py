"""The rules of statements as data: every row finds its own example, and only its exceptions keep its counter-example out."""

from itertools import chain

import pytest
from tests.support.patterns import drop_exceptions, has_exceptions

from everfold.core.statements.classification import (
    ENCLOSED_JOINT,
    JOINT,
    collect_cues,
    find_statement,
    is_loose,
    mark_words,
)
from everfold.core.statements.kinds import DenialRule, StatementRule, StrengthRule
from everfold.core.statements.rule_tables import DENIALS, QUESTIONS, RULES, STORIES, STRENGTHS, WIDE_RULES
from everfold.core.statements.rules import FIRST_RULE, read_pattern
from everfold.core.statements.strengths import measure_strength
from everfold.core.statements.wide_statements import find_wide_statement, has_wide_script

STATED = {"need": "task", "open": "question"}


def lower(sentence: str) -> str:
    """A sentence as the rules see it."""
    return sentence.lower().replace("\u2019", "'")


def finds(rule: StatementRule | DenialRule, sentence: str) -> bool:
    """Whether the row itself finds a sentence: one of its needles is there and its pattern holds."""
    lowered = lower(sentence)
    has_needle = any(needle in lowered for needle in rule.needles.split("|"))
    return has_needle and read_pattern(rule.pattern, "anywhere").search(lowered) is not None


def cues_of(sentence: str) -> int:
    """The bits of the rules that are tried on a sentence."""
    return collect_cues(lower(sentence), lower(sentence).split())


def kind_of(sentence: str) -> str | None:
    """The kind of statement that a user's sentence is."""
    lowered, marked = lower(sentence), mark_words(lower(sentence))
    if has_wide_script(lowered):
        statement = find_wide_statement(lowered, from_user=True)
    else:
        is_joined = JOINT in marked or ENCLOSED_JOINT in marked or is_loose(lowered)
        statement = find_statement(lowered, cues_of(sentence), from_user=True, is_spaced=not is_joined)
    return statement and statement.kind


@pytest.mark.parametrize("rule", [*RULES, *QUESTIONS, *WIDE_RULES], ids=lambda rule: f"{rule.kind}: {rule.example}")
def test_a_rule_finds_its_example(rule: StatementRule) -> None:
    """The row's own pattern finds its example, and the example is classified as the row's kind."""
    assert finds(rule, rule.example)
    assert kind_of(rule.example) == STATED.get(rule.kind, rule.kind)


@pytest.mark.parametrize(("at", "rule"), list(enumerate(RULES)), ids=[rule.example for rule in RULES])
def test_a_rule_is_tried_on_its_example(at: int, rule: StatementRule) -> None:
    """The example has one of the row's cues, so that the row is tried on it."""
    assert cues_of(rule.example) >> FIRST_RULE & 1 << at, rule.cues


@pytest.mark.parametrize("rule", [*RULES, *QUESTIONS, *WIDE_RULES], ids=lambda rule: f"{rule.kind}: {rule.counter}")
def test_only_the_exceptions_of_a_rule_keep_its_counter_example_out(rule: StatementRule) -> None:
    """A row with exceptions has a counter-example, which it does not find and would find without them; no other has one."""
    assert bool(rule.counter) == has_exceptions(rule.pattern)
    if rule.counter:
        assert not finds(rule, rule.counter)
        assert finds(rule._replace(pattern=drop_exceptions(rule.pattern)), rule.counter)


@pytest.mark.parametrize("denial", list(DENIALS.values()), ids=lambda denial: denial.kind)
def test_a_denial_holds_for_its_example(denial: DenialRule) -> None:
    """A rule of the kind finds the example of a denial, which is none of the kind all the same."""
    assert finds(denial, denial.example)
    assert any(finds(rule, denial.example) for rule in RULES if rule.kind == denial.kind)
    assert kind_of(denial.example) != denial.kind


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.example)
def test_a_story_is_no_constraint(story: DenialRule) -> None:
    """A rule finds the example of a story, which is no constraint all the same, however explicit the rule."""
    assert finds(story, story.example)
    assert any(finds(rule, story.example) for rule in RULES if rule.kind == "constraint")
    assert kind_of(story.example) != "constraint"


@pytest.mark.parametrize("tag", [", ok?", " okay?", ", please?", ", understood?", ", got it?"])
def test_an_order_with_a_tag_binds_as_without(tag: str) -> None:
    """A tag that asks for consent makes no question of what binds, and does make one of anything else."""
    assert kind_of(f"Never share the key{tag}") == "constraint"
    assert kind_of(f"Remember that I land at six{tag}") == "remember"
    assert kind_of(f"We meet at nine{tag}") == kind_of(f"I love trains{tag}") == "question"


def test_no_example_stands_in_two_rows() -> None:
    """Each row has sentences of its own."""
    rows = [*RULES, *QUESTIONS, *WIDE_RULES]
    sentences = list(chain.from_iterable(filter(None, (rule.example, rule.counter)) for rule in rows))
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize(("at", "row"), list(enumerate(STRENGTHS)), ids=[row.example for row in STRENGTHS])
def test_a_row_of_strength_decides_its_example(at: int, row: StrengthRule) -> None:
    """The row is the first one that holds for its example, among those that are for one of its kinds."""
    kinds = row.kinds.split("|") if row.kinds else ["constraint"]
    tried = [other for other in STRENGTHS[:at] if not other.kinds or set(kinds) & set(other.kinds.split("|"))]
    held = [other.example for other in tried if read_pattern(other.pattern, "anywhere").search(lower(row.example))]
    assert not held
    assert read_pattern(row.pattern, "anywhere").search(lower(row.example))
    assert {measure_strength(kind, row.example) for kind in kinds} == {row.strength}


@pytest.mark.parametrize("row", STRENGTHS, ids=lambda row: row.counter or row.example)
def test_only_the_exceptions_of_a_row_of_strength_keep_its_counter_example_out(row: StrengthRule) -> None:
    """A row with exceptions has a counter-example, which it does not find and would find without them; no other has one."""
    assert bool(row.counter) == has_exceptions(row.pattern)
    if row.counter:
        assert not read_pattern(row.pattern, "anywhere").search(lower(row.counter))
        assert read_pattern(drop_exceptions(row.pattern), "anywhere").search(lower(row.counter))
