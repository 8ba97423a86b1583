"""Several gateways over one store, each a process of its own: one answers in a conversation at a time."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.forks import Forks
from tests.server.gateway.conftest import Gateway, answered, run_gateway, say
from tests.server.gateway.played import Planned, PlayedProvider
from tests.server.gateway.test_kill import ask, list_logs, running, text_of
from tests.support.waiting import SECS, until

import everfold
from everfold.server.gateway import at_hand


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """An empty store that several processes may open: a file, or the URL of a database."""
    if request.param == "sqlite":
        return tmp_path / "g.db"
    return str(request.getfixturevalue("database_url"))


async def send(address: str, messages: list[dict[str, Any]]) -> httpx2.Response:
    """Send a list of messages beside other requests."""
    return await asyncio.to_thread(ask, address, messages)


@pytest.mark.parametrize("turns_count", [1, 2])
async def test_the_second_waits_at_another_server(
    store: Path | str, provider: PlayedProvider, command_forks: Forks, *, turns_count: int
) -> None:
    """Of two equal requests at once at two servers the second one waits for the first one's reply, and is a branch then."""
    with (
        running(command_forks, store, provider.url) as (one, _),
        running(command_forks, store, provider.url) as (two, _),
    ):
        messages = [say("Question 1?")]
        for number in range(2, turns_count + 1):
            messages += [answered(text_of(await send(one, messages))), say(f"Question {number}?")]
        before_count = len(provider.sent)
        provider.plan += [Planned(text="The first.", is_held=True)]
        first = asyncio.create_task(send(one, messages))
        await until(lambda: len(provider.sent) > before_count)
        second = asyncio.create_task(send(two, messages))
        await send(two, [say("Something else?")])
        assert [sent.body["messages"] for sent in provider.sent].count(messages) == 1
        provider.plan += [Planned(text="The second.")]
        provider.released.set()
        assert text_of(await first) == "The first."
        assert text_of(await second) == "The second."
    logs = await list_logs(store)
    said = [message["content"] for message in messages]
    assert sorted(log for log in logs if log[0] == "Question 1?") == [[*said, "The first."], [*said, "The second."]]
    async with everfold.open(f"sqlite:///{store}" if isinstance(store, Path) else store) as engine:
        parents = [record.parent_id for record in await engine.list_sessions()]
        assert len([parent for parent in parents if parent is not None]) == 1


@pytest.mark.slow
async def test_a_server_that_died_is_not_waited_for_for_long(
    store: Path | str, provider: PlayedProvider, command_forks: Forks
) -> None:
    """Where a server is killed while it answers, another one goes on in its session once the claim has run out."""
    with (
        running(command_forks, store, provider.url) as (one, process),
        running(command_forks, store, provider.url) as (two, _),
    ):
        provider.plan += [Planned(is_held=True)]
        first = asyncio.create_task(send(one, [say("One?")]))
        await until(lambda: provider.sent)
        process.send_signal(signal.SIGKILL)
        process.wait(SECS)
        await asyncio.gather(first, return_exceptions=True)
        messages = [say("One?"), answered(text_of(await send(two, [say("One?")]))), say("Two?")]
        await send(two, messages)
    assert await list_logs(store) == [["One?", "Reply 2.", "Two?", "Reply 3."]]


NAMED = {"x-everfold-session": "thread-1"}
BUSY = Planned(status=503, body={"error": {"message": "busy"}})


async def tell(gateway: Gateway, messages: list[dict[str, Any]], headers: dict[str, str]) -> httpx2.Response:
    """Send a list of messages, and wait until the reply is stored and nothing is held any more."""
    response = await gateway.ask(messages, headers=headers)
    await gateway.settle()
    await gateway.app.drain()
    return response


async def test_a_named_session_goes_on_at_any_server(tmp_path: Path, provider: PlayedProvider) -> None:
    """What one server stored in a named session is before what another one stores next, in one session."""
    path = tmp_path / "g.db"
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        for number, gateway in enumerate((one, two, one, two), 1):
            assert (await tell(gateway, [say(f"Question {number}?")], NAMED)).is_success
        [session] = await one.sessions()
        said = [text for number in range(1, 5) for text in (f"Question {number}?", f"Reply {number}.")]
        assert await one.texts(session.id) == said
    assert "Question 3?" in provider.sent[-1].text


async def test_a_retry_at_another_server(tmp_path: Path, provider: PlayedProvider) -> None:
    """A request that one server stored and another one answered is given that reply at both."""
    path, first = tmp_path / "g.db", {**NAMED, "idempotency-key": "k1"}
    provider.plan += [BUSY]
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        await tell(one, [say("One?")], first)
        replies = [text_of(await tell(gateway, [say("One?")], first)) for gateway in (two, one, two)]
        assert (replies, len(provider.sent)) == (["Reply 2."] * 3, 2)
        assert len(await one.sessions()) == 1


async def test_a_session_that_was_left_for_a_branch_is_free(tmp_path: Path, provider: PlayedProvider) -> None:
    """Where a reply goes into a branch, since another server has stored one, the original goes on at any server."""
    path = tmp_path / "g.db"
    provider.plan += [BUSY]
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        await tell(one, [say("One?")], {})
        messages = [say("One?"), answered(text_of(await tell(two, [say("One?")], {})))]
        await tell(one, [say("One?")], {})
        async with asyncio.timeout(SECS):
            assert (await tell(two, [*messages, say("Two?")], {})).is_success
        logs = [await one.texts(session.id) for session in await one.sessions()]
        assert sorted(logs) == [["One?", "Reply 2.", "Two?", "Reply 4."], ["One?", "Reply 3."]]


@pytest.mark.parametrize("is_at_first", [True, False])
async def test_the_same_words_twice_at_two_servers(
    tmp_path: Path, provider: PlayedProvider, *, is_at_first: bool
) -> None:
    """A retry of what was said last is given the reply to that, also where the server knows an earlier reply to the same words."""
    path = tmp_path / "g.db"
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        for gateway in (one, two):
            await tell(gateway, [say("ok")], NAMED)
        again = await tell(one if is_at_first else two, [say("ok")], {**NAMED, "x-stainless-retry-count": "1"})
        assert (text_of(again), len(provider.sent)) == ("Reply 2.", 2)


async def test_what_was_left_for_a_branch_is_let_go(
    tmp_path: Path, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversation whose reply went into a branch leaves those at hand like any other, once they are too many."""
    monkeypatch.setattr(at_hand, "MOST_CONVERSATIONS", 3)
    path = tmp_path / "g.db"
    provider.plan += [BUSY]
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        for gateway in (one, two, one):
            await tell(gateway, [say("One?")], {})
        async with asyncio.timeout(SECS):
            for number in range(6):
                assert (await tell(one, [say(f"Conversation {number}.")], {})).is_success


async def test_a_named_session_is_one_after_a_lost_claim(tmp_path: Path, provider: PlayedProvider) -> None:
    """Where a server stood still while another one answered for it, its late reply is beside the session, which both go on in."""
    path = tmp_path / "g.db"
    async with run_gateway(path, provider.url) as one, run_gateway(path, provider.url) as two:
        await tell(one, [say("One?")], NAMED)
        [session] = await one.sessions()
        provider.plan += [Planned(is_held=True, text="Late.")]
        late = asyncio.create_task(one.ask([say("Two?")], headers=NAMED))
        await until(lambda: len(provider.sent) > 1)
        claims = one.app._turns.claims
        for name in list(claims._held):  # as it runs out
            await claims.store.release_lease(name, holder=claims.holder)
        await tell(two, [say("Two?")], {**NAMED, "x-stainless-retry-count": "1"})
        provider.release()
        assert text_of(await late) == "Late."
        for gateway in (one, two, one):
            await gateway.settle()
            told = await tell(gateway, [say("Three?")], NAMED)
            assert told.headers["x-everfold-session"] == session.id
        assert (await one.texts(session.id))[:4] == ["One?", "Reply 1.", "Two?", "Reply 3."]
        assert (await one.texts(session.id)).count("Three?") == 3
