"""An endpoint on a real HTTP server: text and JSON come out as lines, and nothing unbounded or secret gets through."""

import gzip
import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from everfold.adapters.sources.building import build_source
from everfold.errors import SourceError, SourceUnavailableError
from everfold.ports.sources import ContextSource

from .conftest import Certificate

pytestmark = pytest.mark.anyio

FROM, TO = datetime(2026, 11, 21, 20, tzinfo=UTC), datetime(2026, 11, 22, 8, tzinfo=UTC)


@dataclass
class Site:
    """What a server answers by path, and what it was asked."""

    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    drips: bool = False
    closing: Event = field(default_factory=Event)
    url: str = ""

    def put(self, path: str, body: str | bytes, kind: str = "text/plain", status: int = 200, **headers: str) -> str:
        """Answer a path so; gives its address."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body.encode() if isinstance(body, str) else body
        self.answers[path] = (status, {"Content-Type": kind, **named}, content)
        return self.url + path


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, site: Site, *given: object) -> None:
        self.site = site
        super().__init__(*given)  # type: ignore[arg-type]  # as the server gives them

    def do_GET(self) -> None:
        self.site.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        status, headers, body = self.site.answers.get(urlsplit(self.path).path, (404, {}, b"not here"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.site.drips:
            while not self.site.closing.wait(0.05):
                self.wfile.write(b".")
        self.wfile.write(body)

    def log_message(self, *_given: object) -> None:
        """Say nothing."""


@contextmanager
def _serve(certificate: Certificate | None = None) -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site))
    server.handle_error = lambda *_: None  # type: ignore[method-assign,assignment]  # clients that go away are the point
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.cert, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    site.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    """A server without TLS."""
    with _serve() as served:
        yield served


def _build(url: str | None = None, environ: Mapping[str, str] | None = None, **settings: object) -> ContextSource:
    given = {"kind": "http", "name": "weather", **({} if url is None else {"url": url})}
    return build_source(given | settings, environ=environ or {})


async def _ask(source: ContextSource, prompt: str = "how is it?", budget_tokens: int = 0) -> str:
    return await source.summary(prompt, from_at=FROM, to_at=TO, budget_tokens=budget_tokens)


async def test_asks_with_prompt_times_and_budget(site: Site) -> None:
    """The question goes as parameters, beside those of the address."""
    url = site.put("/now", "Rain from 2026-11-22 10:00.\n\n\n\nStorm\u202e later.\x1b[2J\n")
    assert (
        await _ask(_build(f"{url}?city=Bern&from=x"), "rain & wind?", 300)
        == "Rain from 2026-11-22 10:00.\n\nStorm later.[2J"
    )
    assert parse_qs(urlsplit(site.asked[0][0]).query) == {
        "city": ["Bern"],
        "prompt": ["rain & wind?"],
        "from": ["2026-11-21T20:00:00Z"],
        "to": ["2026-11-22T08:00:00Z"],
        "budget_tokens": ["300"],
    }


async def test_query_and_headers_by_template_and_reference(site: Site) -> None:
    """Templates and variables are filled in once: a prompt that names a variable is a prompt."""
    settings = {
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "query": {"since": "after {from}", "q": "{prompt}", "key": "${KEY}"},
    }
    url = site.put("/", "fine")
    await _ask(_build(url, {"TOKEN": "t0ken", "KEY": "k{to}"}, **settings), "${TOKEN} {from}")
    path, headers = site.asked[0]
    assert headers["authorization"] == "Bearer t0ken"
    assert parse_qs(urlsplit(path).query)["q"] == ["${TOKEN} {from}"]
    assert parse_qs(urlsplit(path).query)["since"] == ["after 2026-11-21T20:00:00Z"]


async def test_json_becomes_lines(site: Site) -> None:
    """Objects and lists are indented lines, short lists one line, empty values nothing."""
    body = '{"city": "Bern", "days": [{"date": "2026-11-22", "max": 4.50, "wet": true}, {"date": "2026-11-23"}], "tags": ["a", "b"], "none": null, "empty": []}'
    assert await _ask(_build(site.put("/", body, "application/json; charset=utf-8"))) == (
        "city: Bern\ndays:\n  -\n    date: 2026-11-22\n    max: 4.5\n    wet: true\n  - \n    date: 2026-11-23\ntags: a, b"
    ).replace("- \n", "-\n")


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        ("", "text/plain", ""),
        ("null", "application/json", "null"),
        ("{}", "application/json", ""),
        ('"Just a text"', "application/vnd.api+json", "Just a text"),
        ("<p>One</p><script>x()</script><p>Two", "text/html", "One\nTwo"),
        ("Gr\u00fc\u00dfe".encode("latin-1"), "text/plain; charset=iso-8859-1", "Gr\u00fc\u00dfe"),
        (b"\xef\xbb\xbfmark", "text/plain; charset=no-such", "mark"),
        ("9" * 250_000, "text/plain; charset=punycode", "9" * 250_000),
    ],
    ids=[
        "nothing",
        "null",
        "empty object",
        "a text in JSON",
        "a page",
        "another character set",
        "an unknown one",
        "a code of host names",
    ],
)
async def test_other_answers(site: Site, body: str | bytes, kind: str, told: str) -> None:
    """Each form of text is read as it says it is."""
    assert await _ask(_build(site.put("/", body, kind))) == told


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        (b"\x89PNG", "image/png", "answers with 'image/png'"),
        (b"x", "", "content of no kind"),
        ("{broken", "application/json", "sends invalid JSON"),
        ("[" * 100_000, "application/json", "sends invalid JSON"),
        ("9" * 5000, "application/json", "sends invalid JSON"),
    ],
    ids=["a picture", "no kind", "broken JSON", "deep JSON", "an endless number"],
)
async def test_what_is_no_text_is_refused(site: Site, body: str | bytes, kind: str, says: str) -> None:
    """The error says what came."""
    with pytest.raises(SourceError, match=says):
        await _ask(_build(site.put("/", body, kind)))


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (404, False), (429, True), (500, True), (503, True)]
)
async def test_a_status_says_whether_to_try_again(site: Site, status: int, retryable: bool) -> None:  # noqa: FBT001
    """The number is in the error; what the server writes beside it is not."""
    with pytest.raises(SourceError, match=f"HTTP {status}") as caught:
        await _ask(_build(site.put("/", "the token t0ken is bad", status=status)))
    assert caught.value.retryable is retryable
    assert "t0ken" not in str(caught.value)


async def test_more_bytes_than_allowed_are_not_read(site: Site) -> None:
    """A large answer is refused, and so is one that would unfold into a large one."""
    with pytest.raises(SourceError, match="more than 1,000 bytes"):
        await _ask(_build(site.put("/", "x" * 5_000_000), max_bytes=1000))
    with pytest.raises(SourceError, match="compressed"):
        await _ask(_build(site.put("/z", gzip.compress(b"x" * 5_000_000), Content_Encoding="gzip")))
    assert site.asked[-1][1]["accept-encoding"] == "identity"


async def test_a_dripping_answer_ends_with_the_time(site: Site) -> None:
    """The limit holds for the whole, not for each byte."""
    site.drips = True
    with pytest.raises(SourceUnavailableError, match=r"within 0\.3 seconds"):
        await _ask(_build(site.put("/", "x"), timeout_secs=0.3))


async def test_redirects_are_followed_within_a_site_only_so_far(site: Site) -> None:
    """Three within the same site are followed with their headers, a circle ends, and the query is not lost."""
    headers = {"X-Key": "${KEY}"}
    site.put("/c", "there")
    site.put("/b", "", status=307, Location="/c")
    url = site.put("/a", "", status=302, Location=f"{site.url}/b")
    assert await _ask(_build(url, {"KEY": "k3y"}, headers=headers)) == "there"
    assert [asked["x-key"] for _, asked in site.asked] == ["k3y"] * 3
    with pytest.raises(SourceError, match="redirects more than 3 times"):
        await _ask(_build(site.put("/loop", "", status=301, Location="/loop")))


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:1/meta", "http://192.0.2.1/", "file:///etc/passwd", "ftp://x/", "//["]
)
async def test_a_redirect_elsewhere_without_https_is_not_followed(site: Site, target: str) -> None:
    """An answer cannot send us to another service, a file or nowhere."""
    with pytest.raises(SourceError):
        await _ask(_build(site.put("/", "", status=302, Location=target)))
    assert len(site.asked) == 1


async def test_a_redirect_to_another_site_goes_without_our_headers(site: Site, certificate: Certificate) -> None:
    """Over https another host is followed, and never sees the secrets."""
    with _serve(certificate) as other:
        url = site.put("/", "", status=302, Location=other.put("/there", "moved"))
        settings = {"headers": {"X-Key": "${KEY}"}, "ca_file": str(certificate.cert), "allow_private": True}
        assert await _ask(_build(url, {"KEY": "k3y"}, **settings)) == "moved"
    assert "x-key" in site.asked[0][1]
    assert "x-key" not in other.asked[0][1]


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Certificate) -> None:
    """Without its authority the server is not believed, and the error says what to set."""
    with _serve(certificate) as served, pytest.raises(SourceError, match=r"not trusted .* ca_file"):
        await _ask(_build(served.put("/", "x")))


async def test_nobody_there_may_be_tried_again() -> None:
    """A port without a server is retryable."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SourceUnavailableError, match="cannot be reached"):
        await _ask(_build(f"http://127.0.0.1:{port}/"))


Fail = Callable[[Site], str]


@pytest.mark.parametrize(
    "fail",
    [
        lambda site: site.put("/s3cret", "x", status=500),
        lambda site: site.put("/s3cret", "x", status=302, Location="http://elsewhere.example/s3cret"),
        lambda site: site.put("/s3cret", b"x", "image/png"),
        lambda _: "http://127.0.0.1:1/s3cret?token=s3cret",
        lambda _: "http://s3cret@127.0.0.1/",
        lambda _: "gopher://s3cret/",
    ],
    ids=["a status", "a redirect", "a kind", "nobody", "user information", "no address"],
)
async def test_a_secret_address_is_never_said(site: Site, caplog: pytest.LogCaptureFixture, fail: Fail) -> None:
    """Neither error, nor cause, nor log holds the path, the query or a header of an address from the environment."""
    caplog.set_level(logging.DEBUG)
    environ = {"ADDRESS": fail(site), "KEY": "s3cret-key"}
    source = _build(None, environ, url_env="ADDRESS", headers={"X-Key": "${KEY}"}, max_redirects=1)
    with pytest.raises(SourceError) as caught:
        await _ask(source)
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__!r} {caplog.text}"


async def test_a_calendar_by_its_address(site: Site, project: Path) -> None:
    """A calendar is fetched with its headers, and a page in its place is refused."""
    raw = (project / "tests/data/calendars/outlook.ics").read_bytes()
    url = site.put("/c.ics", raw, "text/calendar")
    given = {"kind": "calendar", "name": "work", "url_env": "CALENDAR", "headers": {"X-Key": "${KEY}"}}
    source = build_source(given, environ={"CALENDAR": url, "KEY": "k3y"})
    at = datetime(2026, 10, 26, 8, tzinfo=UTC)
    assert "Jour fixe" in await source.summary("?", from_at=at, to_at=at, budget_tokens=0)
    assert site.asked[0][1]["x-key"] == "k3y"
    site.put("/c.ics", "<html>Log in</html>", "text/html")
    with pytest.raises(SourceError, match="web page"):
        await source.summary("?", from_at=at, to_at=at, budget_tokens=0)
