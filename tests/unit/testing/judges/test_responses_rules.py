"""The judge of Responses input names what the endpoint refuses, and nothing else."""

from typing import Any

import pytest

from everfold.testing.judges.requests import check_responses_request

ASK: dict[str, Any] = {"role": "user", "content": "How much?"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "call_1", "output": "3"}


REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
COMPUTER: dict[str, Any] = {"type": "computer_call", "call_id": "call_2", "action": {"type": "wait"}}


@pytest.mark.parametrize(
    "given",
    [
        *("How much?", [ASK], [ASK, CALL, OUTPUT], [ASK, CALL, OUTPUT, CALL, OUTPUT]),
        [ASK, REASONING, {"type": "web_search_call", "id": "ws_1"}, CALL, OUTPUT],
        [ASK, COMPUTER, {"type": "computer_call_output", "call_id": "call_2", "output": {}}],
        [{"type": "compaction", "encrypted_content": "x"}, ASK],
    ],
)
def test_takes_what_the_endpoint_takes(given: object) -> None:
    """A text, messages, and calls with their outputs are valid."""
    assert check_responses_request({"input": given}) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ([], "input"),
        ([ASK, CALL], "no output answers"),
        ([ASK, OUTPUT], "answers no open call"),
        ([{"role": "tool", "content": "3"}], "role"),
        ([{"role": "user", "content": ""}], "content"),
        ([{"type": "unheard"}], "type"),
        ([ASK, REASONING], "reasoning"),
        ([ASK, REASONING, ASK], "reasoning"),
        ([ASK, {**CALL, "name": ""}, OUTPUT], "needs a name"),
        ([ASK, CALL, CALL, OUTPUT], "twice"),
        ([{"role": "user", "content": [{"type": "hologram"}]}], "not one of the parts"),
    ],
)
def test_names_what_the_endpoint_refuses(given: object, named: str) -> None:
    """Each rule that is broken is named."""
    (violation,) = check_responses_request({"input": given})
    assert named in violation
