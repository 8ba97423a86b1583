"""What an erase takes out of memory files."""

import pytest

from everfold.core.forgetting.files import forget_lines
from everfold.core.forgetting.memory import read_gone_words

GONE = read_gone_words(["My sister Mara has hepatitis, her file is AB-4711."])


@pytest.mark.parametrize(
    "line", ["- sister Mara: hepatitis", "Hepatitis", "file number 4711", "Family: Tom, and Mara (hepatitis)"]
)
def test_a_line_that_repeats_what_is_erased_goes(line: str) -> None:
    """In other words around it, as a single word, or with nothing but its number."""
    assert forget_lines(f"Flat in York.\n{line}\nTwo cats.", GONE) == "Flat in York.\nTwo cats."


@pytest.mark.parametrize("line", ["Tom's sister lives in Leeds", "", "Ask whether the file system is ready", "# 2031"])
def test_a_line_of_something_else_stays(line: str) -> None:
    """One common word is no repetition."""
    content = f"Flat in York.\n{line}\nTwo cats."
    assert forget_lines(content, GONE) == content
