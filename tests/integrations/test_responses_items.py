"""The items of OpenAI's Responses become messages of the log and items again, with the same meaning."""

from typing import Any

import pytest

from everfold.integrations.responses_items import group_items, read_items, write_items
from everfold.testing.judges.requests import check_openai_request, check_responses_request

CALLS: list[dict[str, Any]] = [
    {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "add", "arguments": "{}"} for n in (1, 2)
]
OUTPUTS: list[dict[str, Any]] = [
    {"type": "function_call_output", "call_id": f"call_{n}", "output": output}
    for n, output in ((1, "3"), (2, [{"type": "input_text", "text": "4"}]))
]
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Add."},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I add.", "annotations": []}]},
    *CALLS,
    *OUTPUTS,
    {"role": "assistant", "content": "7"},
    {"role": "user", "content": [{"type": "input_text", "text": "And this?"}]},
]


def read_all(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a list of items."""
    return [message for group in group_items(items) for message in read_items(group)]


def test_the_items_of_a_reply_become_one_message() -> None:
    """Text and calls of a reply are one message, each result is one, and the whole is a valid chat request."""
    messages = read_all(ITEMS)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert messages[1]["content"] == "I add."
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["call_1", "call_2"]
    assert [message["content"] for message in messages[2:4]] == ["3", "4"]
    assert check_openai_request({"messages": messages}) == []


def test_messages_become_valid_items_that_read_the_same() -> None:
    """What the items were read as is written as valid items, and read again as the same messages."""
    messages = read_all(ITEMS)
    items = list(write_items(messages))
    assert check_responses_request({"input": items}) == []
    assert read_all(items) == messages


def test_an_image_stays_an_image() -> None:
    """An image of the user is one in either form."""
    image = {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"}
    messages = read_all([{"role": "user", "content": [image]}])
    assert messages == [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}
    ]
    assert list(write_items(messages)) == [{"role": "user", "content": [image]}]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "web_search_call", "id": "ws_1"}, "[item of type web_search_call]"),
        ({"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}, "[content of type input_file]"),
    ],
)
def test_what_has_no_message_is_named(item: dict[str, Any], text: str) -> None:
    """Items and parts that have no message are named, so that it is seen that something was there."""
    assert text in str(read_all([item]))


def test_reasoning_alone_is_no_message() -> None:
    """A reply that has nothing but reasoning leaves no message."""
    assert read_all([{"type": "reasoning", "id": "rs_1", "summary": []}]) == []
