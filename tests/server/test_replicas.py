"""Several servers over one PostgreSQL: each tells what the others do, and goes by what they changed. Nothing is sticky."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.server.streaming import PATIENCE_SECS, Stream, listening, streaming, wait_until
from tests.support.cutting import cutting

from everfold.adapters.postgres import replicas as telling
from everfold.adapters.postgres.replicas import PostgresReplicas
from everfold.core.access.api_keys import ApiKeyId
from everfold.core.log.interruption import INTERRUPTED_MARK
from everfold.core.observation.events import MessagesAppended, WorkFailed
from everfold.errors import ConflictError
from everfold.ports.leases import LeaseName
from everfold.ports.replicas import SharedSettings
from everfold.server.app import make_app
from everfold.server.opening import open_runtime
from everfold.server.runtime import Runtime

pytestmark = pytest.mark.anyio
Settings = Mapping[str, Mapping[str, object]]
CHAT = "/api/agents/guide/chat"
INLINE: Settings = {"compaction": {"synchronous": True}}


@dataclass(kw_only=True)
class Server:
    """One of the servers."""

    runtime: Runtime
    client: httpx2.AsyncClient


@dataclass(kw_only=True)
class Both:
    """Two servers over one store, with clients that have one admin key."""

    one: Server
    other: Server
    key_id: ApiKeyId = field(default=ApiKeyId(""))


@asynccontextmanager
async def serving(url: str, settings: Settings = INLINE) -> AsyncIterator[Both]:
    """Two servers that listen."""
    async with AsyncExitStack() as stack:
        runtimes = [await stack.enter_async_context(open_runtime(url, settings=settings)) for _ in range(2)]
        made = await runtimes[0].engine.admin.api_keys.make("desk", "admin")
        servers = []
        for runtime in runtimes:
            address = await stack.enter_async_context(listening(make_app(runtime)))
            headers = {"Authorization": f"Bearer {made.secret}"}
            client = httpx2.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE_SECS)
            servers.append(Server(runtime=runtime, client=await stack.enter_async_context(client)))
        yield Both(one=servers[0], other=servers[1], key_id=made.api_key.id)


@pytest.fixture
async def both(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Both]:
    """Two servers over an empty database."""
    monkeypatch.chdir(tmp_path)
    async with serving(database_url) as servers:
        yield servers


async def next_of(stream: Stream, kind: str) -> dict[str, object]:
    """The data of the next event of a kind."""
    while (event := await stream.take()) is not None:
        if event[0] == kind:
            return event[1]
    raise AssertionError(f"the stream ended without {kind}")


def write_agent(folder: Path, *, words_count: int) -> Mapping[str, object]:
    """An agent whose answers have so many words, of which each takes a twentieth of a second."""
    script = folder / "script.jsonl"
    script.write_text(json.dumps({"text": "berth " * words_count, "word_secs": 0.05}) + "\n", "utf-8")
    return {"guide": {"model": f"script:{script}", "context_limit": 8000}}


async def wait_until_told(url: str) -> None:
    """Wait until a server has told of a stop, read or not."""
    with psycopg.connect(url, autocommit=True) as connection:
        query = "SELECT FROM told WHERE convert_from(content, 'UTF8') LIKE '%\"stop\"%'"
        await wait_until(lambda: bool(connection.execute(query).fetchall()))


async def stop(server: Server, session_id: str) -> tuple[int, dict[str, object]]:
    """The status and the body of a stop of an answer at a server."""
    answer = await server.client.post(f"{CHAT}/stop", json={"session_id": session_id})
    return answer.status_code, answer.json()


async def test_a_stream_tells_what_another_server_does(both: Both) -> None:
    """A reader at one server is told of messages, compactions and changes of memory at the other, each once and in order."""
    async with streaming(both.other.client, "GET", "/api/stream") as stream:
        await stream.opened()
        session = await both.one.runtime.engine.session(user="default", limit=4000)
        for number in range(3):
            await session.append({"role": "user", "content": f"Berth {number}."})
        seen = [await next_of(stream, "messages_appended") for _ in range(3)]
        assert [(one["session_id"], one["last_seq"]) for one in seen] == [(session.id, seq) for seq in (1, 2, 3)]
        await session.append([{"role": "user", "content": "So it is. " * 200} for _ in range(12)])
        await session.compact(keep_recent=2)
        committed = await next_of(stream, "compaction_committed")
        assert committed["session_id"] == session.id
        memory = await both.one.runtime.engine.memory(user="default")
        await memory.add("Ada's locker is number 7.")
        assert (await next_of(stream, "memory_changed"))["parts"]


async def test_an_answer_is_stopped_at_any_server(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop that reaches another server stops the answer, whose text so far is stored; afterwards nothing runs."""
    monkeypatch.chdir(tmp_path)
    async with serving(database_url, {**INLINE, "agents": write_agent(tmp_path, words_count=8_000)}) as both:
        asked = {"user": "default", "message": "Which berth is free?"}
        async with streaming(both.one.client, "POST", CHAT, asked) as stream:
            session_id = (await stream.until("text_delta"))["session_id"]
            assert await stop(both.other, session_id) == (200, {"stopped": True})
            await stream.until("stopped")
            assert [name for name, _ in await stream.all()] == ["done"]
        assert await stop(both.other, session_id) == (200, {"stopped": False})
        shown = (await both.other.client.get(f"/api/sessions/{session_id}/messages")).json()
        assert shown["messages"][-1]["text"].endswith(INTERRUPTED_MARK)


async def test_a_late_stop_spares_a_later_answer(
    database_url: str, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop that arrives once its answer has ended, since a transaction held it up, stops no other answer."""
    monkeypatch.chdir(tmp_path)
    asked = {"user": "default", "message": "Which berth is free?"}
    async with serving(database_url, {**INLINE, "agents": write_agent(tmp_path, words_count=80)}) as both:
        with psycopg.connect(server_url) as open_one:
            async with streaming(both.one.client, "POST", CHAT, asked) as stream:
                session_id = (await stream.until("text_delta"))["session_id"]
                open_one.execute("SELECT pg_current_xact_id()")
                elsewhere = asyncio.create_task(stop(both.other, session_id))
                await wait_until_told(database_url)
                await stop(both.one, session_id)
                await stream.until("done")
            assert await elsewhere == (200, {"stopped": True})
            answering = streaming(both.one.client, "POST", CHAT, {**asked, "session_id": session_id})
            async with streaming(both.one.client, "GET", "/api/stream") as told, answering as stream:
                await told.opened()
                await stream.until("text_delta")
                other = await both.other.runtime.engine.session(user="default", limit=4000)
                await other.append({"role": "user", "content": "Berth 7."})
                open_one.rollback()
                while (await next_of(told, "messages_appended"))["session_id"] != other.id:
                    pass
                assert "stopped" not in [name for name, _ in await stream.all()]


async def test_stops_at_once_find_that_nothing_runs(both: Both) -> None:
    """However many stops come at the same moment, each tells that no answer runs, and none takes another for one."""
    session = await both.one.runtime.engine.session(user="default", agent="guide")
    await session.append({"role": "user", "content": "Which berth is free?"})
    servers = [both.one, both.other] * 4
    assert await asyncio.gather(*(stop(one, session.id) for one in servers)) == [(200, {"stopped": False})] * 8


async def test_a_stop_that_has_no_effect_is_refused(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a server answers that does not stop, as one of an older release, the stop is a conflict."""
    monkeypatch.setattr("everfold.server.stopping_answers.STOP_SECS", 0.5)
    session = await both.one.runtime.engine.session(user="default", agent="guide")
    await session.append({"role": "user", "content": "Which berth is free?"})
    name = LeaseName(user_id=session.record.user_id, work="answer", about=session.record.id)
    assert await both.one.runtime.engine.admin.leases.claim_lease(name, holder="ans_other", secs=60.0)
    status, problem = await stop(both.other, session.id)
    assert (status, problem["code"], session.id in str(problem["detail"])) == (409, "conflict", True)


async def test_what_is_written_at_one_is_shown_at_the_other(both: Both) -> None:
    """A session that goes on at either server is one session at both, with every message once."""
    made = (await both.one.client.post("/api/sessions", json={})).json()
    path = f"/api/sessions/{made['id']}/messages"
    for number in range(6):
        server = (both.one, both.other)[number % 2]
        answer = await server.client.post(path, json={"messages": [{"role": "user", "content": f"m{number}"}]})
        assert answer.is_success, answer.text
    shown = [(await server.client.get(path)).json() for server in (both.one, both.other)]
    assert shown[0] == shown[1]
    assert [one["seq"] for one in shown[0]["messages"]] == [1, 2, 3, 4, 5, 6]


async def test_a_change_of_an_agent_holds_at_every_server(both: Both, database_url: str, tmp_path: Path) -> None:
    """What is changed at one server is so at the other without a restart, at one that starts later, and in no file."""
    answer = await both.one.client.patch("/api/agents/guide/config", json={"instructions": "Answer in one word."})
    assert answer.is_success, answer.text

    def is_known() -> bool:
        return "Answer in one word." in str(both.other.runtime.settings.agents.get("guide"))

    await wait_until(is_known)
    shown = [(await server.client.get("/api/agents/guide")).json() for server in (both.one, both.other)]
    assert shown[0] == shown[1]
    answer = await both.other.client.patch("/api/agents/clerk/config", json={"instructions": "Be kind."})
    assert answer.is_success, answer.text
    async with open_runtime(database_url, settings=INLINE) as later:
        assert {"guide", "clerk"} <= set(later.settings.agents)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a look at a folder, in no hurry


async def test_changes_of_agents_at_once_are_all_made(both: Both) -> None:
    """Of changes that come to several servers at the same moment none is refused, and each holds."""
    names = [f"guide-{number}" for number in range(6)]
    servers = [both.one, both.other] * 3
    asked = {"instructions": "Be brief."}
    changing = (
        server.client.patch(f"/api/agents/{name}/config", json=asked)
        for server, name in zip(servers, names, strict=True)
    )
    assert {answer.status_code for answer in await asyncio.gather(*changing)} == {200}
    await wait_until(lambda: all(set(names) <= set(one.runtime.settings.agents) for one in (both.one, both.other)))


async def test_a_restart_of_the_database_costs_no_change_of_an_agent(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first change after the database was restarted is made, and made once."""
    monkeypatch.chdir(tmp_path)
    with cutting(database_url, tmp_path) as cutter:
        async with serving(cutter.url) as both:
            for version, text in enumerate(("Be brief.", "Be kind.", "Be exact."), 1):
                cutter.go_down(0.2)
                answer = await both.one.client.patch("/api/agents/guide/config", json={"instructions": text})
                assert answer.is_success, answer.text
                assert both.one.runtime.shared_version == version
            await wait_until(lambda: "Be exact." in str(both.other.runtime.settings.agents.get("guide")))


@pytest.mark.usefixtures("both")
async def test_settings_are_changed_over_the_version_that_was_read(database_url: str) -> None:
    """Of two changes over one version the second is refused, and the first one stays."""
    replicas = PostgresReplicas(database_url)
    try:
        await replicas.write_settings(b"{}", expected_version=0)
        for version in (0, 2):
            with pytest.raises(ConflictError):
                await replicas.write_settings(b"[]", expected_version=version)
        await replicas.write_settings(b'{"a": {}}', expected_version=1)
        assert await replicas.read_settings() == SharedSettings(version=2, content=b'{"a": {}}')
    finally:
        await replicas.close()


async def test_a_rate_holds_over_all_servers(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a key has asked at one server is missing at the other."""
    monkeypatch.chdir(tmp_path)
    async with serving(database_url, {**INLINE, "server": {"requests_per_minute": 60}}) as both:
        spent: list[tuple[ApiKeyId, int]] = []
        limiter = both.other.runtime.limiter
        assert limiter is not None
        spend = limiter.spend

        def note(key_id: ApiKeyId, count: int) -> None:
            spend(key_id, count)
            spent.append((key_id, count))

        monkeypatch.setattr(
            type(limiter), "spend", lambda self, key_id, count: note(key_id, count) if self is limiter else None
        )
        while (await both.one.client.get("/api/me")).status_code == 200:
            pass
        await wait_until(lambda: sum(count for _, count in spent) >= 10)
        assert {key_id for key_id, _ in spent} == {both.key_id}
        assert (await both.other.client.get("/api/me")).status_code == 429


@pytest.mark.usefixtures("both")
async def test_what_was_told_arrives_once_and_in_order_over_open_transactions(database_url: str) -> None:
    """A transaction that ends late holds up what was told behind it, and nothing of either is lost."""
    teller, late, reader = [PostgresReplicas(database_url) for _ in range(3)]
    try:
        assert await reader.hear(wait_secs=0) == []
        with psycopg.connect(database_url) as connection:
            connection.execute("INSERT INTO told (told_by, content) VALUES ('late', 'late')")
            await teller.tell([b"1", b"2"])
            heard = await reader.hear(wait_secs=0)
            assert b"1" not in heard
            connection.commit()
        await late.tell([b"3"])
        heard = []
        while b"3" not in heard:
            heard += await reader.hear(wait_secs=1)
        assert [one for one in heard if one in {b"late", b"1", b"2", b"3"}] == [b"late", b"1", b"2", b"3"]
        assert await teller.hear(wait_secs=0) == []
    finally:
        for replicas in (teller, late, reader):
            await replicas.close()


@pytest.mark.usefixtures("both")
async def test_a_reader_that_waits_is_let_go_at_the_end(database_url: str) -> None:
    """Closing ends a call that waits for what the others tell: a server stops without waiting for them."""
    replicas = PostgresReplicas(database_url)
    assert await replicas.hear(wait_secs=0) == []
    hearing = asyncio.create_task(replicas.hear(wait_secs=3_600))
    await asyncio.sleep(0)  # it waits now, or is about to
    await replicas.close()
    assert await hearing == []


async def test_a_reader_that_closing_overtakes_hears_nothing(database_url: str) -> None:
    """A call whose thread was busy until all was closed ends as one that waited."""
    replicas = PostgresReplicas(database_url)
    begun, may_end = threading.Event(), threading.Event()
    busy = asyncio.create_task(replicas._reading.call(lambda _: (begun.set(), may_end.wait())))
    await asyncio.to_thread(begun.wait)
    hearing = asyncio.create_task(replicas.hear(wait_secs=3_600))
    await asyncio.sleep(0)
    closing = asyncio.create_task(replicas.close())
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(busy, closing)
    assert await hearing == []


async def test_a_change_of_which_no_word_came_is_taken_all_the_same(both: Both, database_url: str) -> None:
    """What was written without a word to anybody holds at a server soon after."""
    replicas = PostgresReplicas(database_url)
    try:
        await replicas.write_settings(b'{"guide": {"instructions": "Be brief."}}', expected_version=0)
    finally:
        await replicas.close()
    await wait_until(lambda: "guide" in both.other.runtime.settings.agents)
    assert both.other.runtime.settings.agents["guide"].instructions == "Be brief."


@pytest.mark.parametrize("broken", [b"[broken", "# f\u00fcr alle".encode("latin-1")])
async def test_a_server_whose_file_is_broken_hears_on(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: bytes
) -> None:
    """A settings file that cannot be read is told of once; events are heard, and the settings taken once it can be read."""
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "other.toml"
    config.write_text("", "utf-8")
    async with (
        open_runtime(database_url, settings=INLINE) as one,
        open_runtime(database_url, settings=INLINE, config=config) as other,
    ):
        told = other.engine.events(changes=True)
        config.write_bytes(broken)
        await one.change_agent("guide", {"instructions": "Be brief."})
        async with asyncio.timeout(PATIENCE_SECS):
            while not isinstance(event := await anext(told), WorkFailed):
                pass
            assert (event.name, event.reason) == ("shared settings", "invalid_input")
            session = await one.engine.session(user="default")
            await session.append({"role": "user", "content": "Berth 7."})
            while not isinstance(event := await anext(told), MessagesAppended):
                assert not isinstance(event, WorkFailed)
            config.write_text("", "utf-8")
            await wait_until(lambda: "Be brief." in str(other.settings.agents.get("guide")))


async def test_a_server_begins_with_a_file_that_a_shared_change_does_not_fit(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes by its file and says which agents were changed at a server; the change is undone at any server, and then holds."""
    config = tmp_path / "everfold.toml"
    config.write_text("", "utf-8")
    async with open_runtime(database_url, settings=INLINE, config=config) as before:
        await before.change_agent("guide", {"compaction": {"trigger_ratio": 0.7}})
    config.write_text("[compaction]\ntarget_ratio = 0.75\ntrigger_ratio = 0.9\n", "utf-8")
    async with open_runtime(database_url, settings=INLINE, config=config) as runtime:
        assert "guide" not in runtime.settings.agents
        assert "guide: what was changed of these agents at a server" in caplog.text
        await runtime.change_agent("guide", {"compaction": None, "instructions": "Be brief."})
        assert runtime.settings.agents["guide"].instructions == "Be brief."


async def test_what_could_not_be_read_is_not_forgotten(
    both: Both, database_url: str, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a transaction elsewhere on the server holds back is heard after its end, whole, however long that takes."""
    del both
    monkeypatch.setattr(telling, "KEPT_SECS", 0.0)
    monkeypatch.setattr(telling, "FORGET_SECS", 0.0)
    teller, reader = PostgresReplicas(database_url), PostgresReplicas(database_url)
    try:
        await reader.hear(wait_secs=0)
        with psycopg.connect(server_url) as open_one:
            open_one.execute("SELECT pg_current_xact_id()")
            for number in range(5):
                await teller.tell([str(number).encode()])
            assert await reader.hear(wait_secs=0.1) == []
        async with asyncio.timeout(PATIENCE_SECS):
            heard: list[bytes] = []
            while len(heard) < 5:
                heard += await reader.hear(wait_secs=1)
        assert heard == [str(number).encode() for number in range(5)]
    finally:
        await teller.close()
        await reader.close()
