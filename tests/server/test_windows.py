"""Windows over HTTP: what is shown is what the library renders, and a preview writes nothing."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from bench.material.logs import coding_log
from tests.server.conftest import INLINE, Served

from everfold import Session
from everfold.core.windows.rendering import Provider
from everfold.server.app import make_app
from everfold.server.opening import open_runtime
from everfold.testing.kit.builders import assistant, calls, talk, user
from everfold.testing.kit.fakes import FakeSource

pytestmark = pytest.mark.anyio

Body = dict[str, Any]


@pytest.fixture
async def session(served: Served) -> Session:
    """A session whose past was folded, with tool calls in it."""
    opened = await served.runtime.engine.session(limit=5000, system="You help.", tools=[{"name": "look_up"}])
    for entry in list(coding_log(3, turns_count=3)):
        await opened.append(entry.wire)
        await opened.window()
    assert (await opened.inspect.state()).compactions_count > 0
    return opened


async def look(client: httpx2.AsyncClient, session: Session, method: str = "GET", **asked: object) -> Body:
    """A window over HTTP."""
    url = f"/api/sessions/{session.id}/window"
    sent = {"params": asked} if method == "GET" else {"json": asked}
    answer = await client.request(method, url, **sent)  # type: ignore[arg-type]  # one of the two
    assert answer.status_code == 200, answer.text
    body: Body = answer.json()
    return body


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_preview_is_what_the_library_renders(
    admin: httpx2.AsyncClient, session: Session, provider: Provider
) -> None:
    """The request of a preview is byte for byte that of the library, and nothing is written for it."""
    before = await session.inspect.state()
    shown = await look(admin, session, provider=provider, suffix="It is Monday.")
    window = await session.window(preview=True, suffix="It is Monday.")
    assert json.dumps(shown["request"]) == json.dumps(window.render(provider))
    assert await session.inspect.state() == before
    assert shown["report"]["tokens"] == window.report.tokens


async def test_a_window_for_real_is_what_the_library_renders(admin: httpx2.AsyncClient, session: Session) -> None:
    """A window that is taken over HTTP is that of the library, and what it reports of breaks is reported once."""
    expected = (await session.window(preview=True)).render("anthropic")
    shown = await look(admin, session, "POST", provider="anthropic")
    assert json.dumps(shown["request"]) == json.dumps(expected)


async def test_a_window_for_real_compacts_what_is_due(served: Served, admin: httpx2.AsyncClient) -> None:
    """Over the trigger a preview shows what a window would fold without folding it; the window for real folds it."""
    session = await served.runtime.engine.session(limit=4000)
    await session.append(talk(40))
    preview = await look(admin, session)
    assert (await session.inspect.state()).compactions_count == 0
    for_real = await look(admin, session, "POST")
    assert (await session.inspect.state()).compactions_count > 0
    assert preview["request"] == for_real["request"]
    assert for_real["report"]["cache_breaks"]
    assert (await look(admin, session, "POST"))["report"]["cache_breaks"] == []


async def test_parts_come_to_what_the_report_says(admin: httpx2.AsyncClient, session: Session) -> None:
    """The parts cost what the window costs, in the order of the request, each message and digest once."""
    shown = await look(admin, session, suffix="It is Monday.")
    report, parts = shown["report"], shown["parts"]
    assert sum(part["tokens"] for part in parts) == report["tokens"] == sum(one["tokens"] for one in report["slices"])
    assert parts[-1] == {**parts[-1], "kind": "suffix", "text": "It is Monday.", "is_cached": False}
    texts = json.dumps(shown["request"], ensure_ascii=False)
    digests = [part for part in parts if part["kind"] == "digest"]
    assert len(digests) == report["digest_count"]
    for part in digests:
        assert part["compaction_id"].startswith("evt_")
        assert json.dumps(part["text"], ensure_ascii=False)[1:-1] in texts
    seqs = [part["first_seq"] for part in parts if part["kind"] != "digest" and part["first_seq"]]
    assert len(seqs) == len(set(seqs)) == report["message_count"]


async def test_what_was_sent_before_is_cached(served: Served, admin: httpx2.AsyncClient) -> None:
    """What came before the newest answer was in its request and is cached; what is new, and everything after a break, not."""
    session = await served.runtime.engine.session(limit=16_000, system="You help.")
    await session.append(user("Hello"))
    assert not any(part["is_cached"] for part in (await look(admin, session))["parts"])
    await session.append([assistant("Hi"), user("And now?")])
    parts = (await look(admin, session))["parts"]
    assert [part["is_cached"] for part in parts] == [True, True, False, False]
    await session.append(calls("call_1"))
    parts = (await look(admin, session))["parts"]
    assert [part["is_cached"] for part in parts] == [True] * 4
    await served.runtime.engine.session(system="You help much.")
    assert not any(part["is_cached"] for part in (await look(admin, session))["parts"])


async def test_a_limit_is_only_lowered(admin: httpx2.AsyncClient, session: Session) -> None:
    """A lower limit shows a smaller window; a higher one, and one that nothing fits, are refused with what would do."""
    smaller = await look(admin, session, limit=5000)
    assert smaller["report"]["limit_tokens"] == 5000
    url = f"/api/sessions/{session.id}/window"
    for limit, code in ((9000, "invalid_input"), (300, "budget_unsatisfiable")):
        for answer in (
            await admin.get(url, params={"limit": limit}),
            await admin.post(url, json={"limit": limit}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert (await admin.get(url, params={"provider": "nobody"})).status_code == 422
    assert (await admin.get(url, params={"limit": 0})).status_code == 422


async def test_the_report_is_that_of_the_window_as_it_stands(admin: httpx2.AsyncClient, session: Session) -> None:
    """The context report has the slices of the preview, with their bounds, where nothing is due."""
    report = (await admin.get(f"/api/sessions/{session.id}/report")).json()
    assert report == (await look(admin, session))["report"]
    bounds = {one["name"]: one["limit_tokens"] for one in report["slices"]}
    budget = session.inspect.budget()
    assert (bounds["tail"], bounds["digest"], bounds["fixed"]) == (None, budget.digest_tokens, None)


async def test_a_dry_run_writes_nothing_and_says_what_would_be_done(served: Served, admin: httpx2.AsyncClient) -> None:
    """A dry run of a compaction leaves the session as it was; the same for real does what it said."""
    session = await served.runtime.engine.session(limit=8000)
    await session.append(talk(12))
    url = f"/api/sessions/{session.id}/compact"
    before = await session.inspect.state()
    [would] = (await admin.post(url, json={"keep_recent": 4, "dry_run": True, "focus": "berths"})).json()["folds"]
    assert await session.inspect.state() == before
    assert await session.inspect.compactions() == []
    [done] = (await admin.post(url, json={"keep_recent": 4, "focus": "berths"})).json()["folds"]
    assert would["report"] == done["report"]
    assert [one["text"] for one in would["digests"]] == [one["text"] for one in done["digests"]]
    [event] = await session.inspect.compactions()
    assert (done["compaction_id"], event.plan.focus, event.plan.trigger) == (event.id, "berths", "manual")
    assert (await admin.post(url, json={"keep_recent": 0})).status_code == 422
    assert (await admin.post(url, json={"keep_recent": 400})).json() == {"folds": []}


@pytest.fixture
async def with_source(tmp_path: Path) -> AsyncIterator[Served]:
    """A server whose engine may ask one context source."""
    url = f"sqlite:///{tmp_path}/desk.db"
    async with open_runtime(url, settings=INLINE, sources=[FakeSource(text="A ship came in.")]) as runtime:
        yield Served(app=make_app(runtime), runtime=runtime)


async def test_a_refresh_says_what_each_source_said(with_source: Served) -> None:
    """A refresh over HTTP stores what a source said and tells of each that was asked."""
    session = await with_source.runtime.engine.session(limit=16_000)
    await session.append(user("Hello"))
    async with with_source.client(await with_source.key("admin")) as client:
        told = (await client.post(f"/api/sessions/{session.id}/refresh")).json()
        assert told["skipped"] is None
        assert [(one["source"], one["outcome"]) for one in told["sources"]] == [("call://desk", "answered")]
        message = (await client.get(f"/api/sessions/{session.id}/messages/{told['seq']}")).json()
        assert (message["source"], message["authority"]) == ("refresh", 0)
        assert "A ship came in." in message["text"]


async def test_without_a_source_there_is_nothing_to_refresh(admin: httpx2.AsyncClient, session: Session) -> None:
    """Where no source is allowed a refresh is refused and says what to set."""
    refused = await admin.post(f"/api/sessions/{session.id}/refresh")
    assert refused.status_code == 422
    assert "context_sources" in refused.json()["detail"]


async def test_half_a_character_is_shown(served: Served, admin: httpx2.AsyncClient) -> None:
    """A message with half of a character makes no answer fail; the request holds what a provider takes."""
    session = await served.runtime.engine.session(limit=16_000)
    await session.append({"role": "user", "content": "half \ud83d of it"})
    answer = await admin.get(f"/api/sessions/{session.id}/window")
    shown = json.loads(answer.text)
    assert shown["parts"][-1]["text"] == "half \ud83d of it"
    assert shown["request"]["messages"][0]["content"][0]["text"] == "half \ufffd of it"
