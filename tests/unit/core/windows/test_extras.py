"""Members that Everfold does not read come back to the provider that they came from, as they came."""

from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everfold
from everfold.core.log.visible import estimate_view_tokens
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.rendering import Provider, render

HELLO: JsonObject = {
    "role": "user",
    "content": [{"type": "text", "text": "Hello.", "prompt_hint": 1}],
    "priority": "high",
}
THOUGHT: JsonObject = {
    "role": "assistant",
    "content": None,
    "reasoning_content": "The user greets; I look.",
    "reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln"}],
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "look", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "c2ln"}},
        }
    ],
}
RESULT: JsonObject = {"role": "tool", "tool_call_id": "call_1", "content": "A quay.", "took_ms": 12}
BLOCKS: list[JsonObject] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "Hello.", "cache_control": {"type": "ephemeral"}, "hint": 1}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look.", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {}, "caller": {"type": "direct"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A quay.", "took_ms": 12}]},
]


async def show(
    messages: list[JsonObject], provider: Provider = "openai", *, limit: int = 8_000, form: Any = None
) -> list[dict[str, Any]]:
    """The messages of a session's window."""
    async with everfold.open("memory://", settings={"recall": {"enabled": False}}) as engine:
        session = await engine.session(limit=limit)
        await session.append(messages, wire_format=form)
        request = render(await session.window(), provider)
        return cast("list[dict[str, Any]]", request["messages"])


async def test_members_of_messages_parts_and_calls_come_back() -> None:
    """In OpenAI's form a message is what came, member for member: reasoning, signatures, and what is not known."""
    assert await show([HELLO, THOUGHT, RESULT]) == [HELLO, THOUGHT, RESULT]


async def test_members_of_blocks_come_back() -> None:
    """In Anthropic's form a block is what came; cache marks are placed as they are in any request."""
    shown = await show(BLOCKS, "anthropic")
    for message in shown:
        message["content"] = [
            {key: value for key, value in it.items() if key != "cache_control"} for it in message["content"]
        ]
    bare = [dict(block) for message in BLOCKS for block in cast("list[JsonObject]", message["content"])]
    for block in bare:
        block.pop("cache_control", None)
    assert [block for message in shown for block in message["content"]] == bare


@pytest.mark.parametrize(("messages", "provider"), [([HELLO, THOUGHT, RESULT], "anthropic"), (BLOCKS, "openai")])
async def test_another_provider_gets_none(messages: list[JsonObject], provider: Provider) -> None:
    """What one provider has added is not sent to another one, which would refuse it."""
    shown = str(await show(messages, provider))
    for name in ("reasoning", "extra_content", "took_ms", "priority", "prompt_hint", "caller", "hint"):
        assert name not in shown


async def test_a_system_message_of_blocks_is_taken() -> None:
    """Anthropic's form may have one among its messages; it is shown at its place."""
    block: JsonObject = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    shown = await show([BLOCKS[0], {"role": "system", "content": [block]}], "anthropic")
    assert "Be brief." in str(shown)


async def test_why_an_answer_broke_off_is_not_sent() -> None:
    """The member that the log itself writes is no provider's."""
    broken: JsonObject = {"role": "assistant", "content": "So", "interrupted": "stopped"}
    assert "interrupted" not in str(await show([{"role": "user", "content": "Hi."}, broken]))


async def test_they_are_counted() -> None:
    """A long reasoning costs a message what it costs a window, and a message that is too large is shown without it."""
    long = {**THOUGHT, "reasoning_content": "The harbour is closed. " * 2_000}
    assert estimate_view_tokens(read_wire(cast("JsonObject", long))) > estimate_view_tokens(read_wire(THOUGHT)) + 5_000
    shown = await show([HELLO, cast("JsonObject", long), RESULT])
    assert "reasoning_content" not in shown[1]
    assert shown[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}


_EXTRAS = st.dictionaries(
    st.from_regex(r"x_[a-z]{1,8}", fullmatch=True),
    st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab é", max_size=9), st.lists, max_leaves=4),
    max_size=3,
)


@given(st.lists(st.tuples(_EXTRAS, _EXTRAS, _EXTRAS), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
async def test_whatever_comes_goes(turns: list[tuple[JsonObject, JsonObject, JsonObject]]) -> None:
    """A log of whole messages in OpenAI's form renders as the messages that were appended, whatever members they have."""
    messages: list[JsonObject] = []
    for number, (user, part, reply) in enumerate(turns):
        text: JsonObject = {"type": "text", "text": f"Question {number}", **part}
        messages.append({"role": "user", "content": [text], **user})
        messages.append({"role": "assistant", "content": f"Answer {number}", **reply})
    assert await show(messages, limit=32_000) == messages
