import pytest

from everfold.core.statements.substance import measure_substance


@pytest.mark.parametrize("text", ["Take that one.", "Run again.", "You're right, let's do that.", "Keep it up!", "[]"])
def test_what_names_nothing_has_no_substance(text: str) -> None:
    """A sentence whose words all stand for something said elsewhere tells nothing by itself."""
    assert measure_substance(text) == 0


@pytest.mark.parametrize(
    "text", ["Make it 3.", "Use anna@example.org.", "src/net/client.py", "max_retries", "改成六月十五日"]
)
def test_a_value_tells_what_a_few_words_do(text: str) -> None:
    """A number, an address, a path, a name of code, and a clause of a script without blanks count as several words."""
    assert measure_substance(text) >= 3
