"""The gateway's table of cases, each over real HTTP, against a provider that is played."""

import asyncio
import json
from typing import Any

import pytest
from tests.server.gateway.conftest import PATHS, Gateway, answered, say
from tests.server.gateway.played import Planned, PlayedProvider
from tests.support.waiting import SECS, until

from everfold.core.log.messages import Message

CALLS = (("c1", "look", '{"key": "a"}'), ("c2", "look", '{"key": "b"}'))


def text_of(response: Any) -> str:
    """What a plain chat completion says."""
    return str(response.json()["choices"][0]["message"]["content"])


async def talk(gateway: Gateway, count: int) -> list[dict[str, Any]]:
    """A conversation of so many turns; gives the client's list."""
    messages: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        messages.append(say(f"Question {number}?"))
        messages.append(answered(text_of(await gateway.ask(messages))))
    return messages


def result(call_id: str, text: str) -> dict[str, Any]:
    """What a tool gave back."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


async def test_full_history_and_something_new(gateway: Gateway, provider: PlayedProvider) -> None:
    """A client that sends its whole history goes on in one session, everything is stored once, and its bytes go on."""
    messages = await talk(gateway, 3)
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == [message["content"] for message in messages]
    assert provider.sent[-1].raw == json.dumps({"model": "m", "messages": messages[:-1]}, indent=1).encode()


async def test_a_retry_after_a_refusal(gateway: Gateway, provider: PlayedProvider) -> None:
    """A request that was refused and is sent again goes on in the same session, with nothing stored twice."""
    provider.plan += [Planned(status=503, body={"error": {"message": "busy"}}, headers={"retry-after": "7"})]
    refused = await gateway.ask([say("One?")])
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "7")
    assert (await gateway.ask([say("One?")])).is_success
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["One?", "Reply 2."]


async def test_the_same_request_after_success(gateway: Gateway) -> None:
    """It is a branch: both replies are kept, each where it was said, and the original goes on."""
    messages = await talk(gateway, 2)
    again = await gateway.ask(messages[:-1])
    assert text_of(again) == "Reply 3."
    first, branch = await gateway.sessions()
    assert (branch.parent_id, branch.branch_seq) == (first.id, 3)
    assert (await gateway.texts(branch.id))[-2:] == ["Question 2?", "Reply 3."]
    on = await gateway.ask([*messages, say("On?")])
    assert on.headers["x-everfold-session"] == first.id
    other = await gateway.ask([*messages[:-1], answered("Reply 3."), say("On?")])
    assert other.headers["x-everfold-session"] == branch.id


async def test_an_old_turn_edited(gateway: Gateway) -> None:
    """An edited turn branches before it, and the original goes on."""
    messages = await talk(gateway, 3)
    edited = [*messages[:2], say("Another question?")]
    branched = await gateway.ask(edited)
    first, branch = await gateway.sessions()
    assert branched.headers["x-everfold-session"] == branch.id
    assert (branch.parent_id, branch.branch_seq) == (first.id, 2)
    assert await gateway.texts(branch.id) == ["Question 1?", "Reply 1.", "Another question?", "Reply 4."]
    assert (await gateway.ask([*messages, say("On?")])).headers["x-everfold-session"] == first.id


async def step(gateway: Gateway, provider: PlayedProvider) -> list[dict[str, Any]]:
    """A conversation with a finished step of two calls; gives the client's list."""
    provider.plan += [Planned(text="", calls=CALLS)]
    messages = [say("Look."), (await gateway.ask([say("Look.")])).json()["choices"][0]["message"]]
    messages += [result("c1", "one"), result("c2", "two")]
    return [*messages, answered(text_of(await gateway.ask(messages)))]


async def test_an_edit_within_a_step(gateway: Gateway, provider: PlayedProvider) -> None:
    """An edited result branches before its whole step."""
    messages = await step(gateway, provider)
    messages[3] = result("c2", "another")
    branched = await gateway.ask(messages[:4])
    first, branch = await gateway.sessions()
    assert (branch.parent_id, branch.branch_seq) == (first.id, 1)
    assert branched.headers["x-everfold-session"] == branch.id
    assert [one.view.text for one in await gateway.log(branch.id)][2:4] == ["one", "another"]


async def test_an_incomplete_step(gateway: Gateway, provider: PlayedProvider) -> None:
    """A step that lacks a result is forwarded as it came, and nothing of it is stored."""
    messages = await step(gateway, provider)
    asked = await gateway.ask([*messages[:3]])
    assert (asked.headers["x-everfold-context"], asked.headers["x-everfold-reason"]) == ("passed", "incomplete step")
    assert provider.sent[-1].body["messages"] == messages[:3]
    [session] = await gateway.sessions()
    assert len(await gateway.log(session.id)) == len(messages)


async def test_the_same_in_other_bytes(gateway: Gateway, provider: PlayedProvider) -> None:
    """Results in another order, other blanks in JSON, part lists for strings: the same session, nothing twice."""
    messages = await step(gateway, provider)
    calls = [
        {
            **call,
            "function": {
                **call["function"],
                "arguments": json.dumps(json.loads(call["function"]["arguments"]), indent=2),
            },
        }
        for call in messages[1]["tool_calls"]
    ]
    other = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "tool_calls": calls},
        messages[3],
        messages[2],
        {"role": "assistant", "content": [{"type": "text", "text": messages[4]["content"]}]},
        say("Thanks."),
    ]
    await gateway.ask(other)
    [session] = await gateway.sessions()
    assert len(await gateway.log(session.id)) == len(other) + 1


async def test_system_or_tools_changed(gateway: Gateway) -> None:
    """The session stays, and its next window reports the break."""
    system = {"role": "system", "content": "Be brief."}
    messages = [system, say("One?")]
    messages.append(answered(text_of(await gateway.ask(messages))))
    messages[0] = {"role": "system", "content": "Be long."}
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    await gateway.ask([*messages, say("Two?")], tools=[tool])
    [session] = await gateway.sessions()
    opened = await gateway.engine.session(id=session.id)
    assert opened.settings.prompt.system == "Be long."
    assert list(opened.settings.prompt.tools) == [tool]
    assert len(await gateway.log(session.id)) == 4


@pytest.mark.parametrize("kept", [3, 4])
async def test_a_client_that_cuts_its_oldest(gateway: Gateway, kept: int) -> None:
    """At least three messages that align with the end are the same session."""
    messages = await talk(gateway, 4)
    on = await gateway.ask([*messages[-kept:], say("On?")])
    [session] = await gateway.sessions()
    assert on.headers["x-everfold-session"] == session.id
    assert len(await gateway.log(session.id)) == len(messages) + 2
    again = await gateway.ask([*messages[-kept:], say("On?"), answered("Reply 5."), say("And?")])
    assert again.headers["x-everfold-session"] == session.id


async def test_two_messages_are_too_few(gateway: Gateway) -> None:
    """Where less than three messages align, a session begins."""
    messages = await talk(gateway, 4)
    await gateway.ask([*messages[-2:], say("On?")])
    assert len(await gateway.sessions()) == 2


async def test_a_clients_own_summary(gateway: Gateway) -> None:
    """A summary and the tail go on in the same session; the summary is stored as an injection, once."""
    messages = await talk(gateway, 4)
    summary = say("Summary: questions 1 to 2 were answered.")
    mine = [summary, *messages[-4:], say("On?")]
    on = await gateway.ask(mine)
    await gateway.ask([*mine, answered(text_of(on)), say("And?")])
    [session] = await gateway.sessions()
    log = await gateway.log(session.id)
    assert [one.view.text for one in log if one.source == "injection"] == [summary["content"]]
    assert [one.view.text for one in log[-4:]] == ["On?", "Reply 5.", "And?", "Reply 6."]


async def test_a_clients_own_summary_within_a_step(gateway: Gateway, provider: PlayedProvider) -> None:
    """A result that comes with a summary answers its call: the summary stands behind the step."""
    messages = await talk(gateway, 3)
    for number in (1, 2):
        provider.plan += [Planned(text="", calls=((f"c{number}", "look", "{}"),))]
        messages += [say("Look.")] if number == 1 else []
        messages.append((await gateway.ask(messages)).json()["choices"][0]["message"])
        messages.append(result(f"c{number}", f"Found {number}."))
    await gateway.ask([say("Summary: all was answered."), *messages[-5:]])
    [session] = await gateway.sessions()
    log = await gateway.log(session.id)
    assert [one.kind for one in log[-4:]] == ["assistant", "result", "notice", "assistant"]
    assert log[-3].view.text == "Found 2."


@pytest.mark.parametrize(("kept", "shared"), [(5, 9), (3, 6), (1, 4)])
async def test_an_edit_behind_a_clients_own_summary(gateway: Gateway, kept: int, shared: int) -> None:
    """The branch has the summary, what the log has before the edit, and each reply behind its question, once."""
    messages = await talk(gateway, 4)
    mine = [say("Summary: questions 1 to 2 were answered."), *messages[-4:], say("On?")]
    mine.append(answered(text_of(await gateway.ask(mine))))
    edited = [*mine[:kept], say("Edited?")]
    for question in ("And?", "More?"):
        edited += [answered(text_of(await gateway.ask(edited))), say(question)]
    last = await gateway.ask([*edited])
    first, branch = await gateway.sessions()
    assert last.headers["x-everfold-session"] == branch.id
    assert branch.branch_seq == shared
    past = await gateway.texts(first.id)
    told = [*past[:shared], *([] if mine[0]["content"] in past[:shared] else [mine[0]["content"]])]
    said = ["Edited?", "Reply 6.", "And?", "Reply 7.", "More?", "Reply 8."]
    assert await gateway.texts(branch.id) == [*told, *said]
    assert [one.source for one in await gateway.log(branch.id)].count("injection") == 1


async def test_an_edit_behind_a_summary_that_was_erased(gateway: Gateway, provider: PlayedProvider) -> None:
    """The branch holds nothing of the summary, not even a hash, and its client goes on in it."""
    messages = await talk(gateway, 4)
    secret = "Summary: the code is zanzibar."
    mine = [say(secret), *messages[-4:], say("On?")]
    mine.append(answered(text_of(await gateway.ask(mine))))
    [session] = await gateway.sessions()
    await (await gateway.engine.session(id=session.id)).erase(9)
    edited = [*mine[:3], say("Edited?")]
    for question in ("And?", "More?"):
        edited += [answered(text_of(await gateway.ask(edited))), say(question)]
        assert "zanzibar" not in provider.sent[-1].text
    first, branch = await gateway.sessions()
    assert (await gateway.texts(branch.id))[6:] == ["Edited?", "Reply 6.", "And?", "Reply 7."]
    await gateway.app.drain()
    assert await gateway.engine.admin.verify_erased(user=first.user_id, words=["zanzibar", secret]) == []
    held = (await gateway.engine.admin.conversations.read(branch.id)).client_list.messages
    assert [one.content is None for one in held] == [True, *[False] * (len(held) - 1)]
    assert all(one.chain is None for one in held)


NAMED = {"x-everfold-session": "thread-1"}


async def test_an_explicit_id_and_the_same_text_twice(gateway: Gateway, provider: PlayedProvider) -> None:
    """What is sent alone is said again, and goes with its past."""
    for _ in range(2):
        await gateway.ask([say("Yes.")], headers=NAMED)
    [session] = await gateway.sessions()
    assert session.session_key == "thread-1"
    assert await gateway.texts(session.id) == ["Yes.", "Reply 1.", "Yes.", "Reply 2."]
    assert "Reply 1." in provider.sent[-1].text


@pytest.mark.parametrize("mark", [{"x-stainless-retry-count": "1"}, {"idempotency-key": "k1"}])
async def test_an_explicit_id_and_a_retry(gateway: Gateway, provider: PlayedProvider, mark: dict[str, str]) -> None:
    """With a retry header or the same idempotency key it is a retry: after a refusal nothing is said twice."""
    provider.plan += [Planned(status=503, body={"error": {"message": "busy"}})]
    first = {} if "x-stainless-retry-count" in mark else mark
    await gateway.ask([say("Yes.")], headers={**NAMED, **first})
    await gateway.ask([say("Yes.")], headers={**NAMED, **mark})
    [session] = await gateway.sessions()
    assert await gateway.texts(session.id) == ["Yes.", "Reply 2."]


async def test_an_explicit_id_is_strict(gateway: Gateway) -> None:
    """The same history under another id, or without one, is another session; a whole history under it goes on in it."""
    first = await gateway.ask([say("One?")], headers=NAMED)
    messages = [say("One?"), answered(text_of(first)), say("Two?")]
    on = await gateway.ask(messages, headers=NAMED)
    other = await gateway.ask(messages, headers={"x-everfold-session": "thread-2"})
    none = await gateway.ask(messages)
    ids = [one.headers["x-everfold-session"] for one in (first, on, other, none)]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


async def test_an_edit_under_an_explicit_id(gateway: Gateway) -> None:
    """A whole history that was edited rewinds the session of that id."""
    messages = [say("One?")]
    messages.append(answered(text_of(await gateway.ask(messages, headers=NAMED))))
    messages.append(say("Two?"))
    await gateway.ask(messages, headers=NAMED)
    await gateway.ask([*messages[:2], say("Three?")], headers=NAMED)
    last = await gateway.ask([say("Four?")], headers=NAMED)
    assert (await gateway.texts(last.headers["x-everfold-session"]))[2:] == ["Three?", "Reply 3.", "Four?", "Reply 4."]


async def test_ids_that_clients_send_only_narrow(gateway: Gateway) -> None:
    """The same history under another id of the client's is another session, and within one id the history decides."""
    ids = [
        {"x-claude-code-session-id": "one"},
        {"x-claude-code-session-id": "two"},
        {"session-id": "one"},
        {},
    ]
    for headers in ids:
        await gateway.ask([say("One?")], headers=headers)
    for cache_key in ("k1", "k2"):
        await gateway.ask([say("One?")], prompt_cache_key=cache_key)
    await gateway.ask([say("One?")], metadata={"user_id": "someone"})
    assert len(await gateway.sessions()) == 7
    await gateway.ask([say("Another?")], headers=ids[0])
    assert len(await gateway.sessions()) == 8


async def test_two_identical_at_once(gateway: Gateway, provider: PlayedProvider) -> None:
    """The second one waits for the first one's reply."""
    provider.plan += [Planned(is_held=True)]
    first = asyncio.create_task(gateway.ask([say("One?")]))
    await until(lambda: provider.sent)
    second = asyncio.create_task(gateway.ask([say("One?")]))
    await asyncio.sleep(0)
    provider.plan += [Planned(text="The second.")]
    assert len(provider.sent) == 1
    provider.released.set()
    assert text_of(await first) == "Reply 1."
    assert text_of(await second) == "The second."
    original, branch = await gateway.sessions()
    assert await gateway.texts(original.id) == ["One?", "Reply 1."]
    assert await gateway.texts(branch.id) == ["One?", "The second."]


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic"])
async def test_a_client_that_leaves_in_mid_stream(gateway: Gateway, provider: PlayedProvider, form: str) -> None:
    """What it was sent is stored as interrupted, without half calls, and the conversation goes on."""
    provider.plan += [
        Planned(text="A long answer that goes on and on.", calls=CALLS if form != "responses" else (), is_held=True)
    ]
    messages = [say("One?")]
    name = "input" if form == "responses" else "messages"
    async with gateway.client.stream(
        "POST", PATHS[form], json={"model": "m", name: messages, "stream": True}
    ) as response:
        session = response.headers["x-everfold-session"]
        async for piece in response.aiter_raw():
            if b"ong" in piece or b"swe" in piece:
                break
    log = await _wait_for_log(gateway, session, 2)
    assert log[1].wire["interrupted"]
    assert log[1].view.text.startswith("A lon")
    assert not log[1].view.calls
    provider.released.set()
    again = await gateway.ask(messages, form=form)
    assert again.headers["x-everfold-session"] == session
    on = await gateway.ask([*messages, say("Two?")], form=form)
    assert on.is_success


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic"])
async def test_a_client_that_leaves_at_the_end_of_a_stream(
    gateway: Gateway, provider: PlayedProvider, form: str
) -> None:
    """A client that closes when it has the whole reply, before the provider's connection ends, loses nothing of it."""
    provider.plan += [Planned(text="All is done.", calls=CALLS[:1], is_open=True)]
    name = "input" if form == "responses" else "messages"
    body = {"model": "m", name: [say("One?")], "stream": True}
    end = {"openai": b"[DONE]", "responses": b"response.completed", "anthropic": b"message_stop"}[form]
    async with gateway.client.stream("POST", PATHS[form], json=body) as response:
        session = response.headers["x-everfold-session"]
        async for piece in response.aiter_raw():
            if end in piece:
                break
    log = await _wait_for_log(gateway, session, 2)
    provider.released.set()
    assert "interrupted" not in log[1].wire
    assert [call.id for call in log[1].view.calls] == ["c1"]


async def _wait_for_log(gateway: Gateway, session: str, count: int) -> list[Message]:
    async with asyncio.timeout(SECS):
        while len(log := await gateway.log(session)) < count:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.001)
    return log


async def test_a_result_without_its_call(gateway: Gateway, provider: PlayedProvider) -> None:
    """It is passed on as it came, and the provider's error comes back with status, body and request id."""
    error = {"error": {"message": "no tool_calls before this", "type": "invalid_request_error"}}
    provider.plan += [Planned(status=400, body=error)]
    asked = await gateway.ask([say("One?"), result("c9", "nothing")])
    assert (asked.status_code, asked.json()) == (400, error)
    assert asked.headers["x-request-id"] == "req_provider"
    assert asked.headers["x-everfold-reason"] == "result without its call"
    assert await gateway.sessions() == []
