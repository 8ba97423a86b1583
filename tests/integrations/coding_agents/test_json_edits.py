"""Edits of a JSON file put in and take out one value, and leave every other byte as it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.errors import InvalidInputError
from everfold.integrations.coding_agents.json_edits import add, find_place, parse_places, read_value, remove

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
NEW = {"type": "command", "command": 'say "hi" // not a comment'}


@given(value=OBJECTS, indent=st.sampled_from([None, 1, 2, 4, "\t"]))
def test_a_value_is_put_in_and_taken_out(value: dict[str, object], indent: int | str | None) -> None:
    """The file with a new list and a new member reads as expected, and is the same bytes when both are taken out."""
    before = json.dumps({"own": {"there": [1]}, **value}, indent=indent)
    after = add(add(before, ["own", "there"], [NEW]), ["own", "everfold"], NEW)
    held = value.get("own", {"there": [1]})
    if isinstance(held, dict) and isinstance(held.get("there"), list) and "everfold" not in held:
        expected = {**json.loads(before), "own": {**held, "there": [*held["there"], NEW], "everfold": NEW}}
        assert json.loads(after) == expected
        back = remove(remove(after, ["own", "everfold"], NEW), ["own", "there"], [NEW])  # type: ignore[list-item]
        assert json.loads(back) == json.loads(before)
        if held["there"]:
            assert back == before


@given(value=OBJECTS)
def test_places_hold_what_json_holds(value: dict[str, object]) -> None:
    """The value that is read from the places of a text is that of the text."""
    text = json.dumps(value)
    assert read_value(text, parse_places(text)) == value


def test_the_form_of_the_file_is_kept() -> None:
    """Indentation, line ends and comments stay, and what is new has the form of what is there."""
    before = '// mine\r\n{\r\n\t"hooks": { /* none */ },\r\n\t"theme": "dark" // best\r\n}\r\n'
    after = add(before, ["hooks", "Stop"], [NEW])
    assert after.startswith('// mine\r\n{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n')
    assert after.endswith('\r\n\t},\r\n\t"theme": "dark" // best\r\n}\r\n')


@pytest.mark.parametrize("text", ["", "{", "[1", '{"a": }', '{"a": 1} 2', '{"a" 1}', "nonsense", '{"a": 1,, }'])
def test_what_is_no_json_is_refused(text: str) -> None:
    """A file that no client could read is refused, and not mended."""
    with pytest.raises(InvalidInputError, match="not valid JSON"):
        add(text, ["a"], NEW)


def test_a_value_that_is_there_is_not_replaced() -> None:
    """A member of the same name, or something else where an object is expected, is refused."""
    with pytest.raises(InvalidInputError, match="already exists"):
        add('{"a": {"b": 1}}', ["a", "b"], NEW)
    with pytest.raises(InvalidInputError, match="not an object"):
        add('{"a": 1}', ["a", "b"], NEW)


def test_what_others_changed_is_left() -> None:
    """A value that is no longer as it was put in stays, and so do elements beside it."""
    text = '{"a": {"b": 2}, "c": [1, 2]}'
    assert remove(text, ["a", "b"], 1) == text
    assert remove(text, ["c"], [2]) == '{"a": {"b": 2}, "c": [1]}'
    assert find_place(text, ["a", "x"]) is None
