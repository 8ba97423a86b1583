"""What the benchmark of a window's worth counts."""

from datetime import UTC, datetime, timedelta

from bench.recall import Turn
from bench.worth_answers import is_in
from bench.worth_baselines import compact_by_regex, join_ends, slide
from bench.worth_rules import Rule, list_lines, read_rules, shares_a_line, spread_over, stands_in
from bench.worth_windows import Scope, fold_case, turn_tokens

from everfold.core.text.tokens import estimate_text_tokens

NOW = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)


def make_turns(*texts: str) -> list[Turn]:
    """Turns of a user, a minute apart."""
    return [
        Turn(name=f"D1:{at}", session=1, role="user", speaker="Ann", text=text, said_at=NOW + timedelta(minutes=at))
        for at, text in enumerate(texts)
    ]


TALK = make_turns(
    "We moved here.", "It was nice.", "The train leaves at 18:40 on Monday.", "Good to know.", "See you there."
)


def test_an_answer_counts_as_whole_words_only() -> None:
    """An answer is found as whole words in any case, and not inside another word."""
    text = fold_case("We went to a PARTY  in\nParis.")
    assert is_in("party in paris", text)
    assert not is_in("art", text)


def test_the_sliding_window_has_the_newest_without_a_gap() -> None:
    """The sliding window ends before the first message that does not fit."""
    budget = sum(turn_tokens(turn) for turn in TALK[3:]) + 3
    assert slide(TALK, budget) == [TALK[4].text, TALK[3].text]


def test_head_and_tail_show_no_message_twice() -> None:
    """Head and tail show every message once when the budget holds all of them."""
    assert sorted(join_ends(TALK, 10_000)) == sorted(turn.text for turn in TALK)


def test_the_regex_keeps_sentences_with_facts_within_the_budget() -> None:
    """The regex baseline quotes what has a number or a date, drops what has none, and stays within its budget."""
    budget = 2 * turn_tokens(TALK[2])
    shown = compact_by_regex(TALK, budget)
    assert TALK[2].text in shown
    assert TALK[1].text not in shown
    assert sum(map(estimate_text_tokens, shown)) <= budget


def make_rule(text: str, **more: str) -> Rule:
    """A rule of the first half."""
    return Rule(text=text, kind="rule", strength=3, split="dev", **more)  # type: ignore[typeddict-item]


def test_a_rule_stands_when_a_line_has_most_of_its_words() -> None:
    """A rule stands by 7 of 10 of its words in one line, in any case and order, and not by words of several lines."""
    rule = make_rule("Never touch the folder legacy_billing")
    assert stands_in(rule, list_lines(["[2031-03-03] #7 the FOLDER legacy_billing: never touch it"]))
    assert not stands_in(rule, list_lines(["never touch\nthe folder legacy_billing is old"]))


def test_of_a_planted_message_only_the_rule_counts() -> None:
    """Where a message quotes its rule, the rest of it need not stand."""
    rule = make_rule("That looks good, merge it. Tag releases as vYY.", rule="Tag releases as vYY")
    assert stands_in(rule, list_lines(["Tag releases as vYY."]))


def test_a_non_rule_is_found_by_a_line_that_quotes_a_part_of_it() -> None:
    """A line of the standing instructions that quotes a sentence of a longer message is of that message."""
    non_rule = make_rule("I never thought I would say this. The tax office was really nice today, all of them.")
    assert shares_a_line(non_rule, list_lines(["[2031-03-03] #7 I never thought I would say this."]))
    assert not shares_a_line(non_rule, list_lines(["[2031-03-03] #9 Always answer in French."]))


def test_rules_are_spread_over_all_turns_in_order() -> None:
    """Every rule stands once, the turns keep their order, and no rule comes before the first turn."""
    rules = [make_rule("Always."), make_rule("Never.")]
    texts = [turn.text for turn in spread_over(TALK, rules)]
    assert texts == [
        TALK[0].text,
        "Always.",
        *(turn.text for turn in TALK[1:3]),
        "Never.",
        *(turn.text for turn in TALK[3:]),
    ]


def test_every_planted_message_quotes_its_rule() -> None:
    """The words that bind are an exact part of their message, in both halves."""
    planted = read_rules(Scope(half="first"), "planted") + read_rules(Scope(half="second"), "planted")
    assert len(planted) == 60
    assert all(rule["rule"] in rule["text"] for rule in planted)
