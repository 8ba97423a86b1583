"""The messages of one request after another, as Pydantic AI's, are the same whether they are made anew or not."""

from itertools import pairwise
from random import Random

import pytest
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from everfold.adapters.models.window_messages import Gathered, Part


def make(kind: int) -> list[Part]:
    """The parts of one message of a request."""
    kinds: list[list[Part]] = [
        [TextPart("Said.")],
        [UserPromptPart("Asked.")],
        [TextPart("Looking."), ToolCallPart("look_up", {})],
        [ToolReturnPart(tool_name="look_up", content="Found.", tool_call_id="call_1")],
        [],
    ]
    return kinds[kind]


def list_parts(messages: list[ModelMessage]) -> list[tuple[str, list[int]]]:
    """What messages are made of, by identity."""
    return [(message.kind, [id(part) for part in message.parts]) for message in messages]


@pytest.mark.parametrize("seed", range(200))
def test_later_requests_are_gathered_as_if_they_were_first(seed: int) -> None:
    """However a request differs from the one before, its messages are those of its parts, and neighbours differ in side."""
    random, gathered = Random(seed), Gathered()
    parts: list[list[Part]] = []
    for _ in range(6):
        kept = random.randint(0, len(parts))
        parts = parts[:kept] + [make(random.randint(0, 4)) for _ in range(random.randint(0, 4))]
        messages = gathered.gather(parts)
        assert list_parts(messages) == list_parts(Gathered().gather(parts))
        assert [id(part) for message in messages for part in message.parts] == [
            id(part) for one in parts for part in one
        ]
        assert all(first.kind != then.kind for first, then in pairwise(messages))
