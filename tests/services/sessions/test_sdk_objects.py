"""Replies of the providers' SDKs are appended as they are, and come back in a form that the provider takes."""

from collections.abc import Callable
from typing import Any

import pytest

from everfold import Everfold, Session
from everfold.core.log.sdk_objects import to_wire
from everfold.errors import InvalidInputError
from everfold.testing.judges.requests import check_anthropic_request, check_openai_request
from everfold.testing.kit.builders import user

ARGUMENTS = '{"berth": 7, "crane": null}'
INPUT = {"berth": 7, "crane": None, "parsed": True}
CALL = {"id": "call_1", "type": "function", "function": {"name": "find_berth", "arguments": ARGUMENTS}}
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Berth seven, then.", "signature": "c2ln"},
    {"type": "text", "text": "I look it up.", "citations": None},
    {"type": "tool_use", "id": "toolu_1", "name": "find_berth", "input": INPUT},
]
STORED: list[dict[str, Any]] = [BLOCKS[0], {"type": "text", "text": "I look it up."}, BLOCKS[2]]


def openai_reply() -> Any:
    """The message of a reply of OpenAI's that calls a tool."""
    from openai.types.chat import ChatCompletion  # takes long to import, and every worker collects every file

    message = {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": [CALL]}
    choice = {"index": 0, "finish_reason": "tool_calls", "logprobs": None, "message": message}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice]}
    return ChatCompletion.model_validate(body).choices[0].message


def anthropic_reply() -> Any:
    """A reply of Anthropic's that thinks, speaks and calls a tool."""
    from anthropic.types import Message as Reply

    usage = {"input_tokens": 9, "output_tokens": 9}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": BLOCKS}
    return Reply.model_validate({**body, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage})


async def read_wires(session: Session) -> list[Any]:
    """The messages of a log in the form that was stored."""
    return [message.wire for message in await session.messages()]


async def test_a_reply_of_openai(engine: Everfold) -> None:
    """A message object is stored as the JSON that it came as, without nulls, and OpenAI takes the next request."""
    session = await engine.session()
    await session.append([user("Where is berth 7?"), openai_reply()])
    await session.append({"role": "tool", "tool_call_id": "call_1", "content": "At the north quay."})
    assert (await read_wires(session))[1] == {"role": "assistant", "annotations": [], "tool_calls": [CALL]}
    request = (await session.window()).render("openai")
    assert len(request["messages"]) == 3
    assert check_openai_request(request) == []


async def test_a_reply_of_anthropic(engine: Everfold) -> None:
    """Of a whole reply the role and the content are stored, and Anthropic takes the next request."""
    session = await engine.session()
    await session.append(user("Where is berth 7?"))
    await session.append(anthropic_reply())
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "At the north quay."}
    await session.append({"role": "user", "content": [result]})
    assert (await read_wires(session))[1] == {"role": "assistant", "content": STORED}
    request = (await session.window()).render("anthropic")
    assert len(request["messages"]) == 3
    assert check_anthropic_request(request) == []


@pytest.mark.parametrize(
    "within",
    [
        lambda: {"role": "assistant", "content": anthropic_reply().content},
        lambda: {"role": "assistant", "content": tuple(anthropic_reply().content)},
        lambda: {"role": "assistant", "content": [BLOCKS[0], anthropic_reply().content[1], BLOCKS[2]]},
    ],
)
async def test_blocks_within_a_dict(engine: Everfold, within: Callable[[], dict[str, Any]]) -> None:
    """Blocks of a reply may stand in a dict's content, all of them or some."""
    session = await engine.session()
    await session.append([user("Where is berth 7?"), within()])
    assert (await read_wires(session))[1] == {"role": "assistant", "content": STORED}


async def test_calls_within_a_dict(engine: Everfold) -> None:
    """Call objects of a reply may stand in a dict."""
    session = await engine.session()
    await session.append([user("Where?"), {"role": "assistant", "tool_calls": openai_reply().tool_calls}])
    assert (await read_wires(session))[1] == {"role": "assistant", "tool_calls": [CALL]}


def test_what_the_sdk_parsed_is_left_out() -> None:
    """What an SDK adds for the program is left out, in calls too; the model's own words are kept whatever they are."""
    from openai.types.chat import ParsedChatCompletionMessage

    parsed_call = {**CALL, "function": {**CALL["function"], "parsed_arguments": {"berth": 7}}}  # type: ignore[dict-item]
    parsed = ParsedChatCompletionMessage[Any].model_validate(
        {"role": "assistant", "content": "{}", "parsed": {"a": 1}, "tool_calls": [parsed_call]}
    )
    assert to_wire(parsed) == {"role": "assistant", "content": "{}", "tool_calls": [CALL]}
    assert to_wire(anthropic_reply())["content"][2]["input"] == INPUT  # type: ignore[index]


def test_a_dict_without_objects_is_the_same() -> None:
    """A message that holds no object is not copied, however deep it is."""
    deep: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    for _ in range(5000):
        deep = {"role": "user", "content": [deep]}
    assert to_wire(deep) is deep


def completion(*choices: dict[str, Any]) -> Any:
    """A whole completion of OpenAI's with these messages as its choices."""
    from openai.types.chat import ChatCompletion

    listed = [{"index": at, "finish_reason": "stop", "message": it} for at, it in enumerate(choices)]
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": listed}
    return ChatCompletion.model_validate(body)


@pytest.mark.parametrize("take", [lambda it: it, lambda it: it.choices[0], lambda it: it.choices])
async def test_a_completion_stands_for_its_message(engine: Everfold, take: Callable[[Any], Any]) -> None:
    """A whole completion with one choice, and the choice itself, are stored as its message."""
    session = await engine.session()
    await session.append([user("Where is berth 7?")])
    await session.append(take(completion({"role": "assistant", "content": "At the north quay."})))
    assert (await read_wires(session))[1] == {"role": "assistant", "content": "At the north quay."}


@pytest.mark.parametrize("count", [0, 2])
async def test_a_completion_that_is_not_one_message(engine: Everfold, count: int) -> None:
    """A completion with no choice or several is refused, and the error says what to append."""
    session = await engine.session()
    whole = completion(*[{"role": "assistant", "content": "North."}] * count)
    with pytest.raises(InvalidInputError, match=rf"{count} choices.*append `completion.choices\[0\].message`"):
        await session.append(whole)
    assert await read_wires(session) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda: anthropic_reply().content, 'block of type \'thinking\'.*"role": ..., "content"'),
        (lambda: anthropic_reply().content[2], "block of type 'tool_use'"),
        (lambda: BLOCKS[2], "block of type 'tool_use'"),
        (lambda: {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, "block of type 'image_url'"),
        (lambda: completion({"role": "assistant", "content": "a"}).model_dump(), r"append its `choices\[0\].message`"),
    ],
)
async def test_what_is_no_message(engine: Everfold, given: Callable[[], Any], told: str) -> None:
    """What holds a message, or belongs into one, is refused, and the error says what to append instead."""
    session = await engine.session()
    with pytest.raises(InvalidInputError, match=told):
        await session.append(given())
    assert await read_wires(session) == []


SPOKEN: dict[str, Any] = {"id": "audio_1", "data": "UklGRg==" * 9, "expires_at": 1, "transcript": "At the north quay."}


async def test_a_spoken_reply(engine: Everfold) -> None:
    """The words of an audio reply are read, found and shown in every form; the recording is stored and not sent back."""
    session = await engine.session()
    await session.append([user("Where is berth 7?")])
    message = completion({"role": "assistant", "content": None, "audio": SPOKEN}).choices[0].message
    await session.append(message)
    assert (await read_wires(session))[1] == {"role": "assistant", "audio": SPOKEN}
    assert (await session.read(2)).text == "At the north quay."
    assert [hit.seq for hit in await session.search("north quay")] == [2]
    window = await session.window()
    request = window.render("openai")
    assert request["messages"][1] == {"role": "assistant", "content": "At the north quay."}
    assert check_openai_request(request) == []
    assert "At the north quay." in str(window.render("anthropic"))


async def test_a_recording_without_words(engine: Everfold) -> None:
    """A recording that has no transcript is named by its id, as a request takes it."""
    session = await engine.session()
    await session.append([user("Sing."), {"role": "assistant", "content": None, "audio": {**SPOKEN, "transcript": ""}}])
    request = (await session.window()).render("openai")
    assert request["messages"][1]["audio"] == {"id": "audio_1"}
