"""The JSON of messages, packed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.sql.packed_messages import pack_message, unpack_message

CONTENTS = st.one_of(
    st.binary(max_size=60).map(lambda tail: b"{" + tail),
    st.text(max_size=20_000).map(lambda said: json.dumps({"role": "user", "content": said}).encode()),
)


@given(CONTENTS)
def test_packed_json_reads_as_it_was(content: bytes) -> None:
    """Any JSON comes back byte for byte, takes no more room than it did, and is packed once only."""
    packed = pack_message(content)
    assert unpack_message(packed) == content
    assert len(packed) <= len(content)
    assert pack_message(packed) == packed


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "user",
            "content": "I would like to know what you think about the weekend, and whether your family will come.",
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_01", "name": "read", "input": {"path": "a.py"}}],
        },
        {
            "role": "tool",
            "tool_call_id": "call_01",
            "content": "1 error found: the result of the function is no string, line 12",
        },
    ],
    ids=["said", "call", "result"],
)
def test_a_short_message_takes_two_thirds_of_its_json(message: dict[str, object]) -> None:
    """What a person says, and the frames of calls and results, shrink although each is packed alone."""
    content = json.dumps(message, separators=(",", ":")).encode()
    assert len(pack_message(content)) < len(content) * 2 / 3


def test_what_no_row_has_stays_as_it_is() -> None:
    """A value that is no JSON of ours, as damage leaves it, is given back for the reader to refuse."""
    for value in (None, "text", 7, b"", b"[]"):
        assert unpack_message(value) == value
