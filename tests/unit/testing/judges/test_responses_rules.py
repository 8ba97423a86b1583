"""The judge of Responses input names what the endpoint refuses, and nothing else."""

from typing import Any

import pytest

from everfold.testing.judges.requests import check_responses_request

ASK: dict[str, Any] = {"role": "user", "content": "How much?"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "call_1", "output": "3"}


@pytest.mark.parametrize("given", ["How much?", [ASK], [ASK, CALL, OUTPUT], [ASK, CALL, OUTPUT, CALL, OUTPUT]])
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
    ],
)
def test_names_what_the_endpoint_refuses(given: object, named: str) -> None:
    """Each rule that is broken is named."""
    (violation,) = check_responses_request({"input": given})
    assert named in violation
