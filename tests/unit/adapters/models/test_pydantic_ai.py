"""Models of providers, against a server on this machine that answers as they do."""

import gc
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.support.waiting import until

from everfold.adapters.models.pydantic_ai import Place, PydanticAIModel
from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    InvalidInputError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
)
from everfold.ports.models import Finish, ModelReply, ModelRequest
from everfold.testing.kit.model_server import (
    Answer,
    ModelServer,
    anthropic_answer,
    anthropic_error,
    openai_answer,
    openai_error,
)

pytestmark = pytest.mark.anyio
KEY = "sk-not-a-real-key-7431"
REQUEST = ModelRequest(
    purpose="digest", instructions="Write a digest.", prompt="12 [user] The berth is 40 m long.", max_output_tokens=321
)
PROVIDERS = ["openai", "anthropic", "ollama"]
FINE = {
    "openai": openai_answer("Berth: 40 m."),
    "ollama": openai_answer("Berth: 40 m."),
    "anthropic": anthropic_answer("Berth: 40 m."),
}


@asynccontextmanager
async def served(
    provider: str, *answers: Answer, key: str | None = KEY, name: str | None = None
) -> AsyncIterator[tuple[PydanticAIModel, ModelServer]]:
    """A model of a provider, and the server that plays it."""
    names = {"openai": "gpt-5-mini", "anthropic": "claude-haiku-4-5", "ollama": "llama3.2"}
    with ModelServer(*answers) as server:
        base_url = server.url if provider == "anthropic" else f"{server.url}/v1"
        model = PydanticAIModel(Place(provider=provider, name=name or names[provider], base_url=base_url, api_key=key))
        try:
            yield model, server
        finally:
            await model.close()


async def ask(provider: str, *answers: Answer) -> ModelReply:
    """What a model makes of an answer."""
    async with served(provider, *answers) as (model, _):
        return await model.reply(REQUEST)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_whole_answer(provider: str) -> None:
    """An answer comes with its text, its model as the provider names it, and what was counted, cached tokens included."""
    reply = await ask(provider, Answer(body=FINE[provider]))
    assert (reply.text, reply.finish) == ("Berth: 40 m.", "complete")
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (1000, 400, 50)
    assert reply.model in {"gpt-5-mini-2031-01-01", "claude-haiku-4-5-20251001"}


async def test_a_known_price_is_the_cost() -> None:
    """A model on the price list has a cost; one of a server of one's own has none, whatever it is called."""
    paid = await ask("anthropic", Answer(body=FINE["anthropic"]))
    assert paid.cost_usd == pytest.approx((500 * 1.0 + 400 * 0.1 + 100 * 1.25 + 50 * 5.0) / 1e6)
    assert (await ask("openai", Answer(body=FINE["openai"]))).cost_usd is None


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_is_sent(provider: str) -> None:
    """A request has instructions, one prompt and the bound of the answer: no tool, no reasoning, no stream."""
    async with served(provider, Answer(body=FINE[provider])) as (model, server):
        await model.reply(REQUEST)
    (asked,) = server.asked
    bound = "max_tokens"
    assert asked.body.pop(bound) == REQUEST.max_output_tokens
    assert asked.body.pop("model") in {"gpt-5-mini", "claude-haiku-4-5", "llama3.2"}
    assert asked.body.pop("stream", False) is False
    assert json.dumps(asked.body).count(REQUEST.prompt) == 1
    assert json.dumps(asked.body).count(REQUEST.instructions) == 1
    assert set(asked.body) == {"messages", "system"} if provider == "anthropic" else {"messages"}


async def test_the_provider_itself_is_bounded_as_it_wants() -> None:
    """OpenAI's own server, which refuses the old name of the bound for its newer models, gets the new one."""
    model = PydanticAIModel(Place(provider="openai", name="gpt-5-mini", api_key=KEY))
    assert model._model.profile.get("openai_chat_supports_max_completion_tokens", True)
    assert str(model._model.base_url).startswith("https://api.openai.com/v1")
    await model.close()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_key_is_in_its_header_only(provider: str) -> None:
    """The key is sent in the one header that is for it, and stands in no other part of the request."""
    async with served(provider, Answer(body=FINE[provider])) as (model, server):
        await model.reply(REQUEST)
        assert KEY not in repr(model._place)
    (asked,) = server.asked
    holding = {name: value for name, value in asked.headers.items() if KEY in value}
    assert holding == {"authorization": f"Bearer {KEY}"}
    assert KEY not in asked.path
    assert KEY not in json.dumps(asked.body)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_that_is_not_given_is_not_found(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was given no key gets none, although the variables of every provider hold one."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, KEY)
    async with served(provider, Answer(body=FINE[provider]), key=None) as (model, server):
        await model.reply(REQUEST)
    assert KEY not in repr(server.asked)


@pytest.mark.parametrize(
    ("provider", "answer", "finish", "text"),
    [
        ("openai", openai_answer("Berth", finish="length"), "length", "Berth"),
        ("openai", openai_answer("", finish="content_filter"), "refusal", ""),
        ("openai", openai_answer("Berth", finish="guardrail_intervened"), "refusal", "Berth"),
        ("openai", openai_answer(None, refusal="I can't."), "refusal", ""),
        ("openai", openai_answer(None, finish="tool_calls", calls=True), "tool_call", ""),
        ("openai", openai_answer("Berth", calls=True), "tool_call", "Berth"),
        ("openai", openai_answer(None), "complete", ""),
        ("openai", openai_answer(" \n"), "complete", " \n"),
        ("anthropic", anthropic_answer("Berth", stop="max_tokens"), "length", "Berth"),
        ("anthropic", anthropic_answer("Berth", stop="refusal"), "refusal", "Berth"),
        ("anthropic", anthropic_answer("Berth", stop="tool_use", calls=True), "tool_call", "Berth"),
        ("anthropic", anthropic_answer(""), "complete", ""),
    ],
)
async def test_how_an_answer_ended(provider: str, answer: bytes, finish: Finish, text: str) -> None:
    """An answer that is not whole says so, with what there is of it; one that is empty is left to the caller."""
    reply = await ask(provider, Answer(body=answer))
    assert (reply.finish, reply.text) == (finish, text)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_what_was_only_thought_is_not_said(provider: str) -> None:
    """What a model thinks aloud, between marks or in a field of its own, is no part of its text."""
    aloud = openai_answer("<think>Which berth was it? 12?</think>\n\nBerth: 40 m.")
    assert (await ask(provider, Answer(body=aloud))).text.strip() == "Berth: 40 m."
    apart = openai_answer("Berth: 40 m.").replace(b'"refusal": null', b'"reasoning_content": "Which berth?"')
    assert (await ask(provider, Answer(body=apart))).text == "Berth: 40 m."


TOO_LONG = [
    ("openai", openai_error(400, "Your input is too big.", code="context_length_exceeded")),
    ("openai", openai_error(400, "This model's maximum context length is 8192 tokens.", kind="BadRequestError")),
    ("openai", openai_error(400, "the request exceeds it", kind="exceed_context_size_error")),
    ("openai", openai_error(500, "the request exceeds the available context size", kind="server_error")),
    ("openai", openai_error(500, "input (812 tokens) is too large to process.", kind="server_error")),
    ("ollama", Answer(status=400, body=b'{"error": "input length exceeds the context length"}')),
    ("anthropic", anthropic_error(400, "prompt is too long: 210 > 200", kind="invalid_request_error")),
    ("anthropic", anthropic_error(413, "Request exceeds the maximum size", kind="request_too_large")),
]
LATER = [
    *[("openai", openai_error(status, "The server had an error.")) for status in (408, 500, 502, 503, 504)],
    ("anthropic", anthropic_error(529, "Overloaded", kind="overloaded_error")),
    ("anthropic", anthropic_error(500, "Internal server error", kind="api_error")),
]
FEWER = [
    ("openai", openai_error(429, "Slow down.", code="rate_limit_exceeded")),
    ("anthropic", anthropic_error(429, "Slow down.", kind="rate_limit_error")),
]
NO_ANSWER = [
    ("openai", openai_error(400, "Unknown parameter.", kind="invalid_request_error")),
    ("openai", openai_error(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key")),
    ("openai", openai_error(404, "No such model.", code="model_not_found")),
    ("openai", openai_error(429, "You exceeded your quota.", code="insufficient_quota")),
    ("anthropic", anthropic_error(400, "Your credit balance is too low", kind="invalid_request_error")),
    ("anthropic", anthropic_error(401, "invalid x-api-key", kind="authentication_error")),
    ("openai", Answer(body=b"{ this is no JSON")),
    ("openai", Answer(body=b"<html>welcome</html>", content_type="text/html")),
    ("openai", Answer(body=b'{"object": "chat.completion"}')),
    ("openai", Answer(body=b'{"id": "1", "object": "x", "created": 1, "model": "m", "choices": []}')),
    ("openai", Answer(body=b"[]")),
    ("openai", Answer(body=b"")),
    ("openai", Answer(body=b"null")),
    ("openai", Answer(body=b"\xff\xfe\x00")),
    ("anthropic", Answer(body=b"{ this is no JSON")),
    ("anthropic", Answer(body=b"{}")),
    ("anthropic", Answer(body=b"[]")),
    ("anthropic", Answer(body=b"<html>welcome</html>", content_type="text/html")),
    ("anthropic", Answer(status=302, body=b"")),
]
ERRORS = [
    *[(provider, answer, ContextLengthError) for provider, answer in TOO_LONG],
    *[(provider, answer, ModelUnavailableError) for provider, answer in LATER],
    *[(provider, answer, RateLimitedError) for provider, answer in FEWER],
    *[(provider, answer, ModelReplyError) for provider, answer in NO_ANSWER],
]


@pytest.mark.parametrize(("provider", "answer", "kind"), ERRORS)
async def test_errors_are_ours_and_come_once(provider: str, answer: Answer, kind: type[EverfoldError]) -> None:
    """Whatever a provider answers becomes the error of ours that it is, after one request, without the key."""
    async with served(provider, answer) as (model, server):
        with pytest.raises(kind) as caught:
            await model.reply(REQUEST)
    assert type(caught.value) is kind
    assert caught.value.retryable == (kind in (ModelUnavailableError, RateLimitedError))
    assert len(server.asked) == 1
    assert caught.value.ids == {"model": model.name}
    assert model.name in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("provider", "answer", "told"),
    [
        ("openai", openai_error(400, "We do not serve: my berth.", code="content_filter"), "HTTP 400, content_filter"),
        ("openai", openai_error(400, "my berth", code="my berth"), "HTTP 400"),
        ("openai", openai_error(401, f"my berth {KEY}", code=KEY), "HTTP 401, [the key]"),
        ("anthropic", anthropic_error(529, "my berth", kind="overloaded_error"), "HTTP 529, overloaded_error"),
        ("openai", Answer(body=b"my berth"), "cannot be read (ModelAPIError)"),
    ],
)
async def test_own_words_quote_no_provider(provider: str, answer: Answer, told: str) -> None:
    """The own words of an error name status and kind, and nothing of what a provider says, which may repeat the request."""
    async with served(provider, answer) as (model, _):
        with pytest.raises(EverfoldError) as caught:
            await model.reply(REQUEST)
    assert told in caught.value.own_words
    assert "my berth" not in caught.value.own_words
    assert KEY not in caught.value.own_words


async def test_what_we_said_is_not_taken_for_the_providers_word() -> None:
    """A refusal that repeats our own text, which speaks of context lengths, is no context-length error."""
    detail = [{"type": "missing", "input": "The maximum context length is 4000 tokens, prompt is too long."}]
    answer = Answer(status=422, body=json.dumps({"detail": detail}).encode())
    async with served("openai", answer) as (model, _):
        with pytest.raises(ModelReplyError) as caught:
            await model.reply(REQUEST)
    assert "maximum context length" not in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_that_is_not_there(provider: str) -> None:
    """A server that nothing can be reached of is unavailable."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        model = PydanticAIModel(Place(provider=provider, name="any", base_url=url, api_key=KEY))
        with pytest.raises(ModelUnavailableError):
            await model.reply(REQUEST)
        await model.close()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_giving_up_leaves_nothing_behind(provider: str) -> None:
    """A request that is cancelled while the server is silent ends at once, and the model answers the next one."""
    async with served(provider, Answer(is_held=True), Answer(body=FINE[provider])) as (model, server):
        async with anyio.create_task_group() as group:
            group.start_soon(model.reply, REQUEST)
            await until(lambda: server.asked)
            group.cancel_scope.cancel()
        assert (await model.reply(REQUEST)).finish == "complete"


async def test_many_at_once() -> None:
    """Requests that run at once over one model each get their answer."""
    replies: list[ModelReply] = []
    async with served("openai", Answer(body=FINE["openai"])) as (model, server):

        async def one() -> None:
            replies.append(await model.reply(REQUEST))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(one)
        assert len(server.asked) == len(replies) == 20


async def test_closing_twice() -> None:
    """A model is closed once, also when it was never asked, and leaves no connection open."""
    model = PydanticAIModel(Place(provider="openai", name="any", api_key=KEY))
    await model.close()
    async with served("openai") as (used, server):
        await used.reply(REQUEST)
        await used.close()
        await used.close()
    assert len(server.asked) == 1
    gc.collect()  # a connection that was left open would warn here


async def test_a_provider_that_is_not_known() -> None:
    """A provider that nothing is known of is refused, with those that are."""
    with pytest.raises(InvalidInputError, match="openai, anthropic, ollama"):
        PydanticAIModel(Place(provider="oracle", name="delphi"))


def test_prices_are_loaded_before_the_first_answer_needs_them() -> None:
    """Once prices are loaded, telling what an answer cost imports nothing and tells it."""
    program = (
        "import sys\n"
        "from pydantic_ai.messages import ModelResponse\n"
        "from pydantic_ai.usage import RequestUsage\n"
        "from everfold.adapters.models.pydantic_ai import find_cost, load_prices\n"
        "usage = RequestUsage(input_tokens=1_000, output_tokens=10)\n"
        "answer = ModelResponse(parts=[], model_name='gpt-4o', provider_name='openai', usage=usage)\n"
        "load_prices()\n"
        "known = set(sys.modules)\n"
        "print(find_cost(answer) > 0, set(sys.modules) - known)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True set()\n"
