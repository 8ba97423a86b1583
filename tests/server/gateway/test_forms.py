"""Each form of a provider: what passes unchanged, what is stored, and what is sent once something is folded."""

import json
from functools import partial
from typing import Any

import pytest
from tests.server.gateway.conftest import PATHS, Gateway, run_gateway, say
from tests.server.gateway.played import Body, Planned, PlayedProvider, reply
from tests.support.sizes import matrix

from everfold.testing.judges.requests import check_anthropic_request, check_openai_request, check_responses_request

FORMS = ["openai", "responses", "anthropic"]
WINDOW = ("messages", "input", "instructions", "system", "tools")
CHECKS = {
    "openai": partial(check_openai_request, extras={"reasoning_content"}),
    "responses": check_responses_request,
    "anthropic": check_anthropic_request,
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = " ".join(f"The quay number {number} is free on Monday." for number in range(60))
SMALL: dict[str, dict[str, object]] = {"gateway": {"context_limit": 4000}}


def read_reply(form: str, body: Body) -> list[Body]:
    """What a client appends of an answer."""
    if form == "openai":
        return [body["choices"][0]["message"]]
    return list(body["output"]) if form == "responses" else [{"role": "assistant", "content": body["content"]}]


def write_results(form: str, results: dict[str, str]) -> list[Body]:
    """What a client appends of its tools."""
    if form == "openai":
        return [{"role": "tool", "tool_call_id": id_, "content": text} for id_, text in results.items()]
    if form == "responses":
        return [{"type": "function_call_output", "call_id": id_, "output": text} for id_, text in results.items()]
    blocks = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results.items()]
    return [{"role": "user", "content": blocks}]


def picture(form: str) -> Body:
    """A question with a picture."""
    if form == "openai":
        image: Body = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        return {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}
    if form == "responses":
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
        return {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, image]}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    return {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}


CALLS = (("c1", "look", '{"key": "a"}'), ("c2", "look", '{"key": "b"}'))


@pytest.mark.parametrize("form", FORMS)
async def test_the_clients_own_bytes_go_on(gateway: Gateway, provider: PlayedProvider, form: str) -> None:
    """Until something is folded nothing of a body changes: unknown fields, pictures, parallel calls, blanks and order."""
    provider.plan += [Planned(text="", calls=CALLS)]
    messages = [picture(form)]
    more: dict[str, Any] = {"temperature": 0.25, "x_unknown": {"z": 1, "a": [1.0, 2]}, "stream": False}
    first = await gateway.ask(messages, form=form, **more)
    messages += [*read_reply(form, first.json()), *write_results(form, {"c1": "one", "c2": "two"})]
    second = await gateway.ask(messages, form=form, **more)
    assert [one.headers["x-everfold-context"] for one in (first, second)] == ["unchanged"] * 2
    name = "input" if form == "responses" else "messages"
    assert provider.sent[-1].raw == json.dumps({"model": "m", name: messages, **more}, indent=1).encode()
    [session] = await gateway.sessions()
    kinds = [message.kind for message in await gateway.log(session.id)]
    assert kinds == ["user", "assistant", *["result"] * (1 if form == "anthropic" else 2), "assistant"]


@pytest.mark.parametrize(("form", "is_streamed"), matrix(FORMS, [True, False]))
async def test_a_stream_is_stored_as_a_plain_answer_is(
    gateway: Gateway, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """Texts, calls and thinking are the same, whichever way they came; the client gets every event."""
    provider.plan += [Planned(text="Let me look.", calls=CALLS)]
    answer = await gateway.ask([say("Look.")], form=form, stream=is_streamed)
    assert ("event-stream" in answer.headers["content-type"]) is is_streamed
    if is_streamed:
        end = {"openai": "[DONE]", "responses": "response.completed", "anthropic": "message_stop"}[form]
        assert end in answer.text
    [session] = await gateway.sessions()
    message = (await gateway.log(session.id))[-1]
    assert [(call.id, call.name, json.loads(call.arguments)) for call in message.view.calls] == [
        (id_, name, json.loads(arguments)) for id_, name, arguments in CALLS
    ]
    if form == "anthropic":
        assert [part.kind for part in message.view.parts] == ["thinking", "text", "call", "call"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_long_conversation_folds(tmp_path: Any, provider: PlayedProvider, form: str) -> None:
    """Once it is due, the provider gets the client's body with a valid window in place of its messages."""
    async with run_gateway(tmp_path / "g.db", provider.url, SMALL) as gateway:
        messages: list[Body] = []
        system: Body = {"openai": {}, "responses": {"instructions": "Be brief."}, "anthropic": {"system": "Be brief."}}[
            form
        ]
        if form == "openai":
            messages.append({"role": "system", "content": "Be brief."})
        contexts = []
        for number in range(12):
            messages.append(say(f"Question {number}? {LONG}"))
            answer = await gateway.ask(messages, form=form, x_unknown=7, max_tokens=50, **system)
            contexts.append(answer.headers["x-everfold-context"])
            messages += read_reply(form, answer.json())
        assert contexts[0] == "unchanged"
        assert contexts[-1] == "folded"
        assert contexts == sorted(contexts, key=["unchanged", "folded"].index)
        body = provider.sent[-1].body
        assert (body["x_unknown"], body["model"]) == (7, "m")
        assert "Be brief." in provider.sent[-1].text
        assert provider.sent[-1].text.count("Be brief.") == 1
        assert "Question 11?" in provider.sent[-1].text
        assert len(provider.sent[-1].raw) < len(json.dumps(messages)) / 2
        assert CHECKS[form]({name: body[name] for name in WINDOW if name in body}) == []
        [session] = await gateway.sessions()
        opened = await gateway.engine.session(id=session.id)
        assert (await opened.verify()).problems == ()
        assert len(await gateway.log(session.id)) == 24


@pytest.mark.parametrize("is_asked_again", [False, True])
@pytest.mark.parametrize(("own", "other"), [("Be brief.", ""), ("", "Be long."), ("Be brief.", "Be long.")])
async def test_a_prompt_that_is_changed_beside_the_client(
    tmp_path: Any, provider: PlayedProvider, own: str, other: str, *, is_asked_again: bool
) -> None:
    """The provider gets the client's own system prompt and every message of the window, whatever the session's was set to."""
    lead = [{"role": "system", "content": own}] if own else []
    async with run_gateway(tmp_path / "g.db", provider.url, SMALL) as gateway:
        messages: list[Body] = []
        for number in range(7):
            messages.append(say(f"Question {number}? {LONG}"))
            answer = await gateway.ask([*lead, *messages])
            messages += read_reply("openai", answer.json())
        messages.append(say("And now?"))
        if is_asked_again:
            provider.plan += [Planned(status=503, body={"error": {"message": "busy"}})]
            await gateway.ask([*lead, *messages])
        await gateway.settle()
        session = await gateway.engine.session(id=answer.headers["x-everfold-session"])
        await session.configure(system=other)
        answer = await gateway.ask([*lead, *messages])
        assert answer.headers["x-everfold-context"] == "folded"
        window = (await session.window()).render("openai")["messages"]
        shown = [one for one in window if one["role"] != "system"]  # type: ignore[index,union-attr,call-overload]  # JSON
        assert provider.sent[-1].body["messages"] == [*lead, *shown[: -1 if shown[-1]["role"] == "assistant" else None]]


@pytest.mark.parametrize("form", FORMS)
async def test_half_a_character_is_sent_as_it_came(tmp_path: Any, provider: PlayedProvider, form: str) -> None:
    """A folded body is UTF-8, and a lone surrogate in the client's own members is read by the provider as it was sent."""
    half = "cut \ud83d"
    function: Body = {"name": "look", "description": half, "parameters": {"type": "object"}}
    tool = {"type": "function", "function": function} if form == "openai" else {"type": "function", **function}
    more: Body = {"metadata": {"title": half}, "tools": [tool]}
    lead = [{"role": "system", "content": half}] if form == "openai" else []
    if form != "openai":
        more["instructions" if form == "responses" else "system"] = half
    async with run_gateway(tmp_path / "g.db", provider.url, SMALL) as gateway:
        messages: list[Body] = []
        for number in range(7):
            messages.append(say(f"Question {number}? {LONG}"))
            answer = await gateway.ask([*lead, *messages], form=form, **more)
            messages += read_reply(form, answer.json())
        assert answer.headers["x-everfold-context"] == "folded"
        sent = json.loads(provider.sent[-1].text)
        assert {name: sent[name] for name in more} == more
        assert form != "openai" or sent["messages"][0] == lead[0]


async def test_a_count_of_tokens_is_of_what_would_be_sent(tmp_path: Any, provider: PlayedProvider) -> None:
    """Before anything is folded it is of the client's bytes, then of the window and what is new; nothing is stored."""
    async with run_gateway(tmp_path / "g.db", provider.url, SMALL) as gateway:
        messages: list[Body] = [say("One?")]
        own = json.dumps({"model": "m", "messages": messages}).encode()
        headers = {"content-type": "application/json"}
        counted = await gateway.client.post("/v1/messages/count_tokens?beta=true", content=own, headers=headers)
        assert (counted.headers["x-everfold-context"], provider.sent[-1].raw) == ("passed", own)
        assert provider.sent[-1].path == "/v1/messages/count_tokens?beta=true"
        assert await gateway.sessions() == []
        messages = []
        for number in range(10):
            messages.append(say(f"Question {number}? {LONG}"))
            messages += read_reply("anthropic", (await gateway.ask(messages, form="anthropic")).json())
        body = {"model": "m", "messages": [*messages, say("The last one?")]}
        counted = await gateway.client.post("/v1/messages/count_tokens", json=body)
        assert counted.headers["x-everfold-context"] == "folded"
        assert provider.sent[-1].body["messages"][-1] == say("The last one?")
        assert len(provider.sent[-1].raw) < len(json.dumps(body)) / 2
        [session] = await gateway.sessions()
        assert len(await gateway.log(session.id)) == 20


async def test_any_other_route_passes(gateway: Gateway, provider: PlayedProvider) -> None:
    """Models, and whatever else a provider has below `/v1/`, go on as they came, and come back as they are."""
    models = await gateway.client.get("/v1/models?limit=2")
    assert models.json()["data"][0]["id"] == "m"
    assert (provider.sent[-1].method, provider.sent[-1].path) == ("GET", "/v1/models?limit=2")
    await gateway.client.post("/v1/embeddings", json={"input": "a"})
    assert (provider.sent[-1].path, provider.sent[-1].body) == ("/v1/embeddings", {"input": "a"})
    assert await gateway.sessions() == []


@pytest.mark.parametrize("held", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
async def test_what_the_provider_holds_passes(gateway: Gateway, held: dict[str, str]) -> None:
    """A request of which the provider has the history goes on as it came, and says so."""
    answer = await gateway.ask([say("On?")], form="responses", **held)
    assert (answer.headers["x-everfold-context"], answer.headers["x-everfold-reason"]) == ("passed", next(iter(held)))
    assert await gateway.sessions() == []


def test_every_form_has_a_route() -> None:
    """What is tried here is every route of conversations."""
    from everfold.server.gateway.app import FORMS as ROUTES

    assert {path: form for form, path in PATHS.items()} == dict(ROUTES)


async def test_a_spoken_reply_is_known_by_its_id(gateway: Gateway, provider: PlayedProvider) -> None:
    """A client that gives a spoken reply back by its id alone, as OpenAI asks, goes on in one session, with the words in the log."""
    messages: list[Body] = []
    for number in range(3):
        audio = {"id": f"audio_{number}", "data": "AAAA", "expires_at": 1, "transcript": f"Spoken {number}."}
        spoken = reply(PATHS["openai"], "")
        spoken["choices"][0]["message"].update(content=None, audio=audio)
        provider.plan += [Planned(body=spoken)]
        messages.append(say(f"Question {number}?"))
        await gateway.ask(messages)
        messages.append({"role": "assistant", "audio": {"id": audio["id"]}})
    [session] = await gateway.sessions()
    said = [text for number in range(3) for text in (f"Question {number}?", f"Spoken {number}.")]
    assert await gateway.texts(session.id) == said


async def test_a_count_in_a_named_session_has_its_past(gateway: Gateway, provider: PlayedProvider) -> None:
    """The tokens of a request that carries only what is new are those of what would be sent, and nothing is stored."""
    named = {"x-everfold-session": "thread-1"}
    await gateway.ask([say("One?")], form="anthropic", headers=named)
    body = {"model": "m", "messages": [say("Two?")]}
    await gateway.client.post("/v1/messages/count_tokens", json=body, headers=named)
    counted = provider.sent[-1]
    assert [one["role"] for one in counted.body["messages"]] == ["user", "assistant", "user"]
    assert "Reply 1." in counted.text
    await gateway.ask([say("Two?")], form="anthropic", headers=named)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["One?", "Reply 1.", "Two?", "Reply 3."]
