"""When Everfold or the provider fails: what is passed on, what is refused, and what is stored."""

import asyncio
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from tests.server.gateway.conftest import KEY, Gateway, answered, run_gateway, say
from tests.server.gateway.played import Body, Planned, PlayedProvider
from tests.support.sizes import spread
from tests.support.waiting import until

from everfold.errors import StoreUnavailableError

LONG = " ".join(f"The quay number {number} is free on Monday." for number in range(60))
NAMED = {"x-everfold-session": "thread-1"}


def text_of(response: httpx2.Response) -> str:
    """What a plain chat completion says."""
    return str(response.json()["choices"][0]["message"]["content"])


def break_store(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the store refuse to append, as it does when the disk is full."""

    async def fail(*_: object, **__: object) -> None:
        raise StoreUnavailableError("the disk is full")

    monkeypatch.setattr(gateway.engine._store, "append", fail)
    monkeypatch.setattr(gateway.engine._store, "create_session", fail)


async def test_a_whole_history_goes_on_unfolded(
    gateway: Gateway, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the store fails, the client is answered all the same, and told; when it is back, the conversation is whole."""
    messages = [say("One?")]
    messages.append(answered(text_of(await gateway.ask(messages))))
    messages.append(say("Two?"))
    with monkeypatch.context() as broken:
        break_store(gateway, broken)
        answer = await gateway.ask(messages)
        assert (answer.status_code, answer.headers["x-everfold-context"]) == (200, "unfolded")
        assert provider.sent[-1].body["messages"] == messages
    messages += [answered(text_of(answer)), say("Three?")]
    await gateway.ask(messages)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["One?", "Reply 1.", "Two?", "Reply 2.", "Three?", "Reply 3."]


async def test_only_what_is_new_is_never_passed_without_its_past(
    gateway: Gateway, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that names its session is answered 503 where the store fails, in the form of the client's SDK."""
    await gateway.ask([say("One?")], headers=NAMED)
    break_store(gateway, monkeypatch)
    for form in ("openai", "anthropic"):
        answer = await gateway.ask([say("Two?")], headers=NAMED, form=form)
        assert answer.status_code == 503
        assert "error" in answer.json()
    assert len(provider.sent) == 1


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_prompt_that_leaves_no_room(tmp_path: Path, provider: PlayedProvider, *, is_named: bool) -> None:
    """A request that may not be passed on is refused with the smallest limit that works, and nothing of it is stored."""
    settings = {"gateway": {"context_limit": 4000, "on_failure": "pass" if is_named else "refuse"}}
    headers = NAMED if is_named else {}
    async with run_gateway(tmp_path / "g.db", provider.url, settings) as gateway:
        messages = [say("One?"), answered(text_of(await gateway.ask([say("One?")], headers=headers))), say("Two?")]
        for _ in range(2):
            refused = await gateway.ask([{"role": "system", "content": LONG * 8}, *messages], headers=headers)
            error = refused.json()["error"]
            assert (refused.status_code, error["code"]) == (422, "budget_unsatisfiable")
            assert (error["type"], "Use at least" in error["message"]) == ("invalid_request_error", True)
        [session] = await gateway.sessions()
        assert await gateway.texts(session.id) == ["One?", "Reply 1."]
        assert len(provider.sent) == 1


async def test_a_setting_makes_a_failure_fail(
    tmp_path: Path, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `gateway.on_failure` at `refuse` nothing is passed on unfolded."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"on_failure": "refuse"}}) as gateway:
        break_store(gateway, monkeypatch)
        assert (await gateway.ask([say("One?")])).status_code == 503
        assert provider.sent == []


async def test_a_reply_that_cannot_be_stored_comes_with_the_next_request(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has it, and brings it back: nothing is lost, nothing stands twice."""
    from everfold.server.gateway.conversation import Conversation

    async def fail(*_: object, **__: object) -> None:
        raise StoreUnavailableError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Conversation, "reply", fail)
        messages = [say("One?"), answered(text_of(await gateway.ask([say("One?")]))), say("Two?")]
    await gateway.ask(messages)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["One?", "Reply 1.", "Two?", "Reply 2."]


def break_replies(gateway: Gateway, monkeypatch: pytest.MonkeyPatch, *, failures_count: int) -> None:
    """Have the store refuse an append that many times, after the next one, which is of the request."""
    append = gateway.engine._store.append
    count = 0

    async def fail(*given: Any, **more: Any) -> None:
        nonlocal count
        count += 1
        if 1 < count <= failures_count + 1:
            raise StoreUnavailableError("the disk is full")
        await append(*given, **more)

    monkeypatch.setattr(gateway.engine._store, "append", fail)


ENDS = {"openai": "[DONE]", "responses": "response.completed", "anthropic": "message_stop"}


@pytest.mark.parametrize(("form", "is_streamed", "has_tools"), spread(list(ENDS), [False, True], [False, True]))
async def test_a_named_session_loses_no_reply(
    tmp_path: Path,
    provider: PlayedProvider,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    *,
    is_streamed: bool,
    has_tools: bool,
) -> None:
    """A reply that is not stored is tried again; where that fails, the client gets an error in place of its end."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"history_tools": has_tools}}) as gateway:
        await gateway.ask([say("One?")], headers=NAMED)
        with monkeypatch.context() as broken:
            break_replies(gateway, broken, failures_count=1)
            answer = await gateway.ask([say("Two?")], headers=NAMED, form=form, stream=is_streamed)
            assert not is_streamed or ENDS[form] in answer.text
        session = answer.headers["x-everfold-session"]
        assert await gateway.texts(session) == ["One?", "Reply 1.", "Two?", "Reply 2."]
        with monkeypatch.context() as broken:
            break_replies(gateway, broken, failures_count=9)
            answer = await gateway.ask([say("Three?")], headers=NAMED, form=form, stream=is_streamed)
            assert (answer.status_code, ENDS[form] in answer.text) == (200 if is_streamed else 503, False)
            assert "could not be stored" in answer.text
        again = {**NAMED, "x-stainless-retry-count": "1"}
        await gateway.ask([say("Three?")], headers=again, form=form, stream=is_streamed)
        assert (await gateway.texts(session))[4:] == ["Three?", "Reply 4."]


async def test_an_error_in_a_stream_is_raised_by_the_sdks(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error in place of a reply's end is one that its SDK raises."""
    await gateway.ask([say("Hello.")], headers=NAMED)
    break_replies(gateway, monkeypatch, failures_count=9)
    base = str(gateway.client.base_url)
    chat = openai.OpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0, default_headers=NAMED)
    claude = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0, default_headers=NAMED)
    said: Any = [say("One?")]
    with pytest.raises(openai.APIError, match="could not be stored"):
        await asyncio.to_thread(lambda: list(chat.chat.completions.create(model="m", messages=said, stream=True)))
    with pytest.raises(anthropic.APIError, match="could not be stored"):
        await asyncio.to_thread(
            lambda: list(claude.messages.create(model="m", max_tokens=9, messages=said, stream=True))
        )


TOO_LONG: dict[str, Body] = {
    "openai": {"error": {"message": "This model's maximum context length is 4000", "code": "context_length_exceeded"}},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 4"}},
}


@pytest.mark.parametrize(("form", "is_packed"), [("openai", True), ("anthropic", False)])
async def test_a_context_error_compacts_and_is_sent_once_more(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_packed: bool
) -> None:
    """The client sees the answer to the smaller request; a second refusal is the client's."""
    limits = {"gateway": {"context_limit": 16000}}
    async with run_gateway(tmp_path / "g.db", provider.url, limits) as gateway:
        messages: list[Body] = []
        for number in range(12):
            messages.append(say(f"Question {number}? {LONG}"))
            messages.append(answered(f"Answer {number}."))
        messages.append(say("And now?"))
        provider.plan += [Planned(status=400, body=TOO_LONG[form], is_packed=is_packed)]
        answer = await gateway.ask(messages, form=form)
        assert (answer.status_code, answer.headers["x-everfold-context"]) == (200, "folded")
        first, second = provider.sent
        assert len(second.raw) < len(first.raw)
        assert "And now?" in second.text
        provider.plan += [Planned(status=400, body=TOO_LONG[form])] * 2
        again = await gateway.ask([*messages, answered("Reply 2."), say("On?")], form=form)
        assert (again.status_code, again.json()) == (400, TOO_LONG[form])
        assert len(provider.sent) == 4
        [session] = await gateway.sessions()
        assert (await (await gateway.engine.session(id=session.id)).verify()).problems == ()


async def test_what_a_refusal_repeats_of_the_request_is_not_its_reason(
    tmp_path: Path, provider: PlayedProvider
) -> None:
    """Words of the client that a provider repeats beside another reason compact nothing."""
    body = {
        "error": {"message": "unknown tool", "type": "invalid_request_error"},
        "input": "How long is a context window?",
    }
    provider.plan += [Planned(status=400, body=body)]
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"context_limit": 16000}}) as gateway:
        messages = [turn for number in range(12) for turn in (say(f"Question {number}? {LONG}"), answered("Fine."))]
        answer = await gateway.ask([*messages, say("How long is a context window?")])
        assert (answer.status_code, answer.json(), len(provider.sent)) == (400, body, 1)


async def test_errors_pass_with_status_body_and_headers(gateway: Gateway, provider: PlayedProvider) -> None:
    """What the provider refuses is told as the provider told it."""
    body = {"error": {"message": "slow down", "type": "rate_limit"}}
    headers = {"retry-after": "3", "x-ratelimit-remaining-tokens": "0", "request-id": "req_9"}
    provider.plan += [Planned(status=429, body=body, headers=headers)]
    answer = await gateway.ask([say("One?")], stream=True)
    assert (answer.status_code, answer.json()) == (429, body)
    assert {name: answer.headers[name] for name in headers} == headers
    assert answer.headers["x-request-id"] == "req_provider"


async def test_compressed_answers_pass_as_they_came(gateway: Gateway, provider: PlayedProvider) -> None:
    """A provider that compresses what was asked for as it is: the client reads its refusal, and a reply is stored."""
    body = {"error": {"message": "bad " * 200, "type": "invalid_request_error"}}
    provider.plan += [Planned(status=400, body=body, is_packed=True), Planned(is_packed=True)]
    refused = await gateway.ask([say("One?")])
    assert (refused.status_code, refused.json()) == (400, body)
    assert text_of(await gateway.ask([say("One?")])) == "Reply 2."
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["One?", "Reply 2."]


async def test_a_provider_that_is_away(tmp_path: Path) -> None:
    """The client is told 502 in its form, and its message waits for the retry."""
    async with run_gateway(tmp_path / "g.db", "http://127.0.0.1:9") as gateway:
        answer = await gateway.ask([say("One?")])
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream")
        [session] = await gateway.sessions()
        assert await gateway.texts(session.id) == ["One?"]


async def test_a_stream_that_the_provider_breaks_off(gateway: Gateway, provider: PlayedProvider) -> None:
    """What came is stored as interrupted, and the conversation goes on in the same session."""
    provider.plan += [Planned(text="A long answer that goes on and on.", is_cut=True)]
    await gateway.ask([say("One?")], stream=True)
    [session] = await gateway.sessions()
    log = await gateway.log(session.id)
    assert log[1].wire["interrupted"]
    on = await gateway.ask([say("One?"), say("Two?")])
    assert on.headers["x-everfold-session"] == session.id


@pytest.mark.parametrize("body", [b"no json", b"[]", b'{"model": "m"}', b'{"messages": "text"}'])
async def test_what_is_no_request_is_the_providers_to_refuse(
    gateway: Gateway, provider: PlayedProvider, body: bytes
) -> None:
    """A body that cannot be read passes as it came."""
    provider.plan += [Planned(status=400, body={"error": {"message": "bad"}})]
    answer = await gateway.client.post("/v1/chat/completions", content=body)
    assert (answer.status_code, provider.sent[-1].raw) == (400, body)


async def test_an_erased_message_does_not_come_back(gateway: Gateway, provider: PlayedProvider) -> None:
    """A client that still holds it goes on in the same session, and the provider no longer gets it."""
    messages: list[dict[str, Any]] = []
    for text in ("The code is zanzibar.", "And then?", "And now?"):
        messages.append(say(text))
        messages.append(answered(text_of(await gateway.ask(messages))))
    [session] = await gateway.sessions()
    await (await gateway.engine.session(id=session.id)).erase(1)
    on = await gateway.ask([*messages, say("On?")])
    assert on.headers["x-everfold-session"] == session.id
    assert "zanzibar" not in provider.sent[-1].text
    assert json.loads(provider.sent[-1].raw)["messages"][-1]["content"][0]["text"] == "On?"
    places = await gateway.engine.admin.verify_erased(user=session.user_id, words=["zanzibar", "The code is zanzibar."])
    assert places == []


@pytest.mark.parametrize(("turns_count", "erased"), [(2, [1, 3]), (4, [1, 7])])
async def test_an_erased_message_does_not_come_back_after_a_restart(
    tmp_path: Path, provider: PlayedProvider, turns_count: int, erased: list[int]
) -> None:
    """Where no hash of a list's beginning or end is left, its client goes on by its other messages, and another client does not."""
    messages: list[Body] = []
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        for number in range(1, turns_count + 1):
            messages.append(say(f"The code {number} is zanzibar."))
            messages.append(answered(text_of(await gateway.ask(messages))))
        [session] = await gateway.sessions()
        for seq in erased:
            await (await gateway.engine.session(id=session.id)).erase(seq)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        for question in ("On?", "And?"):
            messages.append(say(question))
            on = await gateway.ask(messages)
            assert on.headers["x-everfold-session"] == session.id
            assert not any(f"code {seq // 2 + 1} is" in provider.sent[-1].text for seq in erased)
            messages.append(answered(text_of(on)))
        words = [f"The code {seq // 2 + 1} is zanzibar." for seq in erased]
        assert await gateway.engine.admin.verify_erased(user=session.user_id, words=words) == []
        assert (await gateway.texts(session.id))[-4:-2] == ["On?", messages[-3]["content"]]
        other = await gateway.ask(messages, headers={"session-id": "another"})
        assert other.headers["x-everfold-session"] != session.id


async def test_an_erased_message_does_not_come_back_with_a_cut(gateway: Gateway, provider: PlayedProvider) -> None:
    """A client that leaves out the middle of its list right after an erase goes on in the same session without the message."""
    messages: list[Body] = []
    for text in ("The code is zanzibar.", "And then?", "And now?", "More?", "Yes?"):
        messages.append(say(text))
        messages.append(answered(text_of(await gateway.ask(messages))))
    [session] = await gateway.sessions()
    await (await gateway.engine.session(id=session.id)).erase(1)
    on = await gateway.ask([*messages[:2], *messages[-4:], say("On?")])
    assert on.headers["x-everfold-session"] == session.id
    assert "zanzibar" not in provider.sent[-1].text
    assert (await gateway.texts(session.id))[-2:] == ["On?", "Reply 6."]


async def test_an_erase_during_a_turn_leaves_no_hash(gateway: Gateway, provider: PlayedProvider) -> None:
    """A message that is erased while the model answers it is kept as no hash, and its client goes on in the same session."""
    messages = [say("Hello.")]
    messages += [answered(text_of(await gateway.ask(messages))), say("The code is zanzibar.")]
    [session] = await gateway.sessions()
    provider.plan += [Planned(is_held=True)]
    asking = asyncio.create_task(gateway.ask(messages))
    await until(lambda: len(provider.sent) == 2)
    await (await gateway.engine.session(id=session.id)).erase(3)
    provider.released.set()
    for text in ("On?", "And then?"):
        messages += [answered(text_of(await asking)), say(text)]
        asking = asyncio.create_task(gateway.ask(messages))
        assert (await asking).headers["x-everfold-session"] == session.id
    await gateway.settle()
    await gateway.app.drain()
    kept = (await gateway.engine.admin.conversations.read(session.id)).client_list.messages
    assert [one.seq for one in kept if one.content is None] == [3]
    assert [one.seq for one in kept if one.chain is not None] == [1, 2]
    assert len(kept) == len(messages) + 1
    assert await gateway.engine.admin.verify_erased(user=session.user_id, words=["zanzibar"]) == []


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("is_asked_again", [False, True])
async def test_an_erased_session_begins_anew(
    gateway: Gateway, caplog: pytest.LogCaptureFixture, *, is_named: bool, is_asked_again: bool
) -> None:
    """The first request after its session was erased is stored in a new one, and nothing is said to have failed."""
    headers = NAMED if is_named else {}
    messages = [say("One?")]
    messages.append(answered(text_of(await gateway.ask(messages, headers=headers))))
    if is_asked_again:
        messages = messages[:1]
    else:
        messages.append(say("Two?"))
    [session] = await gateway.sessions()
    await gateway.engine.erase_session(session.id)
    on = await gateway.ask(messages, headers=headers)
    assert on.headers["x-everfold-context"] == "unchanged"
    [session] = await gateway.sessions()
    assert on.headers["x-everfold-session"] == session.id
    assert await gateway.texts(session.id) == [*[str(one["content"]) for one in messages], "Reply 2."]
    assert [one for one in caplog.records if one.name == "everfold.gateway"] == []


async def test_several_replies_in_a_named_session(gateway: Gateway, provider: PlayedProvider) -> None:
    """Of several replies none can be stored for a client that does not bring one back: they are refused before they are asked for."""
    refused = await gateway.ask([say("One?")], headers=NAMED, n=2)
    assert (refused.status_code, provider.sent) == (400, [])
    assert "n must be 1" in refused.json()["error"]["message"]
    assert await gateway.sessions() == []
    assert (await gateway.ask([say("One?")], n=2)).is_success


NO_ROLE: Body = {"content": "One?"}
NO_ID: list[Body] = [
    say("One?"),
    {"role": "assistant", "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "", "content": "1"},
]


@pytest.mark.parametrize("messages", [[NO_ROLE], NO_ID])
async def test_a_message_that_cannot_be_read(
    gateway: Gateway, provider: PlayedProvider, caplog: pytest.LogCaptureFixture, messages: list[Body]
) -> None:
    """Its request passes as it came, and says why; in a named session, which it may rely on, it is 400. Neither is a fault."""
    passed = await gateway.ask(messages)
    assert (passed.status_code, passed.headers["x-everfold-context"]) == (200, "passed")
    assert passed.headers["x-everfold-reason"]
    refused = await gateway.ask(messages, headers=NAMED)
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")
    assert len(provider.sent) == 1
    counted = await gateway.client.post("/v1/messages/count_tokens", json={"model": "m", "messages": [NO_ROLE]})
    assert counted.headers["x-everfold-context"] == "passed"
    told = [one for one in caplog.records if one.name == "everfold.gateway"]
    assert [(one.levelname, one.exc_info) for one in told] == [("WARNING", None)] * 3


async def test_a_reply_that_cannot_be_read(
    gateway: Gateway, provider: PlayedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets a reply with an empty call id as it came; that it is not stored is one line of the log."""
    provider.plan += [Planned(text="", calls=(("", "f", "{}"),))]
    assert (await gateway.ask([say("One?")])).is_success
    await gateway.settle()
    told = [one for one in caplog.records if one.name == "everfold.gateway"]
    assert [(one.levelname, one.exc_info) for one in told] == [("WARNING", None)]


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/messages", "/v1/v1/messages"])
async def test_a_wrong_base_url_is_told_the_right_one(gateway: Gateway, provider: PlayedProvider, path: str) -> None:
    """A client whose base URL lacks `/v1`, or has it twice, reads in its provider's form which one to set."""
    answer = await gateway.client.post(path, json={"model": "m", "messages": [say("One?")], "input": "One?"})
    error = answer.json()["error"]
    end = "" if path.startswith("/v1/v1") else "/v1"
    assert (answer.status_code, error["type"]) == (404, "not_found_error")
    assert error["message"].endswith(f"set the client's base URL to {str(gateway.client.base_url).rstrip('/')}{end}")
    assert answer.json().get("type") == ("error" if path.endswith("/messages") else None)
    assert provider.sent == []
