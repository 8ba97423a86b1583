"""Compactions over HTTP: events with what is stored of them, and the log as strips."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from bench.material.demo import demo_log
from tests.server.conftest import INLINE, Served, Settings, serve

from everfold import Session
from everfold.testing.kit.builders import talk

pytestmark = pytest.mark.anyio

Body = dict[str, Any]
PATIENCE_SECS = 120.0
BESIDE: Body = {"synchronous": False, "row_window": 20, "row_headroom": 4, "rows_per_digest": 60}
"""Beside the turns, as soon as there are a few messages, and of so many that a model's text has room."""


@pytest.fixture
async def session(served: Served) -> Session:
    """A session that was compacted several times, so that old ranges were rolled up."""
    opened = await served.runtime.engine.session(limit=6000)
    await opened.append({"role": "system", "content": "You help a potter."})
    for entry in demo_log().entries[:200]:
        await opened.append(entry.wire, said_at=entry.said_at)
        await opened.window()
    assert (await opened.inspect.state()).compactions_count > 3
    return opened


async def get(client: httpx2.AsyncClient, session_id: str, path: str, **asked: str | int) -> Body:
    """What is said of a session."""
    answer = await client.get(f"/api/sessions/{session_id}/{path}", params=asked)
    assert answer.status_code == 200, answer.text
    body: Body = answer.json()
    return body


async def test_events_are_those_of_the_library(admin: httpx2.AsyncClient, session: Session) -> None:
    """Ids, ranges and figures are what the session's events say, in their order."""
    listed = (await get(admin, session.id, "compactions"))["compactions"]
    compactions = await session.inspect.compactions()
    assert [one["id"] for one in listed] == [compaction.id for compaction in compactions]
    for one, compaction in zip(listed, compactions, strict=True):
        assert compaction.report is not None
        assert (one["first_seq"], one["last_seq"]) == (compaction.plan.first_seq, compaction.plan.last_seq)
        assert (one["tokens_before"], one["tokens_after"]) == (
            compaction.report.tokens_before,
            compaction.report.tokens_after,
        )
        assert one["cache_breaks"] == [
            {"reason": f"compaction: {compaction.report.trigger}", "resent_tokens": compaction.report.resent_tokens}
        ]
        assert (one["digest_kind"], one["cost_usd"]) == ("extractive", None)


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_events_are_listed_page_by_page_from_either_end(
    admin: httpx2.AsyncClient, session: Session, limit: int
) -> None:
    """Pages give every event once, oldest or newest first."""
    ids = [compaction.id for compaction in await session.inspect.compactions()]
    for order, expected in (("oldest", ids), ("newest", ids[::-1])):
        listed: list[str] = []
        asked: Body = {"limit": limit, "order": order}
        while True:
            page = await get(admin, session.id, "compactions", **asked)
            assert len(page["compactions"]) <= limit
            listed += [one["id"] for one in page["compactions"]]
            if page["next_cursor"] is None:
                break
            asked["cursor"] = page["next_cursor"]
        assert listed == expected


async def test_an_event_tells_its_digest_and_certificate(admin: httpx2.AsyncClient, session: Session) -> None:
    """The certificate names each message of the range once, and the digest reads those that were folded."""
    for compaction in await session.inspect.compactions():
        body = await get(admin, session.id, f"compactions/{compaction.id}")
        certificate = body["certificate"]
        seqs = [one["seq"] for one in certificate["covered"]]
        assert seqs == list(range(body["first_seq"], body["last_seq"] + 1))
        folded = [one["seq"] for one in certificate["covered"] if one["group"] == "folded"]
        fine = next(one for one in body["digests"] if one["kind"] == "digest")
        assert (fine["read_seqs"], fine["text"]) == (folded, body["digest"])
        assert body["provisional_digest"] is None
        assert body["report"]["folded_count"] == len(folded) == body["folded_count"]
        assert body["calls"] == []


async def test_the_digests_of_now_are_those_of_the_window(admin: httpx2.AsyncClient, session: Session) -> None:
    """The digests that are shown are told in their order, word for word as the window has them."""
    digests = (await get(admin, session.id, "digests"))["digests"]
    parts = (await get(admin, session.id, "window"))["parts"]
    assert [one["text"] for one in digests] == [part["text"] for part in parts if part["kind"] == "digest"]
    assert digests[0]["kind"] == "rollup"
    assert (await get(admin, session.id, "note")) == {"note": ""}


async def test_a_foreign_event_is_as_unknown(served: Served, admin: httpx2.AsyncClient, session: Session) -> None:
    """An event of another session is not found under this one, whatever is asked of it, and nothing is changed."""
    other = await served.runtime.engine.session(agent="clerk", limit=4000)
    await other.append(talk(8))
    await other.compact(keep_recent=2)
    [compaction] = await other.inspect.compactions()
    for method, path in (
        ("GET", f"compactions/{compaction.id}"),
        ("POST", f"compactions/{compaction.id}/retry"),
        ("POST", f"compactions/{compaction.id}/cancel"),
        ("GET", f"strips?compaction={compaction.id}"),
        ("GET", f"compactions?cursor={compaction.id}"),
    ):
        foreign = await admin.request(method, f"/api/sessions/{session.id}/{path}")
        unknown = await admin.request(method, f"/api/sessions/{session.id}/{path.replace(compaction.id, 'evt_nobody')}")
        assert (foreign.status_code, unknown.status_code) == (404, 404)
        assert foreign.json()["detail"].replace(compaction.id, "evt_nobody") == unknown.json()["detail"]
    assert await other.inspect.compactions() == [compaction]


async def test_a_branch_has_the_events_that_it_inherited(admin: httpx2.AsyncClient, session: Session) -> None:
    """What was compacted before a branch is the branch's too, and what came later is not."""
    compactions = await session.inspect.compactions()
    branch = await session.branch(compactions[1].plan.last_seq)
    listed = (await get(admin, branch.id, "compactions"))["compactions"]
    assert [one["id"] for one in listed] == [compactions[0].id, compactions[1].id]
    assert (await get(admin, branch.id, f"compactions/{compactions[0].id}"))["session_id"] == session.id
    assert (await admin.get(f"/api/sessions/{branch.id}/compactions/{compactions[2].id}")).status_code == 404
    strips = (await get(admin, branch.id, "strips"))["strips"]
    assert [one["compaction_id"] for one in strips] == [compactions[0].id, compactions[1].id, None]


async def test_strips_are_those_of_the_trace(admin: httpx2.AsyncClient, session: Session) -> None:
    """Each strip is what the trace of the whole session says, and comes to as many messages as there were."""
    trace = await session.inspect.trace()
    body = await get(admin, session.id, "strips", limit=1000)
    expected: list[object] = [[list(run) for run in traced.after.runs] for traced in trace.compactions]
    expected.append([list(run) for run in trace.now.runs])
    assert [one["runs"] for one in body["strips"]] == expected
    for one in body["strips"]:
        assert sum(count for _, count in one["runs"]) == one["last_seq"]
    assert body["last_seq"] == body["strips"][-1]["last_seq"] == (await session.inspect.state()).last_seq
    newest = (await get(admin, session.id, "strips", limit=2))["strips"]
    assert newest == body["strips"][-3:]
    [alone] = (await get(admin, session.id, "strips", compaction=body["strips"][1]["compaction_id"]))["strips"]
    assert alone == body["strips"][1]


async def test_strips_of_an_empty_log_are_empty(admin: httpx2.AsyncClient) -> None:
    """A session without a message has one strip without a run."""
    made = (await admin.post("/api/sessions", json={})).json()
    body = await get(admin, made["id"], "strips")
    assert [(one["compaction_id"], one["runs"]) for one in body["strips"]] == [(None, [])]


@asynccontextmanager
async def with_model(tmp_path: Path, *steps: Body, **compaction: object) -> AsyncIterator[tuple[Served, Session]]:
    """A server whose digests are written by a script, and a session with something to fold."""
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
    settings: Settings = {
        "compaction": {**INLINE["compaction"], **compaction},
        "model": {"name": f"script:{script}"},
        "server": {"drain_secs": 0},
    }
    async with serve(tmp_path / "model.db", settings) as served:
        session = await served.runtime.engine.session(limit=32_000)
        await session.append(talk(40))
        yield served, session


async def test_a_models_digest_tells_its_calls_and_its_cost(tmp_path: Path) -> None:
    """The event of a digest that a model wrote has its text, its calls, and the sum of what they cost."""
    async with (
        with_model(tmp_path, {"digest": "echo", "cost_usd": 0.25}) as (served, session),
        served.client(await served.key("admin")) as client,
    ):
        await client.post(f"/api/sessions/{session.id}/compact", json={"keep_recent": 4})
        [listed] = (await get(client, session.id, "compactions"))["compactions"]
        body = await get(client, session.id, f"compactions/{listed['id']}")
        assert (listed["state"], listed["digest_kind"]) == ("done", "abstractive")
        assert listed["cost_usd"] == body["cost_usd"] == 0.25 * len(body["calls"]) > 0
        assert {(call["purpose"], call["outcome"]) for call in body["calls"]} == {("digest", "complete")}
        calls = (await get(client, session.id, "calls"))["calls"]
        assert calls == body["calls"]
        first = await get(client, session.id, "calls", limit=1)
        assert first["calls"] == calls[:1]


async def test_a_degraded_event_is_retried(tmp_path: Path) -> None:
    """After a person's retry the model's digest stands, and the provisional one is told beside it."""
    async with (
        with_model(tmp_path, {"fault": "refusal", "times": 3}, {"digest": "echo"}) as (served, session),
        served.client(await served.key("admin")) as client,
    ):
        await client.post(f"/api/sessions/{session.id}/compact", json={"keep_recent": 4})
        [degraded] = (await get(client, session.id, "compactions"))["compactions"]
        assert (degraded["state"], degraded["digest_kind"]) == ("degraded", "extractive")
        assert "refusal" in degraded["error"]
        before = await get(client, session.id, f"compactions/{degraded['id']}")
        url = f"/api/sessions/{session.id}/compactions/{degraded['id']}"
        retried = await client.post(f"{url}/retry")
        assert (retried.status_code, retried.json()["state"]) == (200, "done")
        body = await get(client, session.id, f"compactions/{degraded['id']}")
        assert body["provisional_digest"] == before["digest"] != body["digest"]
        assert {one["maker"] for one in body["digests"]} == {"extractive", "abstractive"}
        assert (await client.post(f"{url}/retry")).status_code == 409
        revision = (await get(client, session.id, "compactions"))["compactions"][-1]
        assert (revision["revises"], revision["trigger"]) == (degraded["id"], "late_digest")


async def list_held(client: httpx2.AsyncClient, session_id: str) -> list[str]:
    """The events of a session that wait for a model, once there are any and no more are begun."""
    known: list[str] = []
    while True:
        compactions = (await get(client, session_id, "compactions"))["compactions"]
        held = [str(one["id"]) for one in compactions if one["state"] in {"pending", "running"}]
        if held and held == known:
            return held
        known = held
        await anyio.sleep(0.1)


async def test_a_held_event_is_cancelled(tmp_path: Path) -> None:
    """What is held can be given up, with what follows it; nothing has left the window, and once is enough."""
    slow = {"digest": "echo", "secs": 60.0, "times": 99}
    async with (
        with_model(tmp_path, slow, **BESIDE) as (served, session),
        served.client(await served.key("admin")) as client,
    ):
        await client.post(f"/api/sessions/{session.id}/window", json={})
        with anyio.fail_after(PATIENCE_SECS):
            held = await list_held(client, session.id)
        before = (await get(client, session.id, "window"))["report"]
        url = f"/api/sessions/{session.id}/compactions/{held[0]}/cancel"
        cancelled = await client.post(url)
        assert cancelled.status_code == 200, cancelled.text
        assert cancelled.json()["cancelled"] == held[::-1]
        compactions = (await get(client, session.id, "compactions"))["compactions"]
        assert {one["state"] for one in compactions if one["id"] in held} == {"cancelled"}
        assert (await client.post(url)).status_code == 409
        after = (await get(client, session.id, "window"))["report"]
        assert [after[name] for name in ("compacted_through", "message_count")] == [
            before[name] for name in ("compacted_through", "message_count")
        ]
