"""What is embedded of what there is, and how vectors compare."""

from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.recall.vectors import (
    MOST_CHARS,
    Space,
    check_dimensions,
    clean_text,
    compare,
    normalise,
    quantise,
    read_item_words,
    read_topic_words,
)
from everfold.errors import InvalidInputError
from everfold.testing.kit.memory_builders import item, topic

st_numbers = st.lists(st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False), min_size=1, max_size=40)


@given(st_numbers)
def test_a_direction_has_length_one(numbers: list[float]) -> None:
    """The vector of length 1 points where the given one does, and has none exactly where that has none."""
    unit = normalise(numbers)
    if unit is None:
        assert set(numbers) == {0.0}
    else:
        assert compare(unit, unit) == pytest.approx(1.0)
        assert quantise(unit) == quantise(numbers)


@pytest.mark.parametrize("numbers", [(0.0, 0.0), (nan, 1.0), (inf, 1.0), ()])
def test_what_has_no_direction(numbers: tuple[float, ...]) -> None:
    """Zeros alone, what is no number, and nothing have no direction."""
    assert normalise(numbers) is None


@given(st_numbers)
def test_a_code_has_a_bit_for_each_number(numbers: list[float]) -> None:
    """A bit is set exactly where the number is above zero, the first one highest; the rest of the last byte is zero."""
    code = quantise(numbers)
    assert len(code) == (len(numbers) + 7) // 8
    bits = "".join(f"{byte:08b}" for byte in code)
    assert bits == "".join("1" if number > 0 else "0" for number in numbers).ljust(len(bits), "0")


def test_another_size_is_refused() -> None:
    """A vector is of the size that its space has."""
    check_dimensions((1.0, 2.0), Space("m", 2))
    with pytest.raises(InvalidInputError, match="2 numbers; expected 3, as m gives"):
        check_dimensions((1.0, 2.0), Space("m", 3))


@given(st.text(max_size=200))
def test_any_text_can_be_sent(text: str) -> None:
    """What is sent is UTF-8, and a text without secrets and surrogates is sent as it is."""
    assert len(clean_text(text).encode()) >= len(text)
    assert clean_text("The berth is free. 泊位") == "The berth is free. 泊位"


def test_the_beginning_of_a_long_text_is_sent() -> None:
    """A long text is cut, after its secrets are out; one that straddles the cut is not half there."""
    assert clean_text("berth " * 5_000) == ("berth " * 5_000)[:MOST_CHARS]
    secret = "sk-proj-Zx81kQv0TmWb27LrYd94NsZx81kQv0TmWb27LrYd94Ns"
    assert "Zx81" not in clean_text("x" * (MOST_CHARS - 30) + f" {secret} end")


def test_only_what_is_active_has_words() -> None:
    """Items and topics are embedded as long as they are active."""
    one, other = item("itm_1"), topic("top_1")
    assert read_item_words(one) is not None
    assert read_topic_words(other) is not None
    assert read_item_words(replace(one, status="superseded")) is None
    assert read_topic_words(replace(other, status="expired")) is None


def test_a_secret_at_the_end_of_what_is_looked_at_is_left_out() -> None:
    """A secret that was cut off before its end is not sent, however much the secrets before it were shortened."""
    lines = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 250)
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    url = "postgres://ada:hunter2verysecret"
    for looked_chars in (2 * MOST_CHARS, 3 * MOST_CHARS):
        before = f"{key[: looked_chars - 200]}\n-----END PRIVATE KEY-----\nBerth 7 is free. "
        text = before + " " * (looked_chars - len(before) - len(url)) + url + "@berth.example/db and more. " * 300
        assert text[:looked_chars].endswith(url)
        assert "hunter2" not in clean_text(text)
