"""The rate at which invalid API keys may be tried, by address.

Each invalid key takes a pass of its address. When none is left, keys from there are refused without being looked up, valid
ones too. A key that was valid before still works from every address, so clients behind one proxy do not lock each other
out.

Source: OWASP Authentication Cheat Sheet, login throttling.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, TypeVar

from everfold.core.access.limits import Bucket, RateLimit, settle, take
from everfold.errors import RateLimitedError
from everfold.ports.system import Clock

MOST_KEPT: Final = 10_000
"""Of how many addresses, and of how many good keys, is known. Source: own choice; some two megabytes."""
_NETWORK_BITS: Final = 64
"""One client has a whole network of IPv6 addresses. Source: RFC 6177."""

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True, kw_only=True)
class Guesses:
    """The passes of each address, in the memory of one process; a restart fills all."""

    clock: Clock
    limit: RateLimit
    _buckets: dict[str, Bucket] = field(default_factory=dict, init=False)
    _good: dict[bytes, None] = field(default_factory=dict, init=False)

    def expect(self, secret: str, address: str) -> None:
        """Let a key be looked up.

        Raises:
            RateLimitedError: too many guesses from there have failed, and this key was not found good before.
        """
        if _hash(secret) in self._good:
            return
        try:
            take(self._buckets.get(_name_network(address)), self.limit, self.clock.now())
        except RateLimitedError as error:
            text = "Too many invalid API keys from this address. Try again later."
            raise RateLimitedError(text, retry_after_secs=error.retry_after_secs) from error

    def note_good(self, secret: str) -> None:
        """A key was found good."""
        _keep(self._good, _hash(secret), None)

    def note_bad(self, address: str) -> None:
        """A guess has failed."""
        name, now = _name_network(address), self.clock.now()
        bucket = settle(self._buckets.get(name), self.limit, now)
        with suppress(RateLimitedError):  # several were on their way at once
            bucket = take(bucket, self.limit, now)
        _keep(self._buckets, name, bucket)


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _name_network(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address) or found.ipv4_mapped is not None:
        return str(found)
    return str(ip_network((found, _NETWORK_BITS), strict=False))
