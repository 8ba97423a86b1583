"""A request that is sent again in a named session: it is given the reply that was stored for it."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import anthropic
import httpx2
import openai
import pytest
from tests.server.gateway.conftest import KEY, PATHS, Gateway, answered, run_gateway, say
from tests.server.gateway.played import Body, Planned, PlayedProvider, reply
from tests.support.sizes import matrix
from tests.support.waiting import until

from everfold.core.conversations.replies import Reply, StreamedReply, read_reply
from everfold.core.conversations.requests import ClientRequest
from everfold.core.log.messages import WireFormat
from everfold.errors import StoreUnavailableError
from everfold.server.gateway.conversation import Conversation
from everfold.services.sessions.conversations import Conversations
from everfold.session import Session

NAMED = {"x-everfold-session": "thread-1"}
FIRST = {**NAMED, "idempotency-key": "k1"}
AGAIN = {**NAMED, "x-stainless-retry-count": "1"}
CALLS = (("c1", "look", '{"key": "a"}'), ("c2", "look", '{"key": "b"}'))
BUSY = Planned(status=503, body={"error": {"message": "busy"}})
FORMS: tuple[WireFormat, ...] = ("openai", "responses", "anthropic")


def read(form: WireFormat, response: httpx2.Response) -> Reply:
    """What a client reads of a response, streamed or whole."""
    assert response.status_code == 200, response.text
    if not response.headers["content-type"].startswith("text/event-stream"):
        return read_reply(form, response.json())
    stream = StreamedReply(form)
    stream.feed(response.content)
    return stream.read()


def text_of(response: httpx2.Response) -> str:
    """What a plain chat completion says."""
    return str(response.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize(("form", "is_streamed", "has_calls"), matrix(FORMS, [False, True], [True, False]))
async def test_a_retry_gets_its_reply_again(
    gateway: Gateway, provider: PlayedProvider, form: WireFormat, *, is_streamed: bool, has_calls: bool
) -> None:
    """It is the same reply with its calls, reasoning, id, ending and usage; no model is asked, and nothing is stored."""
    provider.plan += [Planned(text="Fine.", calls=CALLS if has_calls else ())]
    asked: Body = {"stream": is_streamed, "stream_options": {"include_usage": True}}
    first = await gateway.ask([say("One?")], headers=FIRST, form=form, **asked)
    again = await gateway.ask([say("One?")], headers=FIRST, form=form, **asked)
    assert (read(form, again).wire, read(form, again).envelope) == (read(form, first).wire, read(form, first).envelope)
    assert again.headers["x-everfold-context"] == "replayed"
    assert again.headers["x-everfold-session"] == first.headers["x-everfold-session"]
    other = await gateway.ask([say("One?")], headers=FIRST, form=form, stream=not is_streamed)
    assert read(form, other).wire == read(form, first).wire
    assert len(provider.sent) == 1
    [session] = await gateway.sessions()
    assert len(await gateway.log(session.id)) == 2


@pytest.mark.parametrize("form", FORMS)
async def test_a_whole_response_is_given_again_as_it_was(
    gateway: Gateway, provider: PlayedProvider, form: WireFormat
) -> None:
    """Each member of the provider's response is in the replay, with the same value; none is sent to the provider."""
    provider.plan += [Planned(body={"model": "m-2026", **reply(PATHS[form], "Fine.", CALLS)})]
    first = await gateway.ask([say("One?")], headers=FIRST, form=form)
    again = await gateway.ask([say("One?")], headers=FIRST, form=form)
    assert {name: again.json()[name] for name in first.json() if name != "choices"} == {
        name: value for name, value in first.json().items() if name != "choices"
    }
    assert read(form, again) == read(form, first)
    await gateway.ask([say("Two?")], headers=NAMED, form=form)
    assert '"c2"' in provider.sent[-1].text
    assert not any(kept in provider.sent[-1].text for kept in ("envelope", "m-2026", first.json()["id"]))


@pytest.mark.parametrize("is_whole", [False, True])
async def test_a_late_retry(gateway: Gateway, provider: PlayedProvider, *, is_whole: bool) -> None:
    """A request that comes again with its own key after a later turn gets its own reply, and another key asks again."""
    one = [say("Hello."), answered("Hi."), say("One?")] if is_whole else [say("One?")]
    first = await gateway.ask(one, headers=FIRST)
    await gateway.ask([say("Two?")], headers={**NAMED, "idempotency-key": "k2"})
    late = await gateway.ask(one, headers=FIRST)
    assert (late.json(), len(provider.sent)) == ({**first.json(), "choices": late.json()["choices"]}, 2)
    assert read("openai", late) == read("openai", first)
    [session] = await gateway.sessions()
    assert (await gateway.texts(session.id))[-4:] == ["One?", "Reply 1.", "Two?", "Reply 2."]
    assert (await gateway.ask([say("One?")], headers={**NAMED, "idempotency-key": "k3"})).is_success
    assert "envelope" not in "".join(sent.text for sent in provider.sent)


@pytest.mark.parametrize("is_whole", [False, True])
async def test_a_retry_of_an_sdk(gateway: Gateway, provider: PlayedProvider, *, is_whole: bool) -> None:
    """The retry header does the same for what was said last, sent alone or with its history; without it a reply is new."""
    before = [say("Zero?"), answered(text_of(await gateway.ask([say("Zero?")], headers=NAMED)))]
    messages = [*before, say("One?")] if is_whole else [say("One?")]
    first = await gateway.ask(messages, headers=NAMED)
    again = await gateway.ask(messages, headers=AGAIN)
    assert (read("openai", again), len(provider.sent)) == (read("openai", first), 2)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["Zero?", "Reply 1.", "One?", "Reply 2."]
    assert text_of(await gateway.ask(messages, headers=NAMED)) == "Reply 3."


@pytest.mark.parametrize(
    ("form", "ending"),
    [
        ("openai", {"finish_reason": "length"}),
        ("anthropic", {"stop_reason": "stop_sequence", "stop_sequence": "END"}),
        ("responses", {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
    ],
)
async def test_an_ending_is_not_guessed(
    gateway: Gateway, provider: PlayedProvider, form: WireFormat, ending: Body
) -> None:
    """A reply that was cut short is given again as cut short, plain and streamed."""
    body = reply(PATHS[form], "Fi")
    if form == "openai":
        body["choices"][0].update(ending)
    else:
        body.update(ending)
    provider.plan += [Planned(body=body)]
    for is_streamed in (False, True):
        await gateway.ask([say("One?")], headers=FIRST, form=form)
        again = read(form, await gateway.ask([say("One?")], headers=FIRST, form=form, stream=is_streamed))
        assert {name: again.envelope.get(name) for name in ending} == ending
    assert len(provider.sent) == 1


async def test_a_retry_after_a_restart(tmp_path: Path, provider: PlayedProvider) -> None:
    """Another process over the same store gives the same reply."""
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        first = await gateway.ask([say("One?")], headers=FIRST)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        again = await gateway.ask([say("One?")], headers=FIRST)
    assert (read("openai", again), len(provider.sent)) == (read("openai", first), 1)


async def test_a_retry_of_what_goes_on_from_a_pause(gateway: Gateway, provider: PlayedProvider) -> None:
    """A request that ends with a paused reply says nothing new, and is known by its key all the same."""
    paused = {**reply(PATHS["anthropic"], "I look."), "stop_reason": "pause_turn"}
    provider.plan += [Planned(body=paused)]
    await gateway.ask([say("One?")], headers=NAMED, form="anthropic")
    messages = [say("One?"), {"role": "assistant", "content": paused["content"]}]
    both = [read("anthropic", await gateway.ask(messages, headers=FIRST, form="anthropic")) for _ in range(2)]
    assert (both[0], len(provider.sent)) == (both[1], 2)


async def test_a_retry_while_the_first_one_is_answered(gateway: Gateway, provider: PlayedProvider) -> None:
    """Of two requests with one key at once, the second waits for the first one's reply and gets the same."""
    provider.plan += [Planned(is_held=True)]
    both = [asyncio.create_task(gateway.ask([say("One?")], headers=FIRST)) for _ in range(2)]
    await until(lambda: provider.sent)
    provider.release()
    one, other = [read("openai", await task) for task in both]
    assert (one, len(provider.sent)) == (other, 1)


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_reply_of_the_history_tools_is_given_again(
    tmp_path: Path, provider: PlayedProvider, *, is_streamed: bool
) -> None:
    """What the client got of several answers is one reply again, without our calls."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"history_tools": True}}) as gateway:
        provider.plan += [Planned(text="I look.", calls=(("h1", "history_search", '{"query": "quay"}'),))]
        provider.plan += [Planned(text="Found it.")]
        first = await gateway.ask([say("One?")], headers=FIRST, stream=is_streamed)
        again = await gateway.ask([say("One?")], headers=FIRST, stream=is_streamed)
        assert (read("openai", again).wire, len(provider.sent)) == (read("openai", first).wire, 2)
        assert "history_search" not in again.text


async def refused(gateway: Gateway, provider: PlayedProvider, form: str = "openai") -> str:
    """Why a retry of the first request is refused; the provider is not asked."""
    count = len(provider.sent)
    late = await gateway.ask([say("One?")], headers=FIRST, form=form)
    assert (late.status_code, len(provider.sent)) == (409, count)
    error = late.json()["error"]["message"]
    assert "use another Idempotency-Key" in error
    return str(error)


async def test_a_reply_that_was_erased(gateway: Gateway, provider: PlayedProvider) -> None:
    """It is not given again, and is not asked for again under the same key."""
    await gateway.ask([say("One?")], headers=FIRST)
    [session] = await gateway.sessions()
    await (await gateway.engine.session(id=session.id)).erase(2)
    assert "erased" in await refused(gateway, provider)
    assert len(await gateway.sessions()) == 1


async def test_a_reply_that_was_interrupted(gateway: Gateway, provider: PlayedProvider) -> None:
    """It is asked for again while nothing more was said, and refused after that."""
    provider.plan += [Planned(text="A long answer that goes on and on.", is_cut=True)] * 2
    for _ in range(2):
        await gateway.ask([say("One?")], headers=FIRST, stream=True)
        await gateway.settle()
    [session] = await gateway.sessions()
    assert len(provider.sent) == 2
    await gateway.ask([say("Two?")], headers=NAMED)
    assert "no whole reply" in await refused(gateway, provider)
    texts = await gateway.texts(session.id)
    assert [texts[0], texts[-2]] == ["One?", "Two?"]


async def test_a_retry_in_another_form(gateway: Gateway, provider: PlayedProvider) -> None:
    """A reply is given in the form that it came in, or not at all."""
    await gateway.ask([say("One?")], headers=FIRST)
    assert "another route" in await refused(gateway, provider, "anthropic")


async def test_a_reply_that_its_client_told(gateway: Gateway, provider: PlayedProvider) -> None:
    """What a client says that the assistant said is no provider's response."""
    provider.plan += [Planned(status=503, body={"error": {"message": "busy"}})]
    await gateway.ask([say("One?")], headers=FIRST)
    await gateway.ask([answered("Told."), say("Two?")], headers=NAMED)
    assert "not stored as the provider gave it" in await refused(gateway, provider)


@pytest.mark.parametrize("headers", [AGAIN, {**NAMED, "idempotency-key": "k2"}])
@pytest.mark.parametrize("planned", [BUSY, Planned(text="A long answer that goes on.", is_cut=True)])
async def test_a_retry_in_a_later_turn_has_its_history(
    gateway: Gateway, provider: PlayedProvider, planned: Planned, headers: dict[str, str]
) -> None:
    """What is sent again alone, since it was not answered, is asked behind all that was said before."""
    await gateway.ask([say("My name is Ada.")], headers=FIRST)
    provider.plan += [planned]
    first = {name: value for name, value in headers.items() if name != "x-stainless-retry-count"}
    await gateway.ask([say("What is my name?")], headers=first, stream=True)
    await gateway.settle()
    assert (await gateway.ask([say("What is my name?")], headers=headers)).is_success
    assert "My name is Ada." in provider.sent[-1].text
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["My name is Ada.", "Reply 1.", "What is my name?", "Reply 3."]
    assert text_of(await gateway.ask([say("My name is Ada.")], headers=FIRST)) == "Reply 1."


@pytest.mark.parametrize("is_whole", [True, False])
async def test_nothing_is_taken_back_for_what_another_process_stored(
    gateway: Gateway, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool
) -> None:
    """A reply that broke off stays where another process appends just before it is taken back, and so does what that stored."""
    asked = [say("My name is Ada."), answered("Reply 1.")] if is_whole else []
    await gateway.ask([say("My name is Ada.")], headers=NAMED)
    provider.plan += [Planned(text="A long answer that goes on.", is_cut=True)]
    await gateway.ask([*asked, say("What is my name?")], headers=NAMED, stream=True)
    [session] = await gateway.sessions()
    configure = Conversation.configure

    async def append_first(conversation: Conversation, request: ClientRequest) -> None:
        await (await gateway.engine.session(id=session.id)).append(say("Remember: no calls on Fridays."))
        await configure(conversation, request)

    monkeypatch.setattr(Conversation, "configure", append_first)
    await gateway.ask([*asked, say("What is my name?")], headers={**NAMED, "x-stainless-retry-count": "1"})
    texts = await gateway.texts(session.id)
    assert texts[:3] == ["My name is Ada.", "Reply 1.", "What is my name?"]
    assert texts[3].startswith("A long answer")
    assert texts[4] == "Remember: no calls on Fridays."


async def test_other_keys_are_other_requests(gateway: Gateway, provider: PlayedProvider) -> None:
    """The same words under another key are not given the reply before, whatever the retry header says."""
    await gateway.ask([say("ok")], headers=FIRST)
    again = await gateway.ask([say("ok")], headers={**AGAIN, "idempotency-key": "k2"})
    assert (text_of(again), len(provider.sent)) == ("Reply 2.", 2)


@pytest.mark.parametrize("fails", ["append", "write"])
@pytest.mark.parametrize("headers", [NAMED, {**NAMED, "idempotency-key": "k2"}])
async def test_what_could_not_be_stored_is_asked_once(
    gateway: Gateway,
    provider: PlayedProvider,
    monkeypatch: pytest.MonkeyPatch,
    headers: dict[str, str],
    *,
    fails: Literal["append", "write"],
) -> None:
    """An SDK's own retry after a failure of the store is neither given the reply to the same words before, nor said twice."""
    await gateway.ask([say("ok")], headers=FIRST if "idempotency-key" in headers else NAMED)
    await gateway.settle()
    holder: type = {"append": Session, "write": Conversations}[fails]
    real, failed = getattr(holder, fails), list[str]()

    async def fail_once(self: object, *args: Any, **options: Any) -> object:
        if not failed:
            failed.append(fails)
            raise StoreUnavailableError("locked")
        return await real(self, *args, **options)

    monkeypatch.setattr(holder, fails, fail_once)
    sdk = openai.AsyncOpenAI(base_url=f"{gateway.client.base_url}/v1", api_key=KEY, default_headers=headers)
    async with sdk:
        said = await sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "ok"}])
    assert (failed, said.choices[0].message.content, len(provider.sent)) == ([fails], "Reply 2.", 2)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["ok", "Reply 1.", "ok", "Reply 2."]


async def test_an_erased_question_is_no_other_one(tmp_path: Path, provider: PlayedProvider) -> None:
    """Another question in its place is not given its reply."""
    messages = [say("One?"), answered("Reply 1."), say("My secret is 42.")]
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await gateway.ask(messages[:1], headers=NAMED)
        await gateway.ask(messages, headers=NAMED)
        [session] = await gateway.sessions()
        await (await gateway.engine.session(id=session.id)).erase(3)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        again = await gateway.ask([*messages[:2], say("Something else?")], headers=AGAIN)
        assert (text_of(again), len(provider.sent)) == ("Reply 3.", 3)


def ask_by_sdk(form: WireFormat, base: str) -> object:
    """A streamed reply as the SDK of its form joins it."""
    said: Any = [say("One?")]
    headers = {**FIRST, "x-everfold-session": form}
    chat = openai.OpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0, default_headers=headers)
    claude = anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0, default_headers=headers)
    match form:
        case "openai":
            with chat.chat.completions.stream(model="m", messages=said) as events:
                return events.get_final_completion().choices
        case "responses":
            with chat.responses.stream(model="m", input=said) as events:
                return events.get_final_response().output
        case "anthropic":
            with claude.messages.stream(model="m", max_tokens=9, messages=said) as events:
                return events.get_final_message().content


@pytest.mark.parametrize(("form", "has_calls"), matrix(FORMS, [True, False]))
async def test_the_sdks_read_a_replay(
    gateway: Gateway, provider: PlayedProvider, form: WireFormat, *, has_calls: bool
) -> None:
    """The SDKs join the stream that is given again as they join a provider's: it says what the plain response said."""
    provider.plan += [Planned(text="Fine.", calls=CALLS if has_calls else ())]
    first = await gateway.ask([say("One?")], form=form, headers={**FIRST, "x-everfold-session": form})
    joined = await asyncio.to_thread(ask_by_sdk, form, str(gateway.client.base_url))
    assert isinstance(joined, list)
    members = {"openai": "choices", "responses": "output", "anthropic": "content"}
    given = [one.model_dump(mode="json", exclude_unset=True) for one in joined]
    assert has_all(given, first.json()[members[form]]), given
    assert len(provider.sent) == 1


def has_all(found: Any, expected: Any) -> bool:
    """Whether a JSON value has all of another; the SDKs add members of their own."""
    if isinstance(expected, dict):
        return all(name in found and has_all(found[name], value) for name, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(has_all, found, expected))
    return bool(found == expected)
