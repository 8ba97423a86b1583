"""What a statement says is given up, and its clauses."""

import re

import pytest

from everfold.core.changes.ending_words import GONE, LEAVING, OWN, WITHDRAWING, Ending
from everfold.core.changes.given_up import PATTERNS, list_given_up, split_clauses
from everfold.core.changes.left_things import list_over
from everfold.core.clauses.assertions import expand, list_tokens
from everfold.core.clauses.frames import list_plain


def name(row: Ending) -> str:
    """A row's example, as the name of its case."""
    return row.example


@pytest.mark.parametrize("row", [*LEAVING, *WITHDRAWING, *GONE, *PATTERNS], ids=name)
def test_each_row_gives_up_what_its_example_names(row: Ending) -> None:
    """A row's example has the row's wording and gives up its thing, without the words around it."""
    said = expand(row.example)
    assert re.search(row.wording, said.lower())
    assert list_plain(list_tokens(row.old)) in [one.words for one in list_given_up(said)]


@pytest.mark.parametrize("row", [*OWN, *(one for one in GONE if one.is_final)], ids=name)
def test_each_final_row_ends_what_its_example_names(row: Ending) -> None:
    """What the speaker ends, and what is gone for good, is over by the row's example."""
    assert re.search(row.wording, row.example.lower())
    assert row.old.split()[-1] in [old[-1] for old in list_over(row.example)]


@pytest.mark.parametrize(
    ("said", "given_up"),
    [
        ("We ripped out Postgres.", {"postgr"}),
        ("I sold the Skoda, my car is a Volvo.", {"skoda"}),
        ("Send it to Mona instead of Erik.", {"erik"}),
        ("Karen moved away, so my therapist is Joel now.", {"karen"}),
        ("They moved the conference from Berlin to Vienna.", {"berlin"}),
        ("We let the cleaning lady go.", {"clean", "ladi"}),
        ("We do not deploy on Fridays any more.", {"deploi", "fridai"}),
    ],
)
def test_what_is_left_behind_is_named(said: str, given_up: set[str]) -> None:
    """The words of what a person left, or of who left, are told without the words around them."""
    assert any(one.words - {"we"} == given_up for one in list_given_up(said))


@pytest.mark.parametrize(
    "said", ["My bus stop is Central Square.", "The oven is set to 180 degrees.", "I live in Graz."]
)
def test_a_plain_statement_gives_nothing_up(said: str) -> None:
    """A statement that only tells something leaves nothing behind."""
    assert not list_given_up(said)


def test_titles_end_no_clause() -> None:
    """A clause ends at "so" and at a comma, but not within "Dr. Lee"."""
    assert split_clauses("Dr. Lee retired, so my doctor is Dr. Wu.") == (
        "Dr Lee retired",
        "my doctor is Dr Wu",
    )
