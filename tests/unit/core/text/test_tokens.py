import pytest

from everfold.core.text.tokens import (
    IMAGE_TOKENS,
    LOW_DETAIL_IMAGE_TOKENS,
    estimate_image_tokens,
    estimate_json_tokens,
    estimate_text_tokens,
    truncate_to_tokens,
)
from everfold.errors import InvalidInputError

_ENGLISH = (
    "The train to the coast leaves at nine, and we should be there before the others arrive. Did Maria say whether "
    "her brother is coming? I could not find his number, so I wrote to him instead. "
)
_CODE = "def total(values: list[int]) -> int:\n    result = 0\n    for value in values:\n        result += value\n    return result\n"
_RECORD = '{"id": "a91f", "count": 12, "tags": ["x", "y"], "ok": true}\n'


def test_empty_text_costs_nothing() -> None:
    """Only the empty text has no tokens."""
    assert estimate_text_tokens("") == 0
    assert estimate_text_tokens(" ") == 1
    assert 1 <= estimate_text_tokens("ok") <= 2


# The real counts in this module were taken once with cl100k_base.
@pytest.mark.parametrize(
    ("text", "real"),
    [(_ENGLISH * 10, 421), (_CODE * 10, 310), (_RECORD * 10, 280)],
    ids=["english", "code", "json"],
)
def test_estimate_is_high_but_near(text: str, real: int) -> None:
    """English, code and JSON are estimated at the real count or up to a fifth above it."""
    assert 0.98 * real <= estimate_text_tokens(text) <= 1.2 * real


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("我们明天下午三点在北京开会，请把合同和发票都带来。" * 8, 190, 290),  # noqa: RUF001 - Chinese
        ("Завтра в три часа дня у нас встреча, принесите договор. " * 8, 200, 320),  # noqa: RUF001 - Russian
        ("غدا في الساعة الثالثة بعد الظهر لدينا اجتماع. " * 8, 230, 400),
        ("พรุ่งนี้บ่ายสามโมงเรามีประชุมที่กรุงเทพ " * 8, 270, 560),
        ("0123456789abcdef" * 64, 320, 640),
        ("31415926535897932384" * 50, 333, 500),
        (" " * 8_000, 100, 400),
        ("\n" * 1_000, 10, 500),
        ("-" * 1_000, 13, 300),
        ("x" * 1_000, 100, 400),
        ("\U0001f389" * 100, 100, 400),
        ("\ud83d" * 100, 100, 300),
    ],
    ids=[
        "han",
        "cyrillic",
        "arabic",
        "thai",
        "hex",
        "digits",
        "spaces",
        "lines",
        "rule",
        "letter",
        "emoji",
        "surrogates",
    ],
)
def test_unusual_texts_stay_sane(text: str, least: int, most: int) -> None:
    """Other scripts, numbers, long runs and lone surrogates have an estimate that is neither low nor absurd."""
    assert least <= estimate_text_tokens(text) <= most


@pytest.mark.parametrize(
    ("text", "estimate"),
    [
        (_ENGLISH, 43),
        (_CODE, 35),
        (_RECORD, 31),
        ("Él llegó a las 15:30 — «tarde», как всегда. 东京 \U0001f389", 30),
        ("\t\tRETURN getHTTPServer2(0x1F, 3.14159);\r\n" * 3, 65),
    ],
)
def test_estimate_is_fixed(text: str, estimate: int) -> None:
    """The estimate of a text never changes, for it is stored and decides retention."""
    assert estimate_text_tokens(text) == estimate


def test_json_is_estimated_compactly() -> None:
    """A schema costs what its compact text costs, with letters of other scripts as they are."""
    assert estimate_json_tokens({"name": "straße", "items": [1, None, True]}) == estimate_text_tokens(
        '{"name":"straße","items":[1,null,true]}'
    )


@pytest.mark.parametrize(
    "value", [{1, 2}, float("nan"), {"a": object()}, b"bytes"], ids=["set", "nan", "object", "bytes"]
)
def test_what_is_no_json_is_refused(value: object) -> None:
    """A value that does not serialise is our own error."""
    with pytest.raises(InvalidInputError):
        estimate_json_tokens(value)


def test_circle_is_refused() -> None:
    """A list that holds itself is our own error."""
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(InvalidInputError):
        estimate_json_tokens(circle)


def test_image_costs_the_most_unless_low() -> None:
    """An image of unknown size costs the highest documented price, in low detail the low one."""
    assert estimate_image_tokens() == estimate_image_tokens("high") == estimate_image_tokens("auto") == IMAGE_TOKENS
    assert estimate_image_tokens("low") == LOW_DETAIL_IMAGE_TOKENS


def test_text_within_the_cap_comes_back_whole() -> None:
    """Nothing is elided when nothing has to be."""
    cut = truncate_to_tokens(_CODE, 1_000)
    assert cut == (_CODE, "", len(_CODE), len(_CODE))


def test_cap_of_nothing_keeps_nothing() -> None:
    """A cap of 0 elides the whole text."""
    assert truncate_to_tokens(_CODE, 0) == ("", "", 0, len(_CODE))


def test_cuts_fall_between_lines() -> None:
    """With line ends near, the head ends with one and the tail begins after one."""
    text = "".join(f"line {number} of the listing\n" for number in range(500))
    cut = truncate_to_tokens(text, 200)
    assert cut.head.endswith("\n")
    assert cut.tail.startswith("line ")


def test_cuts_fall_between_words() -> None:
    """Without line ends, no word is cut in two."""
    cut = truncate_to_tokens(_ENGLISH * 50, 100)
    assert cut.head.endswith(" ")
    assert cut.tail.split()[0] in _ENGLISH.split()


@pytest.mark.parametrize(
    "unit",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\U0001f44d\U0001f3fd",
        "e\u0301",
        "\r\n",
        "\ud83d\udc4d",
        "\u2764\ufe0f",
    ],
    ids=["family", "skin", "accent", "crlf", "surrogates", "selector"],
)
@pytest.mark.parametrize("cap_tokens", [23, 24, 25, 26, 27, 28])
def test_what_reads_as_one_is_not_split(unit: str, cap_tokens: int) -> None:
    """Joined emoji, accents, CR LF and surrogate pairs fall on one side of a cut."""
    cut = truncate_to_tokens(unit * 400, cap_tokens)
    assert len(cut.head) % len(unit) == 0
    assert len(cut.tail) % len(unit) == 0


def test_share_divides_the_cap() -> None:
    """A head share of 0 keeps only the end, of 1 nearly only the beginning."""
    text = _ENGLISH * 50
    assert truncate_to_tokens(text, 100, head_share=0).head == ""
    assert len(truncate_to_tokens(text, 100, head_share=1).tail) < 100


def test_impossible_caps_are_refused() -> None:
    """A negative cap and a share outside 0 to 1 are our own errors."""
    with pytest.raises(InvalidInputError):
        truncate_to_tokens("text", -1)
    with pytest.raises(InvalidInputError):
        truncate_to_tokens("text", 1, head_share=1.5)


@pytest.mark.parametrize(
    ("text", "expected_tokens"),
    [
        ("a", 1),
        ("Yes, at nine.", 4),
        ("def f(x: int) -> int:\n\treturn x + 1\n", 18),
        ("A0A0 B12C 2024-02-03 14:05:06.789", 24),
        ("aAaAaAa", 4),
        ("aaaaaaaaaaaaaaaaaaaaaaaa", 4),
        ("........................", 3),
        ("==== ----\n\n  \t\ta", 9),
        ("Gr\xfc\xdfe aus K\xf6ln", 7),
        ("\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440", 8),
        ("\u6f22\u5b57\u3068\u304b\u306a", 6),
        ("\U0001f600 \u200d\U0001f469", 8),
        ("\ud800\udc00 \udfff", 4),
        ("\xa0\xb0", 3),
        ("\x00\x7f", 1),
        ("word " * 40, 42),
        ("0123456789" * 20, 69),
    ],
)
def test_an_estimate_stays_what_it_was(text: str, expected_tokens: int) -> None:
    """The estimate of a text never changes, since what a stored log retains was decided by it."""
    assert estimate_text_tokens(text) == expected_tokens
