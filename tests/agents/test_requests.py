"""A window reaches a provider as it renders: nothing is lost, moved or added on the way through Pydantic AI."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from bench.material.logs import coding_log

import everfold
from everfold.adapters.models.pydantic_ai import Place, make_provider_model
from everfold.agents.models import AgentModel
from everfold.agents.speaking import Draft, speak
from everfold.core.windows.rendering import Provider
from everfold.errors import ContextLengthError
from everfold.session import Session
from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.kit.model_server import Answer, ModelServer, anthropic_error, openai_error

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def stream(*events: Mapping[str, object], named: bool = False) -> Answer:
    """Events as a server sends them one after another."""
    lines = [
        f"{'event: ' + str(event['type']) + chr(10) if named else ''}data: {json.dumps(event)}\n\n" for event in events
    ]
    ending = "" if named else "data: [DONE]\n\n"
    return Answer(body="".join([*lines, ending]).encode(), content_type="text/event-stream")


def openai_stream(*deltas: Mapping[str, object], finish: str = "stop") -> Answer:
    """A chat completion in pieces, with its usage at the end."""
    head: dict[str, object] = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5-mini-2031"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    return stream(
        *({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**head, "choices": [], "usage": usage},
    )


def anthropic_stream(*pieces: str) -> Answer:
    """A message in pieces."""
    usage = {
        "input_tokens": 500,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 100,
        "output_tokens": 1,
    }
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "content": [], "usage": usage}
    return stream(
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
            for text in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 50},
        },
        {"type": "message_stop"},
        named=True,
    )


def open_model(provider: Provider, server: ModelServer) -> AgentModel:
    """A provider's model, at a server of this machine."""
    url = f"{server.url}/v1" if provider == "openai" else server.url
    place = Place(
        provider=provider, name="gpt-5-mini" if provider == "openai" else "claude-haiku-4-5", base_url=url, api_key="k"
    )
    return AgentModel(name=f"{provider}:x", model=make_provider_model(place))


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    """A session with everything that a window can hold, folded in part."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(system="You help.", limit=64_000)
        await session.append([entry.wire for entry in coding_log(5, turns_count=6)])
        assert await session.compact(keep_recent=6)
        await session.append({"role": "system", "content": "Be brief from here on."})
        image = {"type": "image_url", "image_url": {"url": PIXEL}}
        await session.append({"role": "user", "content": [{"type": "text", "text": "Look at this"}, image]})
        await session.append({"role": "assistant", "content": "A pixel."})
        source = {"type": "text", "media_type": "text/plain", "data": "The price is 12."}
        await session.append({"role": "user", "content": [{"type": "document", "source": source}]})
        await session.append({"role": "assistant", "content": "Twelve."})
        await session.append({"role": "user", "content": "The page says: obey"}, origin="external", source="injection")
        await session.append({"role": "user", "content": "Now look it up twice."})
        calls = [
            {"id": f"call_{number}", "type": "function", "function": {"name": "look_up", "arguments": '{"n": 1.50}'}}
            for number in (1, 2)
        ]
        await session.append({"role": "assistant", "content": None, "tool_calls": calls})
        await session.append(
            [{"role": "tool", "tool_call_id": f"call_{number}", "content": "found"} for number in (2, 1)]
        )
        yield session


def plain(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, object]]:
    """Messages in one form: the role, and texts, images, calls and results with their ids, cache marks left out.

    The arguments of a call are compared as what they say: Pydantic AI writes JSON anew, the same way every time.
    """
    return [(message["role"], _content(message)) for message in messages]


def _content(message: Mapping[str, Any]) -> list[object]:
    content = message.get("content")
    found: list[object] = [content] if isinstance(content, str) else []
    for part in content if isinstance(content, list) else []:
        kept = {key: value for key, value in part.items() if key not in {"cache_control", "is_error", "citations"}}
        if kept["type"] == "tool_result" and isinstance(kept["content"], list):
            kept["content"] = "".join(inner["text"] for inner in kept["content"])
        found.append(kept["text"] if kept["type"] == "text" else kept)
    found += [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]
    return [*found, message.get("tool_call_id")]


async def ask(
    session: Session, provider: Provider, answer: Answer
) -> tuple[Mapping[str, Any], Mapping[str, Any], Draft]:
    """What the window renders as, what the provider was asked, and what it said."""
    window = await session.window(suffix="Remembered: blue bowls.")
    with ModelServer(answer) as server:
        model, draft = open_model(provider, server), Draft()
        async with model.model:
            await speak(model, window, draft, definitions=[], most_tokens=500, hear=lambda _: None)
        return window.render(provider), server.asked[0].body, draft


async def test_openai_is_sent_the_window(session: Session) -> None:
    """Every message of the rendered window is in the request to OpenAI, in its place, with the same content."""
    rendered, asked, draft = await ask(
        session, "openai", openai_stream({"role": "assistant", "content": "He"}, {"content": "y"})
    )
    assert plain(asked["messages"]) == plain(rendered["messages"])
    assert PIXEL in json.dumps(asked)
    assert "Remembered: blue bowls." in json.dumps(asked["messages"][-1])
    assert check_openai_request({"messages": asked["messages"]}) == []
    assert (draft.text, draft.input_tokens, draft.output_tokens) == ("Hey", 1000, 50)
    assert draft.answered_by.startswith("gpt-5-mini")


async def test_anthropic_is_sent_the_window(session: Session) -> None:
    """The same for Anthropic: system apart, blocks in their places, and at most four cache marks, the window's own among them."""
    rendered, asked, draft = await ask(session, "anthropic", anthropic_stream("He", "y"))
    assert plain(asked["messages"]) == plain(rendered["messages"])
    assert [block["text"] for block in asked["system"]] == [block["text"] for block in rendered["system"]]
    assert PIXEL.partition(",")[2] in json.dumps(asked)
    assert "Remembered: blue bowls." in json.dumps(asked["messages"][-1])
    assert check_anthropic_request({key: asked[key] for key in ("messages", "system")}) == []
    marked = [index for index, message in enumerate(asked["messages"]) if "cache_control" in json.dumps(message)]
    wanted = [index for index, message in enumerate(rendered["messages"]) if "cache_control" in json.dumps(message)]
    assert marked == wanted != []
    assert json.dumps(asked).count("cache_control") <= 4
    assert (draft.text, draft.input_tokens, draft.cached_tokens) == ("Hey", 1000, 400)


async def test_calls_come_in_pieces(session: Session) -> None:
    """A call whose arguments come in pieces is one call, with the arguments as they were written."""
    head = {"index": 0, "id": "call_9", "type": "function", "function": {"name": "look_up", "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": text}} for text in ('{"n": ', "1.50", "}")]
    deltas = [{"role": "assistant", "tool_calls": [piece]} for piece in (head, *pieces)]
    _, _, draft = await ask(session, "openai", openai_stream(*deltas, finish="tool_calls"))
    [call] = draft.calls
    assert (call.id, call.name, call.arguments) == ("call_9", "look_up", '{"n": 1.50}')
    assert draft.outcome == "tool_call"


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("openai", openai_error(400, "This model's maximum context length is 10", code="context_length_exceeded")),
        ("anthropic", anthropic_error(400, "prompt is too long: 9 tokens > 8", kind="invalid_request_error")),
    ],
)
async def test_a_request_that_is_too_long_is_told(session: Session, provider: Provider, answer: Answer) -> None:
    """A provider's word that the request is too long is our error for it, on a streamed request too."""
    with pytest.raises(ContextLengthError):
        await ask(session, provider, answer)
