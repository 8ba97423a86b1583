"""What a statement says is given up, and its clauses."""

import pytest

from everfold.core.replacement.given_up import list_given_up, split_clauses


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
    """The words of what somebody left, or of who left, are told without the words around them."""
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
