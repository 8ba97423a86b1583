"""Reaching servers without being led into our own network.

What settings name in figures, or as `localhost`, is reached wherever it is: an operator wrote it. A name is looked up once,
and of its addresses only those of the public internet are connected to; so is the target of a redirect. The address that
was checked is the one that is connected to, so a name that leads elsewhere a moment later leads nowhere; certificates and
`Host` still go by the name. `allow_private` of a source or a tool server lifts this for all that it names or redirects to.

Where the environment names a proxy, the proxy looks names up and decides what they may lead to; addresses in figures
are checked all the same.

Source: OWASP Server-Side Request Forgery Prevention Cheat Sheet; IANA's registries of special-purpose addresses.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import SOCK_STREAM, gaierror
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = ip_network("64:ff9b::/96")
_NAT64_LOCAL: Final = ip_network("64:ff9b:1::/48")
_SERVICES: Final = frozenset(map(ip_address, ("168.63.129.16", "192.0.0.192")))
"""Addresses that are public by their number and of a cloud's own services: Azure's wire server, Oracle's metadata service."""
"""Source: RFC 6052, 2.1; RFC 8215."""

Address = IPv4Address | IPv6Address
Refuse = Callable[[str], Exception]
"""The error for a host that is not reached."""


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends each request to an address that it may go to.

    Args:
        url: What the settings name.
        verify: What certificates are trusted.
        refuse: Makes the error for a host that leads into a private network.
        allow_private: Let every address be reached.
    """

    def __init__(
        self, url: str, *, verify: ssl.SSLContext | bool = True, refuse: Refuse, allow_private: bool = False
    ) -> None:
        self._named = _list_named(url)
        self._refuse = refuse
        self._allows = allow_private
        self._direct = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False)
        self._proxied = {
            scheme: httpx2.AsyncHTTPTransport(verify=verify, proxy=proxy)
            for scheme, proxy in getproxies().items()
            if scheme in _PORTS and not proxy_bypass(urlsplit(url).hostname or "")
        }

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Look the host up, and send the request to the first of its addresses that answers.

        Raises:
            Exception: what `refuse` makes, where none of its addresses may be reached.
        """
        url = request.url
        host = url.host
        proxied = self._proxied.get(url.scheme)
        if proxied is not None:
            figures = _read_figures(host)
            if figures is not None and not self._may_reach(figures, url):
                raise self._refuse(host)
            return await proxied.handle_async_request(request)
        addresses = [one for one in await _look_up(host, _port_of(url)) if self._may_reach(one, url)]
        if not addresses:
            raise self._refuse(host)
        return await self._send(request, addresses)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in (self._direct, *self._proxied.values()):
            await transport.aclose()

    def _may_reach(self, address: Address, url: httpx2.URL) -> bool:
        return self._allows or is_public(address) or (url.host, _port_of(url)) in self._named

    async def _send(self, request: httpx2.Request, addresses: Sequence[Address]) -> httpx2.Response:
        for address in addresses[:-1]:
            try:
                return await self._direct.handle_async_request(_pin(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue  # nothing was sent yet
        return await self._direct.handle_async_request(_pin(request, addresses[-1]))


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet: not private, loopback, link-local, shared or of a metadata service."""
    if isinstance(address, IPv6Address):
        inner = _find_inner(address)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local or address in _NAT64_LOCAL:
            return False
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified or address in _SERVICES
    return address.is_global and not is_special


def _find_inner(address: IPv6Address) -> IPv4Address | None:
    """The address of version 4 that one of version 6 stands for."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def _list_named(url: str) -> frozenset[tuple[str, int]]:
    """The places that the settings name in figures, or as `localhost`; with http also the same host's https."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if host != "localhost" and _read_figures(host) is None:
        return frozenset()
    places = {(host, parts.port or _PORTS.get(parts.scheme, 0))}
    return frozenset(places | ({(host, _PORTS["https"])} if parts.port is None else set()))


def _port_of(url: httpx2.URL) -> int:
    return url.port or _PORTS.get(url.scheme, 0)


def _read_figures(host: str) -> Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


async def _look_up(host: str, port: int) -> list[Address]:
    figures = _read_figures(host)
    if figures is not None:
        return [figures]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (gaierror, UnicodeError) as error:
        raise httpx2.ConnectError(f"{host} cannot be looked up: {error}") from error
    return [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]


def _pin(request: httpx2.Request, address: Address) -> httpx2.Request:
    """The request to one address; its `Host` stays, and the certificate must be for the name."""
    figures = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    host = request.url.host
    extensions = dict(request.extensions)
    if _read_figures(host) is None:
        extensions["sni_hostname"] = host
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=figures),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )
