"""One bounded GET: in time, in bytes, in redirects, and in what it tells to whom."""

import asyncio
import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from everfold.adapters.sources.charsets import find_charset
from everfold.core.sources.source_texts import clean_line
from everfold.errors import SourceError, SourceUnavailableError

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

_FINE, _BROKEN = 2, 5
_LATER_STATUSES: Final = frozenset({408, 425, 429})
"""Source: RFC 9110, 15.5.9; RFC 8470, 5.2; RFC 6585, 4. Of 500 and more, all may pass."""
_is_fetching: Final[ContextVar[bool]] = ContextVar("everfold_is_fetching", default=False)


class _NoAddresses(logging.Filter):
    """Keeps the client from logging our addresses, which may hold secrets; what others log through it is let be."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002  # the port of logging
        return not _is_fetching.get()


_NO_ADDRESSES: Final = _NoAddresses()
_LOGGERS: Final = ("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """What to get, and the bounds.

    Attributes:
        source: Whose it is, for errors.
        headers: Sent to this address's origin only; a redirect to another one goes without them.
        accept: What kinds of content are wanted.
        ca_file: A file of certificates to trust beside the usual ones.
        allow_private: Follow names and redirects into private networks, too.
    """

    source: str
    url: str
    headers: Mapping[str, str]
    accept: str
    timeout_secs: float
    max_bytes: int
    max_redirects: int
    ca_file: str | None
    allow_private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What came: the media type in lower case, and the content."""

    media_type: str
    charset: str | None
    body: bytes

    def decode(self) -> str:
        """The content as text; what is not of its character set is replaced."""
        with suppress(LookupError, ValueError):
            return self.body.decode(find_charset(self.charset) or "utf-8-sig", "replace")
        return self.body.decode("utf-8-sig", "replace")


async def fetch(wanted: Fetch) -> Fetched:
    """Get it, or say why not in words that hold nothing of the address but its host.

    Raises:
        SourceUnavailableError: no connection, no answer in time, or the server is overloaded or broken.
        SourceError: the server refuses, sends elsewhere, or sends too much.
    """
    import httpx2

    from everfold.adapters.sources.reaching import GuardedTransport

    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_NO_ADDRESSES)  # adding it again does nothing
    quiet = _is_fetching.set(True)
    try:
        async with asyncio.timeout(wanted.timeout_secs):
            tls = await asyncio.to_thread(_make_tls, wanted)  # reads every certificate of the system
            transport = GuardedTransport(
                wanted.url, verify=tls, refuse=partial(_refuse, wanted), allow_private=wanted.allow_private
            )
            async with httpx2.AsyncClient(
                transport=transport, follow_redirects=False, timeout=wanted.timeout_secs
            ) as client:
                return await _follow(client, wanted)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise SourceUnavailableError(
            f"{_say_where(wanted)} did not answer within {wanted.timeout_secs:g} seconds; try again, or raise timeout_secs",
            source=wanted.source,
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError, OSError, UnicodeError, ValueError) as error:
        # The cause is not chained: its text and its request hold the address, and headers with secrets.
        raise _translate(error, wanted) from None
    finally:
        _is_fetching.reset(quiet)


def _refuse(wanted: Fetch, host: str) -> SourceError:
    return SourceError(
        f"the source {wanted.source} leads to {clean_line(host, most_chars=100)}, which is in a private network; set "
        "allow_private = true for this source if that is intended",
        source=wanted.source,
    )


def _make_tls(wanted: Fetch) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if wanted.ca_file is not None:
        load_certificates(context, wanted.ca_file, source=wanted.source)
    return context


def load_certificates(context: ssl.SSLContext, ca_file: str, *, source: str) -> None:
    """Trust the certificates of a file, too.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        context.load_verify_locations(ca_file)
    except (ssl.SSLError, OSError) as error:
        raise SourceError(
            f"the source {source} cannot read the certificates of its ca_file ({error.strerror}); "
            "name a file in PEM form",
            source=source,
        ) from error


async def _follow(client: "AsyncClient", wanted: Fetch) -> Fetched:
    url, headers = wanted.url, {"User-Agent": "everfold", **wanted.headers}
    for _ in range(wanted.max_redirects + 1):
        # Asked for as it is: so a small answer cannot unfold into a large one.
        sent = {"Accept": wanted.accept, **headers, "Accept-Encoding": "identity"}
        async with client.stream("GET", url, headers=sent) as response:
            if not response.has_redirect_location:
                return await _read(response, wanted)
            target = urljoin(str(response.url), response.headers["location"])
        url, headers = target, _check_redirect(url, target, headers, wanted)
    raise SourceError(
        f"{_say_where(wanted)} redirects more than {wanted.max_redirects} times; put the last address into the settings",
        source=wanted.source,
    )


def _check_redirect(url: str, target: str, headers: dict[str, str], wanted: Fetch) -> dict[str, str]:
    """The headers to send on: all of them within an origin and from http to https of one host, else none.

    Another host is believed only over https: an answer must not send us to a service in our own network.
    """
    here, there = urlsplit(url), urlsplit(target)
    if (here.scheme, here.netloc) == (there.scheme, there.netloc):
        return headers
    if there.scheme != "https":
        raise SourceError(
            f"{_say_where(wanted)} redirects to {clean_line(there.hostname or 'nowhere', most_chars=100)} without https, "
            "which is not followed; if that is intended, put that address into the settings",
            source=wanted.source,
        )
    is_upgrade = here.scheme == "http" and here.hostname == there.hostname and here.port is there.port is None
    return headers if is_upgrade else {"User-Agent": "everfold"}


async def _read(response: "Response", wanted: Fetch) -> Fetched:
    _check_status(response.status_code, wanted)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise SourceError(
            f"{_say_where(wanted)} sends compressed data although the request forbids it; turn compression off there",
            source=wanted.source,
        )
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > wanted.max_bytes:
            raise SourceError(
                f"{_say_where(wanted)} sends more than {wanted.max_bytes:,} bytes; narrow what it sends, or raise max_bytes",
                source=wanted.source,
            )
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(media_type=media_type, charset=response.charset_encoding, body=bytes(body))


def _check_status(status: int, wanted: Fetch) -> None:
    family = status // 100
    if family == _FINE:
        return
    if family == _BROKEN or status in _LATER_STATUSES:
        raise SourceUnavailableError(
            f"{_say_where(wanted)} answers HTTP {status}; try again later", source=wanted.source
        )
    what_to_do = {
        401: "check the secret that it is given",
        403: "check the secret that it is given, and what it is allowed",
        404: "check the path of its url",
        410: "it is gone: check its url",
    }.get(status, "check its settings")
    raise SourceError(f"{_say_where(wanted)} answers HTTP {status}; {what_to_do}", source=wanted.source)


def _translate(error: Exception, wanted: Fetch) -> SourceError:
    reason = type(error).__name__
    certificate = next((it for it in _list_causes(error) if isinstance(it, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        return SourceError(
            f"{_say_where(wanted)} has a certificate that is not trusted ({certificate.verify_message}); name the one "
            "of its authority as ca_file",
            source=wanted.source,
        )
    if isinstance(error, OSError) or reason in ("ConnectError", "ReadError", "WriteError", "ProxyError", "CloseError"):
        return SourceUnavailableError(
            f"{_say_where(wanted)} cannot be reached ({reason}); check that it runs and that its address is right",
            source=wanted.source,
        )
    if reason == "RemoteProtocolError":
        return SourceUnavailableError(
            f"{_say_where(wanted)} closed the connection or does not speak HTTP; try again", source=wanted.source
        )
    return SourceError(
        f"{_say_where(wanted)} cannot be asked ({reason}); check its url and its headers", source=wanted.source
    )


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _say_where(wanted: Fetch) -> str:
    return f"the source {wanted.source}, on {urlsplit(wanted.url).hostname},"
