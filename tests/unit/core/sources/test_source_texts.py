"""What sources say: cleaned of what is not seen, cut at lines, always within the budget."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.sources.source_texts import CUT_TOKENS, clean_line, clean_text, fit_lines, name_moment, render_json
from everfold.core.text.tokens import estimate_text_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(text=ANY_TEXT)
def test_a_line_is_one_line_of_visible_characters(text: str) -> None:
    """Nothing is left that ends a line, controls a terminal, turns the direction of writing or cannot be encoded."""
    line = clean_line(text)
    assert len(line.splitlines()) <= 1
    assert not any(
        ord(it) < 32 or 0x7F <= ord(it) < 0xA0 or it in "\u200b\u200e\u202e\u2066\u2069\ufeff" for it in line
    )
    assert line.encode().decode() == line


@given(text=ANY_TEXT)
def test_cleaning_again_changes_nothing(text: str) -> None:
    """What was cleaned is clean."""
    assert clean_line(clean_line(text)) == clean_line(text)
    assert clean_text(clean_text(text)) == clean_text(text)


def test_people_s_words_stay() -> None:
    """Letters of all scripts, accents and signs are as they were."""
    text = "Früh­stück um 9, naïve café, привет, 你好, שלום, नमस्ते, 🎉 5 € <b>"
    assert clean_line(text) == text.replace("\u00ad", "")


def test_piled_marks_are_thinned() -> None:
    """A letter keeps what a language puts on it and not a tower."""
    assert len(clean_line("e" + "\u0301\u0323" * 200)) <= 4


def test_a_line_is_cut_visibly() -> None:
    """What is too long ends with dots within its bound."""
    assert clean_line("word " * 100, most_chars=20) == "word word word wo..."


def test_a_text_keeps_its_lines() -> None:
    """Ends are trimmed and empty lines do not pile up."""
    assert clean_text("\n\na  \r\nb\u2028c\n\n\n\n\td\n\n") == "a\nb\nc\n\n    d"


def test_a_moment_has_its_offset() -> None:
    """An absolute date with minutes, in the zone that it has."""
    at = datetime(2026, 11, 22, 9, 0, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert name_moment(at) == "2026-11-22 09:00 +05:30"
    assert name_moment(at.astimezone(UTC)) == "2026-11-22 03:30 +00:00"


LINES = st.lists(st.text("ab \u00e9\u4f60\U0001f468\u200d\U0001f469", max_size=60), min_size=1, max_size=30)


@given(lines=LINES, budget_tokens=st.integers(CUT_TOKENS, 200))
def test_what_is_cut_fits_and_is_a_beginning(lines: list[str], budget_tokens: int) -> None:
    """The result is within the budget, whole lines of the beginning, and ends with a line that counts the others."""
    text = "\n".join(lines)
    fitted = fit_lines(text, budget_tokens)
    assert estimate_text_tokens(fitted) <= budget_tokens
    if fitted != text:
        *kept, mark = fitted.split("\n")
        assert mark.startswith("[... ")
        assert text.startswith("\n".join(kept))
        assert fitted.encode().decode() == fitted


@pytest.mark.parametrize("budget_tokens", [0, -1, 10_000])
def test_no_bound_and_a_wide_one_cut_nothing(budget_tokens: int) -> None:
    """Without a cap, and under it, a text is as it was."""
    assert fit_lines("a\nb\n", budget_tokens) == "a\nb\n"


def test_a_budget_smaller_than_the_mark_leaves_the_mark() -> None:
    """That something is missing is said before anything else."""
    assert fit_lines("word " * 100, 1).startswith("[... 1 more line left out")


def test_one_long_line_is_cut_inside() -> None:
    """A text without line ends still shows its beginning."""
    fitted = fit_lines("word " * 500, 100)
    assert fitted.startswith("word word")
    assert fitted.split("\n")[1].startswith("[... 1 more line left out")


@given(value=JSON)
def test_json_becomes_clean_lines(value: object) -> None:
    """Whatever is in it, the text holds no control character and can be encoded."""
    text = render_json(value)
    assert text.encode().decode() == text
    assert not any(ord(it) < 32 and it != "\n" for it in text)


def test_deep_json_stays_small() -> None:
    """Far inside, lines are indented no further."""
    value = json.loads('{"a":' * 200 + "1" + "}" * 200)
    assert max(len(line) for line in render_json(value).split("\n")) < 1100
