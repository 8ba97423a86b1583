"""The gateway is a process of its own, is killed at any moment, and goes on where it was."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.forks import Forks, Program
from tests.server.gateway.conftest import answered, say
from tests.server.gateway.played import Planned, PlayedProvider
from tests.support.waiting import SECS, until

import everfold

COMMAND = "from everfold.cli.entry import run; run()"


@contextmanager
def running(forks: Forks, store: Path | str, upstream: str) -> Iterator[tuple[str, Program]]:
    """A gateway in a process of its own: its address for clients of OpenAI."""
    arguments = ["gateway", "--upstream", upstream, "--port", "0", "--json"]
    url = f"sqlite:///{store}" if isinstance(store, Path) else store
    environment = {**os.environ, "NO_COLOR": "1", "EVERFOLD_STORE__URL": url}
    with forks.talking(COMMAND, *arguments, environment=environment) as process:
        assert process.stdout
        lines = ""
        for line in process.stdout:
            lines += line
            if line.startswith("}"):
                break
        yield json.loads(lines)["openai_base_url"], process
        process.terminate()
        process.wait(SECS)


def ask(address: str, messages: list[dict[str, Any]], **headers: str) -> httpx2.Response:
    """Send a list of messages."""
    return httpx2.post(
        f"{address}/chat/completions", json={"model": "m", "messages": messages}, headers=headers, timeout=60
    )


def text_of(response: httpx2.Response) -> str:
    """What a plain chat completion says."""
    return str(response.json()["choices"][0]["message"]["content"])


async def list_logs(store: Path | str) -> list[list[str]]:
    """What every session of a store says."""
    async with everfold.open(f"sqlite:///{store}" if isinstance(store, Path) else store) as engine:
        sessions = [await engine.session(id=one.id) for one in await engine.list_sessions()]
        assert all([(await one.verify()).problems == () for one in sessions])
        return [[message.view.text for message in await one.messages()] for one in sessions]


async def test_killed_and_started(tmp_path: Path, provider: PlayedProvider, command_forks: Forks) -> None:
    """After a SIGKILL the table's cases hold as before: going on, a retry, a branch, a cut, a named session."""
    store = tmp_path / "g.db"
    messages: list[dict[str, Any]] = []
    with running(command_forks, store, provider.url) as (address, process):
        for number in range(1, 5):
            messages.append(say(f"Question {number}?"))
            messages.append(answered(text_of(ask(address, messages))))
        ask(address, [say("Yes.")], **{"x-everfold-session": "thread-1"})
        process.send_signal(signal.SIGKILL)
        assert process.wait(SECS) == -signal.SIGKILL
    with running(command_forks, store, provider.url) as (address, _):
        on = ask(address, [*messages, say("On?")])
        branch = ask(address, [*messages[:-2], say("Otherwise?")])
        cut = ask(address, [*messages[-2:], say("On?"), answered(text_of(on)), say("And?")])
        named = ask(address, [say("Yes.")], **{"x-everfold-session": "thread-1"})
        assert "Reply 5." in provider.sent[-1].text
    first, thread, other = await list_logs(store)
    assert first == [message["content"] for message in messages] + ["On?", text_of(on), "And?", text_of(cut)]
    assert thread == ["Yes.", "Reply 5.", "Yes.", text_of(named)]
    assert other[-2:] == ["Otherwise?", text_of(branch)]


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_killed_in_the_middle_of_a_reply(
    tmp_path: Path, provider: PlayedProvider, command_forks: Forks, *, is_streamed: bool
) -> None:
    """The client sends its request again, and goes on in the same session with nothing lost or doubled."""
    store = tmp_path / "g.db"
    provider.plan += [Planned(is_held=True)]
    body = {"model": "m", "messages": [say("One?")], "stream": is_streamed}
    with running(command_forks, store, provider.url) as (address, process):
        async with httpx2.AsyncClient(timeout=60) as client:
            request = client.build_request("POST", f"{address}/chat/completions", json=body)
            async with _sending(client, request):
                await until(lambda: provider.sent)
                process.send_signal(signal.SIGKILL)
                process.wait(SECS)
    provider.released.set()
    with running(command_forks, store, provider.url) as (address, _):
        messages = [say("One?"), answered(text_of(ask(address, [say("One?")]))), say("Two?")]
        ask(address, messages)
    assert await list_logs(store) == [["One?", "Reply 2.", "Two?", "Reply 3."]]


@asynccontextmanager
async def _sending(client: httpx2.AsyncClient, request: httpx2.Request) -> AsyncIterator[None]:
    """Send a request whose end nothing waits for."""
    sending = asyncio.ensure_future(client.send(request))
    yield
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def test_what_was_stored_before_its_hash_is_taken_up(
    tmp_path: Path, provider: PlayedProvider, command_forks: Forks
) -> None:
    """A kill between a message and its hash: the next start finds the message in the log, and stores it once."""
    store = tmp_path / "g.db"
    with running(command_forks, store, provider.url) as (address, _):
        ask(address, [say("One?")])
    async with everfold.open(f"sqlite:///{store}") as engine:
        [record] = await engine.list_sessions()
        session = await engine.session(id=record.id)
        await session.append([say("Two?")], client_ids=["client-3"])
    with running(command_forks, store, provider.url) as (address, _):
        ask(address, [say("One?"), answered("Reply 1."), say("Two?")])
    assert await list_logs(store) == [["One?", "Reply 1.", "Two?", "Reply 2."]]
