"""The history tools of the gateway: offered to the model, answered by the gateway, and never seen by the client."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.gateway.conftest import PATHS, Gateway, run_gateway, say
from tests.server.gateway.played import Body, Planned, PlayedProvider
from tests.server.gateway.test_forms import FORMS, LONG, read_reply, write_results
from tests.support.sizes import every, spread
from tests.support.waiting import SECS

from everfold.core.conversations.replies import StreamedReply
from everfold.core.log.wire import read_wire
from everfold.server.gateway.answers import Answer
from everfold.testing.judges.requests import check_anthropic_request, check_openai_request, check_responses_request

SETTINGS: dict[str, Any] = {"gateway": {"history_tools": True, "user": "ada"}}
CHECKS = {
    "openai": partial(check_openai_request, extras={"reasoning_content"}),
    "responses": check_responses_request,
    "anthropic": check_anthropic_request,
}
WINDOW = ("messages", "input", "instructions", "system", "tools")
SEARCH = ("h1", "history_search", '{"query": "kiln"}')
READ = ("h2", "history_read", '{"first": 1}')
LOOK = ("c1", "look", '{"key": "a"}')
in_each_form = pytest.mark.parametrize("form", every(2, FORMS))
in_each_way = pytest.mark.parametrize(("form", "is_streamed"), spread(FORMS, [False, True]))


def names_of(body: Body) -> list[str]:
    """The names of the tools of a request."""
    return [tool.get("function", tool)["name"] for tool in body.get("tools", [])]


def own_tool(form: str, name: str = "look") -> Body:
    """A tool of the client's."""
    schema: Body = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    if form == "anthropic":
        return {"name": name, "description": "Look.", "input_schema": schema}
    function = {"name": name, "description": "Look.", "parameters": schema}
    return {"type": "function", **function} if form == "responses" else {"type": "function", "function": function}


def read_answer(form: str, response: httpx2.Response) -> list[Body]:
    """What a client appends of an answer, plain or streamed."""
    if "event-stream" not in response.headers["content-type"]:
        return read_reply(form, response.json())
    reader = StreamedReply(form)  # type: ignore[arg-type]  # one of the forms
    reader.feed(response.content)
    reply = reader.read()
    assert reply.is_whole
    assert reply.wire is not None
    return list(reply.wire["output"]) if form == "responses" else [reply.wire]  # type: ignore[arg-type]


def texts_and_calls(form: str, messages: Sequence[Body]) -> tuple[str, list[str]]:
    """What a reply says, and which tools it calls."""
    wire = {"object": "response", "output": list(messages)} if form == "responses" else messages[0]
    view = read_wire(wire, wire_format=form)  # type: ignore[arg-type]  # one of the forms
    return view.text, [call.name for call in view.calls]


def check_valid(form: str, body: Body) -> None:
    """A request is one that its provider accepts."""
    assert CHECKS[form]({name: body[name] for name in WINDOW if name in body}) == []


@in_each_way
async def test_calls_are_answered_and_not_seen(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """The model searches and reads before it answers; the client gets one reply without calls, and goes on in its session."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        messages = [say("I fire the kiln on Wednesdays.")]
        messages += read_answer(form, await gateway.ask(messages, form=form, stream=is_streamed))
        messages.append(say("When do I fire it?"))
        provider.plan += [Planned(text="Let me look.", calls=(SEARCH,)), Planned(text="Hm.", calls=(READ,)), Planned()]
        answer = await gateway.ask(messages, form=form, stream=is_streamed)
        assert answer.headers["x-everfold-context"] == "extended"
        assert "history_" not in answer.text
        assert "h1" not in answer.text
        messages += read_answer(form, answer)
        text, calls = texts_and_calls(form, messages[3:])
        assert (text.replace("\n", "").endswith("Reply 4."), calls) == (True, [])
        first, second, third = [sent.body for sent in provider.sent[1:]]
        assert names_of(first) == ["history_search", "history_read"]
        assert "[conversation " not in provider.sent[1].text
        assert "message 1, user" in json.dumps(second)
        assert json.dumps(third).count("I fire the kiln on Wednesdays.") == 3  # said, found, read
        for body in (first, second, third):
            check_valid(form, body)
        messages.append(say("Thanks."))
        on = await gateway.ask(messages, form=form, stream=is_streamed)
        [session] = await gateway.sessions()
        assert on.headers["x-everfold-session"] == answer.headers["x-everfold-session"] == session.id
        assert [one.kind for one in await gateway.log(session.id)] == ["user", "assistant"] * 3
        assert "[conversation " not in provider.sent[-1].text
        assert (await (await gateway.engine.session(id=session.id)).verify()).problems == ()


@in_each_way
async def test_half_a_character_stops_no_call(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """A lone surrogate that the model says beside a call of ours is read by the provider and by the client as it was said."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        provider.plan += [Planned(text="One \ud83d", calls=(SEARCH,)), Planned(text="Two \ud83d")]
        answer = await gateway.ask([say("When do I fire it?")], form=form, stream=is_streamed)
        assert "\\ud83d" in provider.sent[1].text or form == "responses"  # whose reply says nothing beside a call
        assert "Two \ud83d" in texts_and_calls(form, read_answer(form, answer))[0]


@pytest.mark.parametrize("has_tools", [False, True])
async def test_a_client_that_leaves_while_the_end_is_sent(
    tmp_path: Path, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch, *, has_tools: bool
) -> None:
    """A reply is stored whole where its client closes before the gateway has sent all of the last event."""
    add = Answer.add

    async def add_slowly(answer: Answer, piece: bytes) -> None:
        await add(answer, piece)
        await asyncio.sleep(SECS if b"[DONE]" in piece else 0)

    monkeypatch.setattr(Answer, "add", add_slowly)
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"history_tools": has_tools}}) as gateway:
        body = {"model": "m", "messages": [say("One?")], "stream": True}
        async with gateway.client.stream("POST", PATHS["openai"], json=body) as response:
            async for piece in response.aiter_raw():
                if b"[DONE]" in piece:
                    break
        log = await gateway.log(response.headers["x-everfold-session"])
        assert [one.wire.get("content") for one in log] == ["One?", "Reply 1."]


@in_each_way
async def test_a_reply_that_calls_nothing_passes_as_it_came(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """The client gets every byte of an answer that has no call of ours."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        provider.plan += [Planned(text="Let me look.", calls=(LOOK,))]
        answer = await gateway.ask([say("Look.")], form=form, stream=is_streamed, tools=[own_tool(form)])
        plain = await gateway.client.post(f"{provider.url}{PATHS[form]}", json={"stream": is_streamed})
        assert answer.headers["content-type"] == plain.headers["content-type"]
        assert texts_and_calls(form, read_answer(form, answer))[1] == ["look"]
        assert names_of(provider.sent[0].body) == ["history_search", "history_read", "look"]


@in_each_way
async def test_a_call_beside_the_clients_own(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """The client gets its own call at once; when it brings the result, the model gets ours beside it."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        tools = [own_tool(form)]
        messages = [say("I fire the kiln on Wednesdays. Look.")]
        provider.plan += [Planned(text="Let me look.", calls=(SEARCH, LOOK))]
        answer = await gateway.ask(messages, form=form, stream=is_streamed, tools=tools)
        assert "history_" not in answer.text
        assert len(provider.sent) == 1
        reply = read_answer(form, answer)
        assert texts_and_calls(form, reply)[1] == ["look"]
        messages += [*reply, *write_results(form, {"c1": "a thing"})]
        final = await gateway.ask(messages, form=form, stream=is_streamed, tools=tools)
        sent = provider.sent[-1].body
        check_valid(form, sent)
        assert "a thing" in provider.sent[-1].text
        assert "[conversation " in provider.sent[-1].text
        assert provider.sent[-1].text.count('"history_search"') == 2  # offered, called
        [session] = await gateway.sessions()
        assert final.headers["x-everfold-session"] == session.id
        log = await gateway.log(session.id)
        assert [one.kind for one in log] == ["user", "assistant", "result", "assistant"]
        assert [call.name for call in log[1].view.calls] == ["look"]


@in_each_way
async def test_what_was_read_stays_for_the_turn(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """While the client's tools run, the model keeps what it read; with the next turn it is gone, and it is never stored."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        ask = partial(gateway.ask, form=form, stream=is_streamed, tools=[own_tool(form)])
        messages = [say("I fire the kiln on Wednesdays. Look.")]
        provider.plan += [Planned(text="First.", calls=(SEARCH,)), Planned(text="Then.", calls=(LOOK,))]
        messages += read_answer(form, await ask(messages))
        messages += write_results(form, {"c1": "a thing"})
        provider.plan += [Planned(text="Next.", calls=(("c2", "look", '{"key": "b"}'),))]
        messages += read_answer(form, await ask(messages))
        messages += write_results(form, {"c2": "another"})
        messages.append(read_answer(form, await ask(messages))[0])
        earlier, last = provider.sent[-2], provider.sent[-1]
        check_valid(form, last.body)
        assert last.text.count("[conversation ") == 1
        assert last.text.count("First.") <= 1
        name = "input" if form == "responses" else "messages"
        assert last.body[name][: len(earlier.body[name])] == earlier.body[name]
        messages.append(say("Thanks."))
        await ask(messages)
        assert "[conversation " not in provider.sent[-1].text


async def test_an_erase_takes_what_was_read(tmp_path: Path, provider: PlayedProvider) -> None:
    """What the model read of the history is not sent again once a message of the user is erased."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        ask = partial(gateway.ask, tools=[own_tool("openai")])
        first = [say("The kiln's code is zanzibar.")]
        first += read_answer("openai", await ask(first))
        messages = [say("Look up the kiln.")]
        provider.plan += [Planned(text="First.", calls=(SEARCH,)), Planned(text="Then.", calls=(LOOK,))]
        messages += read_answer("openai", await ask(messages))
        messages += write_results("openai", {"c1": "a thing"})
        assert "zanzibar" in provider.sent[-1].text
        session, _ = await gateway.sessions()
        await (await gateway.engine.session(id=session.id)).erase(1)
        await ask(messages)
        assert "zanzibar" not in provider.sent[-1].text
        assert await gateway.engine.admin.verify_erased(user=session.user_id, words=["zanzibar"]) == []


@in_each_form
async def test_a_name_that_the_client_uses_is_the_clients(tmp_path: Path, provider: PlayedProvider, form: str) -> None:
    """Ours of that name is left out, and a call of it goes to the client."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        provider.plan += [Planned(text="", calls=(("c1", "history_search", '{"key": "a"}'),))]
        tools = [own_tool(form, "history_search")]
        answer = await gateway.ask([say("Look.")], form=form, tools=tools)
        assert sorted(names_of(provider.sent[0].body)) == ["history_read", "history_search"]
        assert provider.sent[0].body["tools"][-1] == tools[0]
        assert texts_and_calls(form, read_answer(form, answer))[1] == ["history_search"]


@pytest.mark.parametrize("arguments", ["[" * 3_000, "[]", "{"])
async def test_arguments_that_cannot_be_read_are_refused(
    tmp_path: Path, provider: PlayedProvider, arguments: str
) -> None:
    """A call whose arguments are no JSON object, or too deep to be read, is answered with what is expected."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        provider.plan += [Planned(text="", calls=(("h1", "history_read", arguments),))]
        answer = await gateway.ask([say("The kiln.")])
        assert (answer.status_code, len(provider.sent)) == (200, 2)
        assert "the arguments must be a JSON object" in provider.sent[-1].text


@in_each_way
async def test_rounds_are_bounded(tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool) -> None:
    """A model that does nothing but read is stopped, and the client gets an end that names no call."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        calls = [(f"h{number}", "history_search", '{"query": "kiln"}') for number in range(20)]
        provider.plan += [Planned(text=f"Try {number}.", calls=(call,)) for number, call in enumerate(calls)]
        answer = await gateway.ask([say("The kiln.")], form=form, stream=is_streamed)
        assert len(provider.sent) == 9
        assert "Answer the user now" in provider.sent[-1].text
        assert "history_search" not in answer.text
        assert not any(word in answer.text for word in ("tool_use", '"tool_calls"'))


@in_each_way
async def test_a_refusal_of_a_later_request(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """The client is told what the provider said, and its retry goes on in the same session."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        error: Body = {"error": {"message": "slow down", "type": "rate_limit_error"}}
        provider.plan += [Planned(text="Let me look.", calls=(SEARCH,)), Planned(status=429, body=error)]
        refused = await gateway.ask([say("The kiln.")], form=form, stream=is_streamed)
        assert refused.status_code == (200 if is_streamed else 429)
        assert "slow down" in refused.text
        again = await gateway.ask([say("The kiln.")], form=form, stream=is_streamed)
        [session] = await gateway.sessions()
        assert again.headers["x-everfold-session"] == session.id
        kinds = [one.kind for one in await gateway.log(session.id) if one.kind != "retracted"]
        assert kinds == ["user", "assistant"]


@in_each_form
async def test_a_client_that_leaves_in_a_later_answer(tmp_path: Path, provider: PlayedProvider, form: str) -> None:
    """What it was sent of all answers is stored as interrupted, and the conversation goes on."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        provider.plan += [
            Planned(text="Looking.", calls=(SEARCH,)),
            Planned(text="A long answer that goes on and on.", is_held=True),
        ]
        name = "input" if form == "responses" else "messages"
        body = {"model": "m", name: [say("The kiln.")], "stream": True}
        async with gateway.client.stream("POST", PATHS[form], json=body) as response:
            async for piece in response.aiter_raw():
                if b"ong" in piece or b"swe" in piece:
                    break
        provider.released.set()
        again = await gateway.ask([say("The kiln.")], form=form)
        [session] = await gateway.sessions()
        assert again.headers["x-everfold-session"] == session.id
        shown = [one for one in await gateway.log(session.id) if one.kind != "retracted"]
        assert [one.kind for one in shown] == ["user", "assistant"]


@in_each_way
async def test_pages_of_what_was_folded_beside_recall(
    tmp_path: Path, provider: PlayedProvider, form: str, *, is_streamed: bool
) -> None:
    """In a long conversation that folds, the model reads a page of an early message, with `gateway.recall` beside it."""
    settings = {"gateway": {**SETTINGS["gateway"], "recall": True, "context_limit": 6000}}
    async with run_gateway(tmp_path / "g.db", provider.url, settings) as gateway:
        notebook = "My notebook:\n" + "glaze, clay, ash; " * 1000 + "The code is 4711."
        messages: list[Body] = [say(notebook)]
        for number in range(12):
            messages += read_answer(form, await gateway.ask(messages, form=form, stream=is_streamed))
            messages.append(say(f"Question {number} on the quay? {LONG}"))
        calls = [
            (f"h{part}", "history_read", json.dumps({"first": 1, "page": 3, "part": part})) for part in range(1, 9)
        ]
        provider.plan += [Planned(text="", calls=(call,)) for call in calls]
        answer = await gateway.ask(messages, form=form, stream=is_streamed)
        assert answer.headers["x-everfold-context"] == "folded"
        assert "The code is 4711." in provider.sent[-1].text
        assert "history_read" not in answer.text
        for sent in provider.sent[-9:]:
            check_valid(form, sent.body)
        [session] = await gateway.sessions()
        assert (await (await gateway.engine.session(id=session.id)).verify()).problems == ()


async def test_an_unknown_user_reads_one_session_only(tmp_path: Path, provider: PlayedProvider) -> None:
    """Where only a provider's key is known, the tools reach no other conversation; a named user's reach all of them."""
    for name, settings in {"one": {"history_tools": True}, "all": SETTINGS["gateway"]}.items():
        async with run_gateway(tmp_path / f"{name}.db", provider.url, {"gateway": settings}) as gateway:
            await gateway.ask([say("The kiln's code is zanzibar.")])
            other = (await gateway.sessions())[0].id
            read = ("h2", "history_read", json.dumps({"first": 1, "session": other}))
            provider.plan += [Planned(text="", calls=(SEARCH, read)), Planned()]
            await gateway.ask([say("What is the code of the kiln?")])
            assert provider.sent[-1].text.count("zanzibar") == (2 if name == "all" else 0)


async def test_a_count_of_tokens_has_them(tmp_path: Path, provider: PlayedProvider) -> None:
    """The count is of what would be sent."""
    async with run_gateway(tmp_path / "g.db", provider.url, SETTINGS) as gateway:
        body = {"model": "m", "messages": [say("One?")]}
        await gateway.client.post("/v1/messages/count_tokens", json=body)
        assert names_of(provider.sent[-1].body) == ["history_search", "history_read"]


async def test_they_are_off_unless_asked_for(gateway: Gateway, provider: PlayedProvider) -> None:
    """By default no request is extended."""
    await gateway.ask([say("One?")])
    assert "tools" not in provider.sent[-1].body
