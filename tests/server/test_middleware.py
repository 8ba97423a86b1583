"""What holds for every request before a route sees it: ids, headers, the cookie, and what a monitor reads."""

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.server.conftest import Served, serve
from tests.server.memory_rows import STRUCTURED

from everfold.adapters.system.otel import OtelTracer
from everfold.server.app import make_app
from everfold.server.middleware import COOKIE
from everfold.testing.kit.builders import assistant, talk, user

pytestmark = pytest.mark.anyio

HERE = "http://everfold.test"
ELSEWHERE = "https://evil.example"


@pytest.fixture
async def browser(served: Served) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that was signed in with a key of the scope admin."""
    async with served.client(None) as client:
        answer = await client.post("/api/login", json={"api_key": await served.key("admin", name="browser")})
        assert answer.status_code == 200
        yield client


async def test_a_browser_is_signed_in_and_out(browser: httpx2.AsyncClient) -> None:
    """The cookie opens the API until the browser signs out; a wrong key opens nothing and sets none."""
    assert (await browser.get("/api/me")).json()["api_key"]["name"] == "browser"
    await browser.post("/api/logout", headers={"Origin": HERE})
    assert (await browser.get("/api/me")).status_code == 401
    wrong = await browser.post("/api/login", json={"api_key": "ef_wrong"})
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": HERE}, 201),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": HERE, "Sec-Fetch-Site": "same-origin"}, 201),
        ({}, 403),
        ({"Origin": ELSEWHERE}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": ELSEWHERE, "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Origin": "http://[x"}, 403),
    ],
)
async def test_a_write_with_the_cookie_must_come_from_the_dashboard(
    browser: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    """No other site, and no request that does not say where it is from, writes with a browser's cookie."""
    answer = await browser.post("/api/users", json={"name": "Ada"}, headers=headers)
    assert answer.status_code == status
    assert len((await browser.get("/api/users")).json()["users"]) == (2 if status == 201 else 1)


@pytest.mark.parametrize("is_valid", [True, False])
async def test_another_site_signs_no_browser_in_or_out(
    served: Served,
    browser: httpx2.AsyncClient,
    is_valid: bool,  # noqa: FBT001 - of a table
) -> None:
    """Signing in and out needs no valid cookie, and is refused to a request with one that another site sent."""
    secret = await served.key("admin", name="other")
    if not is_valid:
        browser.cookies.clear()
        browser.cookies.set(COOKIE, "ef_old", domain="everfold.test")
    for headers in ({"Origin": ELSEWHERE}, {"Sec-Fetch-Site": "cross-site"}):
        out = await browser.post("/api/logout", headers=headers)
        back = await browser.post("/api/login", json={"api_key": secret}, headers=headers)
        assert [(one.status_code, "set-cookie" in one.headers) for one in (out, back)] == [(403, False)] * 2
    back = await browser.post("/api/login", json={"api_key": secret}, headers={"Origin": HERE})
    assert (back.status_code, "set-cookie" in back.headers) == (200, True)


@pytest.mark.parametrize("secret", ["", "ef_old"])
async def test_a_script_with_a_cookie_signs_in_and_out(
    served: Served, browser: httpx2.AsyncClient, secret: str
) -> None:
    """A client that keeps cookies and is no browser, so that it never says where it is from, signs in again and out."""
    if secret:
        browser.cookies.clear()
        browser.cookies.set(COOKIE, secret, domain="everfold.test")
    again = await browser.post("/api/login", json={"api_key": await served.key("admin", name="other")})
    assert (again.status_code, (await browser.get("/api/me")).status_code) == (200, 200)
    out = await browser.post("/api/logout")
    assert (out.status_code, (await browser.get("/api/me")).status_code) == (204, 401)


async def test_a_form_of_another_site_is_no_request(browser: httpx2.AsyncClient) -> None:
    """What a form can send without asking first, text or form data, is refused for its type."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        headers = {"Content-Type": kind, "Origin": HERE}
        assert (await browser.post("/api/users", content=b'{"name": "Ada"}', headers=headers)).status_code == 415
    assert len((await browser.get("/api/users")).json()["users"]) == 1


async def test_every_answer_is_named_and_safe(served: Served) -> None:
    """Answers of every kind carry an id, the policy that lets nothing in from elsewhere, and are kept by no cache."""
    async with served.client(await served.key("admin")) as client:
        for path in ("/api/me", "/api/users/nonsense", "/api/nowhere", "/"):
            answer = await client.get(path)
            assert answer.headers["x-request-id"].startswith("req_")
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert path == "/" or answer.headers["cache-control"] == "no-store"
        named = await client.get("/api/me", headers={"X-Request-Id": "mine-1"})
        assert named.headers["x-request-id"] == "mine-1"
        forged = await client.get("/api/me", headers={"X-Request-Id": "a b\tc"})
        assert forged.headers["x-request-id"].startswith("req_")


async def test_a_monitor_reads_what_happened(served: Served) -> None:
    """The figures count requests by their route, compactions, and what waits; a key that only reads may scrape them."""
    session = await served.runtime.engine.session(limit=3000)
    await session.append(talk(60))
    await session.window()
    async with served.client(await served.key("admin", read_only=True)) as client:
        await client.get("/api/users/default")
        text = (await client.get("/metrics")).text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(lines['everfold_http_requests_total{method="GET",route="/api/users/{user}",status="200"}']) == 1
    assert float(lines["everfold_oldest_pending_compaction_seconds"]) == 0
    assert float(lines['everfold_open_compactions{state="pending"}']) == 0
    assert float(lines["everfold_sessions"]) == 1
    assert any(line.startswith("everfold_compactions_total{") for line in lines)
    assert float(lines["everfold_saved_tokens_total"]) > 0


async def test_a_monitor_reads_what_memory_did(tmp_path: Path) -> None:
    """The figures count extractions, what they found, and dreams by how they ended."""
    async with serve(tmp_path / "served.db", STRUCTURED) as served:
        session = await served.runtime.engine.session()
        await session.append([user("Remember: the key is under the mat."), assistant("I see.")])
        await (await served.runtime.engine.memory()).dream()
        async with served.client(await served.key("admin")) as client:
            text = (await client.get("/metrics")).text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(lines['everfold_extractions_total{written_by="heuristic"}']) == 1
    assert float(lines['everfold_extracted_items_total{written_by="heuristic"}']) == 1
    assert float(lines['everfold_dreams_total{generator="deterministic",state="applied"}']) == 1


async def test_each_request_is_a_span(served: Served) -> None:
    """A request's span has its method, the route's pattern and the status, and what the engine did is inside it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    served.runtime.tracer = OtelTracer(provider)
    app = make_app(served.runtime)
    traced = Served(app=app, runtime=served.runtime)
    async with traced.client(await served.key("admin")) as client:
        await client.get("/api/users/default")
    [span] = exporter.get_finished_spans()
    assert span.name == "everfold.request"
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/api/users/{user}",
        "http.response.status_code": 200,
    }


async def test_a_write_that_was_cut_off_is_not_repeated_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far a cancelled write came is not known: its key stays taken, and the same request is told so."""
    code = "import asyncio\nasked = asyncio.Event()\nasync def ask(*_, **__):\n    asked.set()\n    await asyncio.sleep(60)\n"
    (tmp_path / "endless_source.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    settings = {"sources": {"endless": {"kind": "callable", "function": "endless_source:ask"}}}
    async with serve(tmp_path / "a.db", settings) as served, served.client(await served.key("admin")) as client:
        headers = {"Idempotency-Key": "once"}
        first = asyncio.ensure_future(client.post("/api/sources/endless/test", headers=headers))
        await import_module("endless_source").asked.wait()
        first.cancel()
        assert (await first).status_code == 503
        again = await client.post("/api/sources/endless/test", headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


async def test_the_last_admin_key_is_not_revoked(served: Served, admin: httpx2.AsyncClient) -> None:
    """No revocation locks all users out: the last key that may do everything is kept until there is another one."""
    [own] = (await admin.get("/api/api-keys")).json()["api_keys"]
    refused = await admin.delete(f"/api/api-keys/{own['id']}")
    assert (refused.status_code, refused.json()["code"], refused.json()["ids"]) == (
        409,
        "conflict",
        {"api_key": own["id"]},
    )
    assert "api-keys add" in refused.json()["detail"]
    weak = await admin.post("/api/api-keys", json={"name": "weak", "scope": "admin", "read_only": True})
    assert weak.status_code == 201
    assert (await admin.delete(f"/api/api-keys/{own['id']}")).status_code == 409
    made = (await admin.post("/api/api-keys", json={"name": "another", "scope": "admin"})).json()
    assert (await admin.delete(f"/api/api-keys/{own['id']}")).status_code == 200
    assert (await admin.get("/api/api-keys")).status_code == 401
    async with served.client(made["secret"]) as other:
        assert (await other.get("/api/api-keys")).status_code == 200
