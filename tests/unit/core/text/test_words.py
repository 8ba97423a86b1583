import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everfold.core.text.stems import stem
from everfold.core.text.words import MAX_WORD_CHARS, STOP_WORDS, find_words, read_matter, read_words


def test_forms_of_a_word_meet() -> None:
    """Inflected and irregular forms of an English word give one index word."""
    for forms in ("painting painted paints Paint", "went goes going gone", "child children", "studies studied study"):
        assert len(set(read_words(forms))) == 1, forms


def test_composites_are_found_whole_and_by_part() -> None:
    """An identifier, a path or a ticket number gives its parts and the whole, however it is written."""
    cases = {
        "getUserById": ("get", "user", "id", "getuserbyid"),
        "src/foo_bar.py": ("src", "foo", "bar", "foobar", "py", "srcfoobarpy"),
        "RES-1234": ("1234", "res1234"),
        "call_abc": ("call", "abc", "callabc"),
        "HTTPServer2": ("http", "server", "2", "httpserver2"),
    }
    for composite, expected in cases.items():
        assert set(expected) <= set(read_words(composite)), composite


def test_a_composite_asks_for_what_it_was_indexed_as() -> None:
    """Marks and quotes around an identifier change none of its words."""
    for wrapped in ("`getUserById`", "(getUserById),", '"getUserById".'):
        assert read_words(wrapped) == read_words("getUserById")


def test_possessives_and_contractions_keep_the_word_before() -> None:
    """What follows an apostrophe as an ending is no part of the word, straight or curly."""
    assert read_words("Caroline's") == read_words("Caroline\u2019s") == read_words("caroline")
    assert read_words("they'll") == read_words("they")


def test_accents_and_width_fold() -> None:
    """Accented, decomposed and full-width letters give the plain word."""
    assert (
        read_words("CAFÉ") == read_words("cafe\u0301") == read_words("\uff43\uff41\uff46\uff45") == read_words("cafe")
    )


def test_cjk_runs_become_pairs_that_begin_with_every_character() -> None:
    """Each character of a CJK run begins some word, and neighbours stay together."""
    words = read_words("東京タワー")
    assert words == ["東京", "京タ", "タワ", "ワー", "ー"]


def test_text_between_scripts_is_split() -> None:
    """A CJK run beside Latin letters is a word of its own."""
    assert read_words("iPhoneを買った") == [*read_words("iPhone"), "を買", "買っ", "った", "た"]


def test_lone_surrogates_are_left_out() -> None:
    """Words can be written as UTF-8 whatever the text holds."""
    assert read_words("a\ud800b") == ["a", "b"]
    assert " ".join(read_words("\udfff東\ud800京 x\udc80")).encode()


def test_endless_words_are_cut_and_long_texts_are_indexed_whole() -> None:
    """Base64 gives one bounded word, and the last word of a paste is there."""
    assert len(read_words("q" * 10_000)[0]) == MAX_WORD_CHARS
    assert read_words("filler " * 20_000 + "needle")[-1] == "needl"


def test_encoded_data_gives_few_words() -> None:
    """Of an endless composite only the segments are words."""
    encoded = "/".join(["aGVsbG8gd29ybGQxMjM0NTY3ODkw"] * 100)
    assert len(read_words(encoded)) == 100


def test_matter_leaves_grammar_out() -> None:
    """Stop words in any form are no matter, and what is left keeps its order."""
    assert read_matter("The cats were on the roofs, and it's theirs") == "cat roof"


def test_found_words_stand_where_they_say() -> None:
    """Each span holds the text that gives the words named with it."""
    text = "Ask Ann's getUserById, 東京!"
    spans = [(text[start:end], words) for start, end, words in find_words(text)]
    assert [span for span, _ in spans] == ["Ask", "Ann's", "getUserById", "東京", "京"]
    assert spans[1][1] == ("ann",)
    assert "getuserbyid" in spans[2][1]


@pytest.mark.parametrize("first", ["ORD", "IN", "THE", "X", "AB12", "81", "007", "a"])
@pytest.mark.parametrize("joint", [".", "-", "/", ""])
@pytest.mark.parametrize("second", ["58", "0", "66543", "b7"])
def test_common_composites_read_like_all_others(first: str, joint: str, second: str) -> None:
    """The short way for the composites that logs are full of gives what the words of the long way are."""
    chunk = f"{first}{joint}{second}"
    assert read_matter(chunk).split() == [word for word in read_words(chunk) if word not in STOP_WORDS]


_TEXTS = st.sampled_from(["a", "of", "ing", "in", "the", "going", "Foo", "ORD", "BAr", "s", "don", "f", "C"])
_NUMBERS = st.from_regex(r"[0-9]{1,12}", fullmatch=True)
_JOINTS = st.sampled_from([*"-_./:@\\#&+',=|$\x00", "--", "-.", "", "", "\u2019", "\u00e9"])
_ENDS = st.text(".,!?;:()[]{}'\"*`~-_%", max_size=2)


@st.composite
def _chunks(draw: st.DrawFn) -> str:
    """What may stand between two spaces: words and numbers in any order, with joints, marks and other signs."""
    pieces = draw(st.lists(st.tuples(_TEXTS | _NUMBERS, _JOINTS), min_size=1, max_size=7))
    return draw(_ENDS) + "".join(piece + joint for piece, joint in pieces) + draw(_ENDS)


@given(chunk=_chunks() | st.text(st.characters(codec="utf-8", exclude_categories=["Z"]), max_size=80))
@example("B2's,")
@example("in-to/5")
@example("file_42.py:7")
def test_matter_is_the_words_without_grammar(chunk: str) -> None:
    """However a chunk is read, when it is new and when it was read before, its matter is its words less stop words."""
    expected = [word for word in read_words(chunk) if word not in STOP_WORDS]
    assert read_matter(chunk).split() == read_matter(chunk).split() == expected
    assert read_matter(f"{chunk} {chunk}").split() == expected * 2


@given(composite=st.from_regex(r"[a-z0-9]+([-_]{1,2}[a-z0-9]+){0,4}", fullmatch=True))
def test_composites_without_capitals_are_cut_where_letters_and_digits_meet(composite: str) -> None:
    """A composite of one segment gives its runs of letters, stemmed, and of digits; then all of it as one word."""
    runs = re.findall(r"[a-z]+|[0-9]+", composite)
    parts = [run[:MAX_WORD_CHARS] if run.isdigit() else stem(run[:MAX_WORD_CHARS]) for run in runs]
    whole = ["".join(runs)[:MAX_WORD_CHARS]] if len(runs) > 1 else []
    assert read_words(composite) == parts + whole
