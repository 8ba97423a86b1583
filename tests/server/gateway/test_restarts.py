"""A gateway that starts again, or a second one over the same store, goes on where the log of a conversation ends."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.gateway.conftest import PATHS, Gateway, answered, run_gateway, say
from tests.server.gateway.played import Planned, PlayedProvider

NAMED = {"x-everfold-session": "thread-1"}
BUSY = Planned(status=503, body={"error": {"message": "busy"}})
CUT = Planned(text="A long answer that goes on and on.", is_cut=True)


def text_of(response: httpx2.Response) -> str:
    """What a plain chat completion says."""
    return str(response.json()["choices"][0]["message"]["content"])


async def leave(gateway: Gateway, messages: list[dict[str, Any]], headers: Mapping[str, str]) -> None:
    """Ask for a stream that breaks off, and wait until what came of it is stored."""
    body = {"model": "m", "messages": messages, "stream": True}
    with suppress(httpx2.HTTPError):
        await gateway.client.post(PATHS["openai"], json=body, headers=headers)
    await gateway.settle()


async def talk(gateway: Gateway, messages: list[dict[str, Any]], *texts: str) -> None:
    """Say texts one after the other, each with the whole list before it."""
    for text in texts:
        messages.append(say(text))
        messages.append(answered(text_of(await gateway.ask(messages))))


async def erase(gateway: Gateway, *seqs: int) -> str:
    """Erase messages of the only session; gives its id."""
    [session] = await gateway.sessions()
    for seq in seqs:
        await (await gateway.engine.session(id=session.id)).erase(seq)
    return session.id


@pytest.mark.parametrize("erased", [[], [2]])
@pytest.mark.parametrize("named", [NAMED, {}])
async def test_a_reply_behind_one_that_was_taken_back(
    tmp_path: Path, provider: PlayedProvider, named: Mapping[str, str], erased: list[int]
) -> None:
    """A reply that broke off and was taken back, or erased then, holds its place: the next one goes behind it, in the same session."""
    provider.plan += [CUT, BUSY]
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await leave(gateway, [say("One?")], named)
        await gateway.ask([say("One?")], headers={**named, "x-stainless-retry-count": "1"})
        await erase(gateway, *erased)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        reply = text_of(await gateway.ask([say("One?")], headers={**named, "x-stainless-retry-count": "2"}))
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        before = [] if named else [say("One?"), answered(reply)]
        await gateway.ask([*before, say("Two?")], headers=named)
        [session] = await gateway.sessions()
        assert await gateway.texts(session.id) == ["One?", "Reply 3.", "Two?", "Reply 4."]
    assert "Reply 3." in provider.sent[-1].text


async def test_what_a_program_appends_is_not_the_clients(tmp_path: Path, provider: PlayedProvider) -> None:
    """A client goes on in its session, also after a restart, when a program has appended a message that the client does not hold."""
    messages: list[dict[str, Any]] = []
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await talk(gateway, messages, "One?")
        [session] = await gateway.sessions()
        await (await gateway.engine.session(id=session.id)).append([say("Added by a program.")])
        await talk(gateway, messages, "Two?")
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await talk(gateway, messages, "Three?")
        [session] = await gateway.sessions()
        texts = await gateway.texts(session.id)
        assert texts == ["One?", "Reply 1.", "Added by a program.", "Two?", "Reply 2.", "Three?", "Reply 3."]


async def test_what_another_server_took_back_is_no_branch(tmp_path: Path, provider: PlayedProvider) -> None:
    """A server that knows less of a conversation than the store reads it anew, and goes on in the same session."""
    path = tmp_path / "g.db"
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        messages = [say("One?"), answered(text_of(await one.ask([say("One?")]))), say("Two?")]
        provider.plan += [CUT]
        await leave(two, messages, {})
        messages += [answered(text_of(await two.ask(messages))), say("Three?")]
        await two.settle()
        await one.ask(messages)
        [session] = await one.sessions()
        assert await one.texts(session.id) == ["One?", "Reply 1.", "Two?", "Reply 3.", "Three?", "Reply 4."]


async def test_a_system_message_in_mid_list_is_the_clients(tmp_path: Path, provider: PlayedProvider) -> None:
    """A request with a system message in its middle goes on at another server, after a refusal, in the same session."""
    path = tmp_path / "g.db"
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        messages = [say("One?"), answered(text_of(await one.ask([say("One?")])))]
        messages += [{"role": "system", "content": "Be brief."}, say("Two?")]
        provider.plan += [BUSY]
        await one.ask(messages)
        await one.settle()
        await two.ask(messages)
        await two.settle()
        [session] = await one.sessions()
        assert await one.texts(session.id) == ["One?", "Reply 1.", "Be brief.", "Two?", "Reply 3."]


@pytest.mark.parametrize(
    ("replies", "texts", "erased"),
    [
        (["OK."], ["The code is zanzibar."], [1]),
        (["Hello! How can I help?", "OK."], ["Hi, I am Ann.", "My code is 4711."], [1]),
    ],
)
async def test_one_equal_reply_joins_no_conversations(
    tmp_path: Path, provider: PlayedProvider, replies: list[str], texts: list[str], erased: list[int]
) -> None:
    """A conversation that is not known, with one reply that an erased list has too, begins a session and loses nothing."""
    provider.plan += [Planned(text=reply) for reply in replies]
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await talk(gateway, [], *texts)
        session_id = await erase(gateway, *erased)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        other = [say("My cat is Tom."), answered(replies[0]), say("What is my cat's name?")]
        on = await gateway.ask(other)
        assert on.headers["x-everfold-session"] != session_id
        assert "My cat is Tom." in provider.sent[-1].text
        assert (await gateway.texts(on.headers["x-everfold-session"]))[0] == "My cat is Tom."


@pytest.mark.parametrize(("erased", "others_count"), [([1, 3], 1), ([3, 2], 17)])
async def test_another_conversation_with_the_same_beginning(
    tmp_path: Path, provider: PlayedProvider, erased: list[int], others_count: int
) -> None:
    """A list with erased messages is found though newer conversations begin as it does, and what was erased stays out."""
    messages: list[dict[str, Any]] = []
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await talk(gateway, messages, "Hello", "The code is zanzibar.")
        session_id = await erase(gateway, *erased)
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        for _ in range(others_count):
            await talk(gateway, [], "Hello")
        for question in ("On?", "And?"):
            await talk(gateway, messages, question)
            assert "zanzibar" not in provider.sent[-1].text
        assert (await gateway.texts(session_id))[-4:] == [str(message["content"]) for message in messages[-4:]]
        assert len(await gateway.sessions()) == 1 + others_count
