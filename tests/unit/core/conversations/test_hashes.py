"""Hashes of conversations."""

import pytest

from everfold.core.conversations.hashes import (
    GivenMessage,
    chain_given,
    find_tail,
    hash_said,
    hash_tails,
    read_given,
)
from everfold.core.log.client_lists import ClientMessage
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject

SEED = b"seed"


def _given(wire: JsonObject, form: str = "openai") -> GivenMessage:
    return read_given(wire, read_wire(wire, wire_format=form))  # type: ignore[arg-type]  # one of the forms


def _call(arguments: str) -> JsonObject:
    function: JsonObject = {"name": "look", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


SAME: list[tuple[JsonObject, str, JsonObject, str]] = [
    (
        {"role": "user", "content": "Berth 7?"},
        "openai",
        {"role": "user", "content": [{"type": "text", "text": "Berth 7?"}]},
        "openai",
    ),
    (
        {"role": "user", "content": "Berth 7?"},
        "openai",
        {"role": "user", "content": [{"type": "text", "text": "Berth 7?", "cache_control": {"type": "ephemeral"}}]},
        "anthropic",
    ),
    (_call('{"a": 1, "b": 2}'), "openai", _call('{"b":2,"a":1}'), "openai"),
    (
        {"role": "assistant", "content": "Free.", "refusal": None, "annotations": []},
        "openai",
        {"role": "assistant", "content": "Free.\n"},
        "openai",
    ),
    (
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Free."}],
        },
        "anthropic",
        {"role": "assistant", "content": "Free."},
        "anthropic",
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            ],
        },
        "anthropic",
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "2"}]},
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            ],
        },
        "anthropic",
    ),
    (
        {
            "object": "response",
            "output": [
                {"id": "rs_1", "type": "reasoning", "summary": []},
                {
                    "id": "m",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Free."}],
                },
            ],
        },
        "responses",
        {
            "object": "response",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Free."}]}],
        },
        "responses",
    ),
]


@pytest.mark.parametrize(("one", "form", "other", "other_form"), SAME)
def test_the_same_in_other_bytes_has_the_same_hash(
    one: JsonObject, form: str, other: JsonObject, other_form: str
) -> None:
    """Part lists, blanks in arguments, cache marks, thinking, ids of items and the order of results change nothing."""
    assert _given(one, form).content == _given(other, other_form).content


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": "Berth 7?"},
        {"role": "user", "content": "Berth 8?"},
        {"role": "user", "content": "berth 7?"},
        {"role": "user", "content": "Berth 7?", "name": "ada"},
        {"role": "user", "content": [{"type": "text", "text": "Berth"}, {"type": "text", "text": "7?"}]},
    ],
)
def test_what_says_another_thing_has_another_hash(other: JsonObject) -> None:
    """Role, name and every character count, and where a text is parted."""
    assert _given(other).content != _given({"role": "user", "content": "Berth 7?"}).content


def test_a_chain_is_of_the_whole_list() -> None:
    """Two lists have a chain in common up to where they differ, and none with another seed."""
    lists = [[_given({"role": "user", "content": text}) for text in texts] for texts in ("abcd", "abxd")]
    one, other = (chain_given(SEED, given) for given in lists)
    assert [a == b for a, b in zip(one, other, strict=True)] == [True, True, False, False]
    assert not set(one) & set(chain_given(b"other", lists[0]))


def test_a_chain_begins_again_at_a_compaction_of_the_provider() -> None:
    """A list that begins with a provider's compaction has the chains of the one with all that was before it."""
    item: JsonObject = {"type": "compaction", "encrypted_content": "gAAA"}
    anchor = _given({"object": "response", "output": [item]}, "responses")
    assert anchor.is_anchor
    before, after = ([_given({"role": "user", "content": text}) for text in texts] for texts in ("abc", "de"))
    assert chain_given(SEED, [*before, anchor, *after])[3:] == chain_given(SEED, [anchor, *after])


def test_a_tail_is_of_the_last_three_that_a_client_must_hold() -> None:
    """A reply that broke off does not count, and an erased message leaves a list without a tail."""
    contents = [bytes([number] * 16) for number in range(5)]
    listed = [ClientMessage(content=content, kind="said", seq=at) for at, content in enumerate(contents, 1)]
    loose = ClientMessage(content=b"x" * 16, kind="said", seq=9, is_optional=True)
    assert find_tail(SEED, [*listed, loose]) == hash_tails(SEED, contents)[-1]
    erased = ClientMessage(content=None, kind="said", seq=4)
    assert find_tail(SEED, [*listed[:3], erased, listed[4]]) is None
    assert find_tail(SEED, listed[:2]) is None


def test_a_word_that_is_a_whole_message_is_found_by_its_hash() -> None:
    """Whether user or assistant said it, a message that says nothing but a word has one of the word's hashes."""
    for role in ("user", "assistant"):
        assert _given({"role": role, "content": [{"type": "text", "text": "Zanzibar"}]}).content in hash_said(
            "Zanzibar"
        )
