"""No answer and no name leads a source into a private network, and what was checked is what is connected to."""

import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import httpx2
import pytest

from everfold.adapters.sources.building import build_source
from everfold.adapters.sources.reaching import GuardedTransport, is_public
from everfold.errors import SourceError, SourceUnavailableError

from .conftest import Certificate
from .test_http import Site, _ask, _build, _serve

pytestmark = pytest.mark.anyio

PUBLIC = "93.184.216.34"

PRIVATE = (
    "127.0.0.1",
    "127.9.9.9",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "100.64.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a00:1::",
)

Names = dict[str, list[list[str]]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """What each name leads to, look-up by look-up; the last one stays."""
    known: Names = {}
    look_up: Callable[..., Any] = socket.getaddrinfo

    def find(host: object, port: object, *rest: object, **named: object) -> object:
        if str(host) not in known:
            return look_up(host, port, *rest, **named)
        found = known[str(host)]
        addresses = found.pop(0) if len(found) > 1 else found[0]
        return [
            (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
            for one in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    return known


def port_of(served: Site) -> str:
    """The port that a site listens on."""
    return served.url.rpartition(":")[2]


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_name_that_leads_inside_is_refused(names: Names, address: str) -> None:
    """A name is refused when it leads to a private, loopback, link-local, shared or metadata address, in every form."""
    assert not is_public(ip_address(address))
    names["inside.example"] = [[address]]
    with pytest.raises(SourceError, match=r"inside\.example, which is in a private network; set allow_private"):
        await _ask(_build("http://inside.example/"))


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"])
def test_a_public_address_is_public(address: str) -> None:
    """Addresses of the public internet are reached, also one of version 4 in version 6."""
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_what_the_settings_name_is_reached(host: str) -> None:
    """An operator may name this machine in figures or as localhost, for an endpoint and for a calendar."""
    with _serve() as site:
        site.put("/", "here")
        assert await _ask(_build(f"http://{host}:{port_of(site)}/")) == "here"
        site.put("/a.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n", "text/calendar")
        calendar = build_source({"kind": "calendar", "name": "work", "url": f"http://{host}:{port_of(site)}/a.ics"})
        assert await _ask(calendar) == ""


@pytest.mark.parametrize(
    "target",
    [
        "https://127.0.0.1:1/",
        "https://localhost:1/",
        "https://10.0.0.5/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.5]/",
        "https://inside.example/",
    ],
)
async def test_a_redirect_inside_is_refused(names: Names, target: str) -> None:
    """An answer does not send us to a private address, however it is written, not even to another port of its own host."""
    names["inside.example"] = [["10.0.0.5"]]
    with _serve() as site, pytest.raises(SourceError, match="which is in a private network"):
        await _ask(_build(site.put("/", "", status=302, Location=target)))


async def test_what_is_allowed_is_reached(names: Names, certificate: Certificate) -> None:
    """With allow_private names and redirects lead inside, and the certificate must still be for the name."""
    names["inside.example"] = [["127.0.0.1"]]
    with _serve() as site, _serve(certificate) as other:
        settings = {"allow_private": True, "ca_file": str(certificate.cert)}
        site.put("/", "", status=302, Location=other.put("/there", "moved"))
        assert await _ask(_build(f"http://inside.example:{port_of(site)}/", **settings)) == "moved"
        assert site.asked[0][1]["host"] == f"inside.example:{port_of(site)}"
        with pytest.raises(SourceError, match="certificate that is not trusted"):
            await _ask(_build(f"https://inside.example:{port_of(other)}/there", **settings))


async def test_the_address_that_was_checked_is_connected_to(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere at its second look-up is looked up once, and leads where it was checked to lead."""
    reached: list[object] = []

    async def note(_: object, request: httpx2.Request) -> httpx2.Response:
        reached.append((request.url.host, request.headers["host"], request.extensions.get("sni_hostname")))
        return httpx2.Response(200, stream=httpx2.ByteStream(b"from outside"), headers={"Content-Type": "text/plain"})

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", note)
    names["rebind.example"] = [[PUBLIC], ["127.0.0.1"]]
    assert await _ask(_build("https://rebind.example/")) == "from outside"
    assert reached == [(PUBLIC, "rebind.example", "rebind.example")]
    with pytest.raises(SourceError, match="private network"):
        await _ask(_build("https://rebind.example/"))
    names["mixed.example"] = [["10.0.0.5", PUBLIC, "::1"]]
    await _ask(_build("https://mixed.example/"))
    assert reached[1:] == [(PUBLIC, "mixed.example", "mixed.example")]


async def test_an_address_that_does_not_answer_is_passed_over(names: Names) -> None:
    """Of several addresses of a name the next one is tried where the first takes no connection."""
    with _serve() as site:
        names["two.example"] = [["127.0.0.9", "127.0.0.1"]]
        site.put("/", "here")
        assert await _ask(_build(f"http://two.example:{port_of(site)}/", allow_private=True)) == "here"


async def test_a_name_that_nobody_knows_is_told(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that cannot be looked up is a source that cannot be reached."""

    def fail(*_: object, **__: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    assert not names
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(SourceUnavailableError, match="cannot be reached"):
        await _ask(_build("http://nowhere.example/"))


async def test_a_proxy_is_asked_where_the_environment_names_one(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy a name goes to it, and an address in figures that is private and not named does not."""
    with _serve() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        proxy.put("/", "by proxy")
        assert not names
        assert await _ask(_build("http://far.example/")) == "by proxy"
        assert [path.partition("?")[0] for path, _ in proxy.asked] == ["http://far.example/"]
        transport = GuardedTransport("http://far.example/", refuse=SourceError)
        async with httpx2.AsyncClient(transport=transport) as client:
            with pytest.raises(SourceError, match=r"10\.0\.0\.5"):
                await client.get("http://10.0.0.5/")
