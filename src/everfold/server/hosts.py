"""The names that a server answers to.

A page of another site can have its own name lead to this machine and then read our answers as its own: DNS rebinding. The
browser still sends that site's name as `Host`, so a request for a name that is not ours is refused. An address that is
written in figures cannot be rebound.

Source: RFC 9110, 7.2 (`Host`) and 15.5.20 (421); RFC 9112, 3.2 (400 for a `Host` that is missing, doubled or broken).
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.types import Scope

from everfold.errors import MalformedRequestError, UsageError
from everfold.sections import ServerSettings

ANY_HOST: Final = "*"
_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{0,5})?")
_OLD_VERSION: Final = "1.0"
"""The version of HTTP whose requests need no `Host`; monitors still send it, browsers do not."""


class MisdirectedError(UsageError):
    """The request is for another server."""

    code = "misdirected"
    http_status = 421


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """What may stand in `Host`, without the port.

    Attributes:
        names: In lower case.
        has_any_name: Everything may.
        has_any_address: Every address in figures may, since the server listens on all that the machine has.
    """

    names: frozenset[str]
    has_any_name: bool = False
    has_any_address: bool = False

    def check(self, scope: Scope) -> None:
        """Refuse a request for a name that is not ours.

        Raises:
            MalformedRequestError: it names no host, several, or what cannot be one.
            MisdirectedError: it names another host.
        """
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if not given and scope["http_version"] == _OLD_VERSION:
            return
        found = _HOST.fullmatch(given[0]) if len(given) == 1 else None
        if found is None:
            raise MalformedRequestError("a request must name one host: send one `Host` header, as NAME or NAME:PORT")
        name = found["name"].lower().rstrip(".").strip("[]")
        if not self._has(name):
            raise MisdirectedError(
                f"this server does not serve the host {name!r}; use an address that it listens on, or add the name "
                "to server.allowed_hosts"
            )

    def _has(self, name: str) -> bool:
        if self.has_any_name or name in self.names:
            return True
        address = _read_address(name)
        return address is not None and (self.has_any_address or address.is_loopback)


def choose_hosts(settings: ServerSettings, bound: str) -> Hosts:
    """The names of a server that listens on an address: loopback, that address, its public URL's, and the allowed ones."""
    address = _read_address(bound)
    public = urlsplit(settings.public_url or "").hostname
    names = {"localhost", bound, public or bound, *(name.strip("[]") for name in settings.allowed_hosts)}
    return Hosts(
        names=frozenset(name.lower().rstrip(".") for name in names),
        has_any_name=ANY_HOST in settings.allowed_hosts,
        has_any_address=address is not None and address.is_unspecified,
    )


def is_loopback(bound: str) -> bool:
    """Whether only this machine reaches what listens there."""
    address = _read_address(bound)
    return bound == "localhost" if address is None else address.is_loopback


def _read_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
