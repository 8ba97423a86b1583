import enum
import json
import math
from collections import OrderedDict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everfold.core.primitives.json_values import (
    MAX_DEPTH,
    JsonValue,
    canonical_json,
    decode_json,
    encode_json,
    parse_json,
)
from everfold.errors import InvalidInputError

_strings = st.text(st.characters(), max_size=12) | st.lists(
    st.sampled_from(["\ud83d", "\ude00", "\U0001f600", "a", "\u2028", "\x00", '"', "\\"]), max_size=6
).map("".join)
_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _strings
)  # integers() reaches far past 64 bits
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_strings, inner, max_size=4), max_leaves=20
)


def _shape(value: JsonValue) -> object:
    """Give a value in which types, key order, code points and the sign of zero count for equality."""
    if isinstance(value, dict):
        return [(list(key), _shape(member)) for key, member in value.items()]
    if isinstance(value, list):
        return ("list", [_shape(member) for member in value])
    return (type(value).__name__, list(value) if isinstance(value, str) else repr(value))


@given(_values)
def test_values_read_back_equal(value: JsonValue) -> None:
    """Every JSON value reads back with equal types, key order, number forms and code points."""
    assert _shape(decode_json(encode_json(value))) == _shape(value)


@given(_values)
def test_parse_agrees_with_the_standard_decoder(value: JsonValue) -> None:
    """Text that plain JSON tools write is parsed to what they would read from it."""
    text = json.dumps(value, indent=1)
    assert _shape(parse_json(text)) == _shape(json.loads(text))


def test_adjacent_lone_surrogates_stay_two() -> None:
    """A high and a low surrogate side by side stay two code points, although their escapes would join into one."""
    pair = "\ud83d" + "\ude00"
    stored = decode_json(encode_json(pair))
    assert isinstance(stored, str)
    assert [ord(char) for char in stored] == [0xD83D, 0xDE00]
    assert json.loads(json.dumps(pair)) != pair


def test_escaped_lone_surrogate_is_parsed_lone() -> None:
    """A lone surrogate that a file escapes is accepted and stays what it is."""
    assert parse_json('"\\ud83d|\\ude00"') == "\ud83d|\ude00"


class _Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize("value", [OrderedDict(b=1, a=2), {"colour": _Colour.RED}, 10**4000, -0.0, 5e-324])
def test_values_that_equal_json_are_accepted(value: JsonValue) -> None:
    """Values of other types pass where what is read back is equal to them."""
    assert decode_json(encode_json(value)) == value


_circular: list[object] = []
_circular.append(_circular)


def _nested(depth: int) -> list[JsonValue]:
    value: list[JsonValue] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"content": [{"foo": math.nan}]}, "messages[3].content[0].foo", "nan"),
        ({"content": [{"foo": -math.inf}]}, "messages[3].content[0].foo", "-inf"),
        ({"a": [1, (2, 3)]}, "messages[3].a[1]", "tuple"),
        ({"a": {"b": {1: "x"}}}, "messages[3].a.b", "the key 1 is a int"),
        ({None: 1}, "messages[3]", "NoneType"),
        ({True: 1}, "messages[3]", "bool"),
        ({"odd key": b"x"}, 'messages[3]["odd key"]', "bytes"),
        ({"a": {1, 2}}, "messages[3].a", "set"),
        ((), "messages[3]", "tuple"),
        ([10**5000], "messages[3][0]", "digits"),
        ([[[]], _circular], "messages[3][1][0][0]", "contains itself"),
        (_nested(MAX_DEPTH + 1), "messages[3][0][0]", "more than 500 levels"),
        (_nested(5000), "messages[3][0][0]", "more than 500 levels"),
        (OrderedDict(a=_nested(MAX_DEPTH)), "messages[3].a[0]", "more than 500 levels"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_path(value: object, path: str, reason: str) -> None:
    """A value that would not read back equal is refused, naming the path to the place and why."""
    with pytest.raises(InvalidInputError) as refused:
        encode_json(value, at="messages[3]")  # type: ignore[arg-type]  # wrong values are the point
    assert str(refused.value).startswith(path)
    assert reason in str(refused.value)
    assert str(refused.value.ids["path"]).startswith(path)


def test_the_deepest_value_allowed_round_trips() -> None:
    """A value nested exactly as deep as is allowed is stored and parsed."""
    value = _nested(MAX_DEPTH)
    data = encode_json(value)
    assert decode_json(data) == value
    assert parse_json(data.decode()) == value


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('[1,\n "NaN", NaN]', 2, 9, "NaN is not a JSON value"),
        ('{"a": -Infinity}', 1, 7, "-Infinity"),
        ("[1,\r\n 1e999]", 2, 2, "too large"),
        ("[" + "9" * 5000 + "]", 1, 2, "5000 digits"),
        ('{"a": 1,\n "b": {"c": "}", "c": 2}}', 2, 18, "twice"),
        ('{"a": 1, "\\u0061": 2}', 1, 10, "twice"),
        ("[" * 501 + "]" * 501, 1, 501, "500 levels"),
        ("[" * 9000, 1, 501, "500 levels"),
        ("[1,\n2", 2, 2, "ends before"),
        ("", 1, 1, "ends before"),
        ('{"a": "x', 1, 7, "does not end"),
        ("[1]\n[2]", 2, 1, "more text"),
        ("[1,\n,2]", 2, 1, "not JSON"),
        ('["a\tb"]', 1, 4, "not JSON"),
    ],
)
def test_text_that_is_no_exact_json_is_refused_with_its_place(text: str, line: int, column: int, reason: str) -> None:
    """Text that is not JSON, or could not be read back equal, is refused with line, column and reason."""
    with pytest.raises(InvalidInputError, match=reason) as refused:
        parse_json(text)
    assert refused.value.ids == {"line": line, "column": column}


FRAGMENTS = (
    "[",
    "]",
    "{",
    "}",
    '"',
    '"a": ',
    '"a\\"',
    "\\",
    "\\u12",
    "const",
    "1",
    "-",
    "1e999",
    "NaN",
    ",",
    ":",
    " ",
    "\n",
    "\x01",
)


@given(
    st.sampled_from(["", '{"content": "', "[", "]"]),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=4).map("".join),
)
@example('{"content": "', "const rowN = rows[N]; ", "")
@example("]", "[1] ", "")
def test_whatever_is_wrong_in_a_long_text_is_refused(beginning: str, middle: str, end: str) -> None:
    """A text of many brackets that breaks off or goes wrong anywhere is refused as any other, with its place."""
    text = beginning + middle * 700 + end
    try:
        known = json.loads(text)
    except (ValueError, RecursionError):
        known = None
    lines: list[object] = []
    try:
        assert parse_json(text) == known
    except InvalidInputError as error:
        lines.append(error.ids["line"])
    assert set(lines) <= set(range(1, text.count("\n") + 2))


def test_lines_count_from_the_line_that_the_text_has_in_its_file() -> None:
    """The line of a refusal is that of the file, not of the piece that was parsed."""
    with pytest.raises(InvalidInputError, match="line 8, column 1"):
        parse_json("[1\n+]", first_line=7)


@pytest.mark.parametrize("data", [b"", b"[1", b"\xff", b'{"a": NaN}'])
def test_stored_bytes_that_are_no_json_are_refused(data: bytes) -> None:
    """Bytes that the encoder cannot have written give an error of ours."""
    with pytest.raises(InvalidInputError, match=f"{len(data)} bytes"):
        decode_json(data)


def test_canonical_json_goes_by_the_value() -> None:
    """Members in any order, blanks and forms of a number make no difference; another value or type does."""
    assert canonical_json({"b": [1.0, 2], "a": None}) == canonical_json({"a": None, "b": [1, 2.0]})
    assert canonical_json((1, "x")) == canonical_json([1, "x"])
    assert len({canonical_json(value) for value in (1, True, "1", None, 1.5, [1], {"1": 1}, 0, False, "")}) == 10
    assert canonical_json("\ud83d") != canonical_json("\ud83e")
