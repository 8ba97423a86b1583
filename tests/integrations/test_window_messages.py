"""The messages of one request after another, as Pydantic AI's, are the same whether they are made anew or not."""

from itertools import pairwise
from random import Random

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import override_allow_model_requests
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import everfold
from everfold.adapters.models.window_messages import Gathered, Part, request_messages
from everfold.testing import check_openai_request
from everfold.testing.kit.scripted_provider import ScriptedProvider


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


PDF = BinaryContent(b"%PDF-1.4", media_type="application/pdf")
PNG = BinaryContent(b"a picture", media_type="image/png")
IMAGE_URL = "https://tides.example/a.png"
PDF_URL = "https://tides.example/a.pdf"
PARTS = [
    {"type": "text", "text": "Look."},
    {"type": "image_url", "image_url": {"url": PNG.data_uri}},
    {"type": "image_url", "image_url": {"url": IMAGE_URL}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF.data_uri}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}},
]


@pytest.mark.parametrize("system", ["openai", "anthropic"])
async def test_images_and_files_are_in_a_request(system: str) -> None:
    """What a user and a tool gave, by data or by address, is in the messages of either form."""
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    log: list[dict[str, object]] = [
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": PARTS},
    ]
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        await session.append(log)
        messages = request_messages(await session.window(), system=system)
    contents = [part.content for message in messages for part in message.parts if not isinstance(part, ToolCallPart)]
    items = [item for content in contents if isinstance(content, list) for item in content]
    shown = [item for item in items if not isinstance(item, str | CachePoint)]
    at_address = [DocumentUrl(PDF_URL)] if system == "anthropic" else []
    assert shown == [PNG, ImageUrl(IMAGE_URL), PDF, *at_address] * 2
    assert (f"[file a.pdf at {PDF_URL}, not shown in this form]" in items) == (system == "openai")


@pytest.mark.parametrize("data", ["=", "a", ""])
async def test_data_that_is_broken_is_named(data: str) -> None:
    """A file whose data cannot be read ends no request: nothing is sent for it, or loaded from its address."""
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        file = {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}"}}
        await session.append({"role": "user", "content": [file]})
        (message,) = request_messages(await session.window(), system="openai")
    (part,) = message.parts
    assert part.content == ["[content of type file]"]  # type: ignore[union-attr]  # the user's content


@pytest.mark.parametrize(
    "data",
    [
        PDF_URL,
        "data:audio/ogg;base64,AAAA",
        "data:video/mp4;base64,AAAA",
        "data:application/x-tide;base64,AAAA",
        "data:image/tiff;base64,AAAA",
        "data:image/svg+xml;base64,6Q==",
        "data:;base64,AAAA",
        "data:text/csv;base64,6Q==",
        "data:application/json;base64,6Q==",
    ],
)
async def test_a_file_that_a_model_does_not_take_ends_no_later_turn(data: str) -> None:
    """The request after it is sent and valid, and names the file: nothing is downloaded, and no type is refused."""
    with ScriptedProvider() as provider:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=provider.url, api_key="none"))
        async with everfold.open("memory://") as engine:
            session = await engine.session()
            file = {"type": "file", "file": {"filename": "tides", "file_data": data}}
            await session.append([{"role": "user", "content": [file]}, {"role": "assistant", "content": "Seen."}])
            await session.append({"role": "user", "content": "MARK-1 Say it."})
            messages = request_messages(await session.window(), system="openai")
        with override_allow_model_requests(True):
            await model_request(model, messages)
    (asked,) = provider.asked
    assert check_openai_request(asked.body) == []
    assert "[file tides" in str(asked.body["messages"])


@pytest.mark.parametrize("media_type", ["text/csv", "text/csv; charset=utf-8", "application/json"])
async def test_a_text_in_utf_8_is_sent(media_type: str) -> None:
    """A text of any type is sent as it was given."""
    given = BinaryContent("Flut, Höhe".encode(), media_type=media_type)
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": [{"type": "file", "file": {"file_data": given.data_uri}}]})
        (message,) = request_messages(await session.window(), system="openai")
    (part,) = message.parts
    assert part.content == [given]  # type: ignore[union-attr]  # the user's content
