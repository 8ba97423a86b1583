"""Statements: what is tried and what is skipped, over sentences that were labelled."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.statements.classification import (
    ENCLOSED_JOINT,
    JOINT,
    collect_cues,
    find_statement,
    is_loose,
    mark_words,
)
from everfold.core.statements.rule_tables import DENIALS, QUESTIONS, RULES
from everfold.core.statements.rules import SPACING, is_anchored, read_pattern

_DATA = Path(__file__).parents[3] / "data"
_WORDS = sorted({word for rule in RULES for word in re.findall(r"[a-z']+", rule.pattern)})
_PATTERNS = [row.pattern for row in (*RULES, *DENIALS.values())]


def _read_sentences() -> list[str]:
    """The sentences of both labelled sets, as the rules see them."""
    rows = [
        row
        for name in ("statements.jsonl", "memory_statements.jsonl")
        for row in (_DATA / name).read_text(encoding="utf-8").splitlines()
    ]
    texts = (json.loads(row)["text"].lower().replace("\u2019", "'") for row in rows)
    return [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+|\n", text) if sentence.strip()]


SENTENCES = _read_sentences()
MADE = st.lists(
    st.tuples(st.sampled_from(_WORDS), st.sampled_from(["", "", "", ",", ":", " -", ";"])), min_size=2, max_size=14
).map(lambda words: " ".join(word + mark for word, mark in words))


def _is_spaced(sentence: str) -> bool:
    marked = mark_words(sentence)
    return not (JOINT in marked or ENCLOSED_JOINT in marked or is_loose(sentence))


@pytest.mark.parametrize("from_user", [True, False])
def test_a_spaced_sentence_is_read_as_any_other(from_user: bool) -> None:  # noqa: FBT001 - a parameter
    """Where every word stands behind a blank, the quick search finds the same statement as the one that looks anywhere."""
    spaced = [sentence for sentence in SENTENCES if _is_spaced(sentence)]
    assert len(spaced) > len(SENTENCES) // 2
    for sentence in spaced:
        cues = collect_cues(sentence, sentence.split())
        quick = find_statement(sentence, cues, from_user=from_user, is_spaced=True)
        plain = find_statement(sentence, cues, from_user=from_user, is_spaced=False)
        assert (quick and (quick.kind, quick.standing, quick.lasting)) == (
            plain and (plain.kind, plain.standing, plain.lasting)
        ), sentence


@given(MADE)
def test_both_forms_of_a_pattern_hold_for_the_same_sentences(sentence: str) -> None:
    """For a sentence of the rules' own words, spaced, both forms of every pattern hold or neither does."""
    if not _is_spaced(sentence):
        return
    for pattern in _PATTERNS:
        anywhere = read_pattern(pattern, "anywhere").search(sentence)
        spaced = read_pattern(pattern, "spaced").search(SPACING + sentence)
        assert (anywhere is None) == (spaced is None), pattern


@given(MADE, st.sampled_from(["", "(", '"', "'", "--", "/", "*"]))
def test_the_loose_form_of_a_pattern_refuses_no_sentence_that_it_holds_for(sentence: str, joint: str) -> None:
    """Whatever marks stand before its words, what a pattern finds in a sentence its loose form finds as well."""
    _check_loose([sentence.replace(" ", f" {joint}", 2)])


def test_the_loose_forms_refuse_no_labelled_sentence() -> None:
    """The same for every labelled sentence, as it stands and behind a quotation mark."""
    _check_loose([*SENTENCES, *(f'"{sentence}' for sentence in SENTENCES)])


def _check_loose(sentences: list[str]) -> None:
    for plain, find_loose in _list_forms():
        for sentence in sentences:
            if plain.search(sentence):
                assert find_loose(SPACING + sentence, len(SPACING) - 1), (sentence, plain.pattern)


@cache
def _list_forms() -> list[tuple[re.Pattern[str], Callable[[str, int], re.Match[str] | None]]]:
    """Each pattern for any sentence, with the search for its loose form."""
    loose = [(pattern, read_pattern(pattern, "loose")) for pattern in _PATTERNS]
    return [
        (read_pattern(pattern, "anywhere"), form.match if is_anchored(pattern) else form.search)
        for pattern, form in loose
    ]


@given(MADE.map(lambda sentence: sentence + "?"))
def test_needles_of_a_rule_of_questions_only_save_a_search(sentence: str) -> None:
    """Every question that such a rule holds for has one of its needles."""
    for rule in QUESTIONS:
        if read_pattern(rule.pattern, "anywhere").search(sentence):
            assert any(needle in sentence for needle in rule.needles.split("|")), rule.pattern


@given(MADE)
def test_needles_of_a_denial_only_save_a_search(sentence: str) -> None:
    """Every sentence that a denial holds for has one of its needles."""
    _check_needles(sentence)


def test_labelled_sentences_have_the_needles_of_the_denials_that_hold_for_them() -> None:
    """The same for every labelled sentence."""
    for sentence in SENTENCES:
        _check_needles(sentence)


def _check_needles(sentence: str) -> None:
    for denial in DENIALS.values():
        if read_pattern(denial.pattern, "anywhere").search(sentence):
            assert any(needle in sentence for needle in denial.needles.split("|")), denial.pattern
