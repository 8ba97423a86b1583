"""A mailbox on a server, over IMAP. The folder is opened read-only and messages are peeked at: nothing is ever marked."""

import imaplib
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from itertools import pairwise
from threading import Event, Timer
from typing import TYPE_CHECKING, Final, Literal

from everfold.adapters.sources.environment import read_variable
from everfold.adapters.sources.fetching import load_certificates
from everfold.adapters.sources.mail_messages import RawMail
from everfold.core.sources.source_texts import clean_line
from everfold.errors import SourceError, SourceUnavailableError

if TYPE_CHECKING:
    from imap_tools import BaseMailBox

Security = Literal["tls", "starttls", "none"]

_FLAGS: Final = re.compile(rb"FLAGS \(([^()]*)\)", re.IGNORECASE)
_SIZE_DATE: Final = re.compile(rb'INTERNALDATE "([^"]+)"', re.IGNORECASE)
_UID: Final = re.compile(rb"UID ([0-9]+)", re.IGNORECASE)
_MOST_LOOKED_AT: Final = 2_000
"""Of how many messages of the days in question the times are asked for, the newest."""
_MOST_LITERAL_BYTES: Final = 16_777_216
_HIDDEN_FLAGS: Final = frozenset({"\\deleted", "\\draft"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImapPlace:
    """Which folder of which account on which server.

    Attributes:
        password_env: The variable that holds the password.
        ca_file: A file of certificates to trust beside the usual ones.
        timeout_secs: How long the server may take to connect, to be silent, and for all that comes then.
    """

    source: str
    host: str
    port: int
    security: Security
    username: str
    password_env: str
    folder: str
    ca_file: str | None
    timeout_secs: float


def is_loopback(host: str) -> bool:
    """Whether what is sent there stays on this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def read_imap(
    place: ImapPlace,
    environ: Mapping[str, str],
    *,
    from_at: datetime,
    to_at: datetime,
    most_count: int,
    most_bytes: int,
) -> list[RawMail]:
    """The newest messages of a folder that came within a window of time, newest first, with their first bytes.

    Blocks. The day, the flags and the exact time are asked for first, and of the messages within only the first bytes.

    Raises:
        SourceUnavailableError: the server cannot be reached, or does not answer in time.
        SourceError: it refuses us, or says what cannot be read.
    """
    password = read_variable(place.password_env, environ, source=place.source)
    with _translating(place, password), _open(place, password) as box:
        # A search knows days only, by the server's own clock: so one more, and exact times afterwards.
        days = f"SINCE {_name_day(from_at - timedelta(days=1))} BEFORE {_name_day(to_at + timedelta(days=2))}"
        uids = box.uids(f"({days} UNDELETED UNDRAFT)")[-_MOST_LOOKED_AT:]
        within = [it for it in _list_times(box, uids) if from_at <= it.received_at < to_at]
        newest = sorted(within, key=lambda it: (it.received_at, it.uid), reverse=True)[:most_count]
        bodies = _fetch_starts(box, [it.uid for it in newest], most_bytes)
        return [
            RawMail(raw=bodies[it.uid], received_at=it.received_at, flags=it.flags) for it in newest if it.uid in bodies
        ]


@dataclass(frozen=True, slots=True)
class _Seen:
    uid: int
    received_at: datetime
    flags: frozenset[str]


@contextmanager
def _open(place: ImapPlace, password: str) -> "Iterator[BaseMailBox]":
    box = _connect(place)
    box.client.read = _bound_reads(box.client.read)  # type: ignore[method-assign,assignment]  # it takes what the server announces
    is_late = Event()
    clock = Timer(place.timeout_secs, _hang_up, [box.client, is_late])
    clock.daemon = True
    clock.start()
    try:
        _log_in(box, place, password)
        box.folder.set(place.folder, readonly=True)
        yield box
    except (imaplib.IMAP4.error, OSError) as error:
        if is_late.is_set():
            raise TimeoutError from error
        raise
    finally:
        clock.cancel()
        with suppress(Exception):  # the answers are there, or the error is on its way
            box.client.logout()
        with suppress(Exception):
            box.client.shutdown()


def _bound_reads(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Reads what a server announces, unless it announces more than anything that we ask for can have."""

    def read_bounded(size: int) -> bytes:
        if size > _MOST_LITERAL_BYTES:
            raise imaplib.IMAP4.abort(f"the server announces {size} bytes")
        return read(size)

    return read_bounded


def _hang_up(client: imaplib.IMAP4, is_late: Event) -> None:
    """End a connection from another thread; a read from it ends too."""
    is_late.set()
    with suppress(OSError):
        client.sock.shutdown(socket.SHUT_RDWR)


def _connect(place: ImapPlace) -> "BaseMailBox":
    from imap_tools import MailBox, MailBoxStartTls, MailBoxUnencrypted

    if place.security == "none":
        return MailBoxUnencrypted(place.host, place.port, timeout=place.timeout_secs)
    context = ssl.create_default_context()
    if place.ca_file is not None:
        load_certificates(context, place.ca_file, source=place.source)
    cls = MailBox if place.security == "tls" else MailBoxStartTls
    return cls(place.host, place.port, timeout=place.timeout_secs, ssl_context=context)


def _log_in(box: "BaseMailBox", place: ImapPlace, password: str) -> None:
    """By LOGIN, or by AUTHENTICATE PLAIN for what is not ASCII. Source: RFC 3501, 6.2; RFC 4616.

    What the server says of an error may repeat the password in any form, and is not shown.
    """
    from imap_tools.errors import MailboxLoginError

    log_in = box.login if (place.username + password).isascii() else box.login_utf8
    try:
        log_in(place.username, password, initial_folder=None)
    except imaplib.IMAP4.abort:
        raise
    except (imaplib.IMAP4.error, MailboxLoginError):
        raise SourceError(
            f"{_say_where(place)} refuses {place.username} with the password of {place.password_env}; check both; many "
            "providers want a password made for one app",
            source=place.source,
        ) from None


def _name_day(at: datetime) -> str:
    """Source: RFC 3501, section 9, date; the names of months are not the locale's."""
    month = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[at.month - 1]
    return f"{at.day}-{month}-{at.year:04}"


def _list_times(box: "BaseMailBox", uids: Sequence[str]) -> Iterator[_Seen]:
    for item in _fetch(box, uids, "(UID FLAGS INTERNALDATE)"):
        line = item if isinstance(item, bytes) else item[0]
        uid, flags, at = _UID.search(line), _FLAGS.search(line), _SIZE_DATE.search(line)
        if uid is None or at is None:
            continue
        seen = frozenset((flags[1] if flags else b"").decode("ascii", "replace").lower().split())
        with suppress(ValueError, TypeError, ArithmeticError):
            received_at = parsedate_to_datetime(at[1].decode("ascii", "replace").strip().replace("-", " ", 2))
            if not seen & _HIDDEN_FLAGS and received_at.tzinfo is not None:
                yield _Seen(int(uid[1]), received_at, seen)


def _fetch_starts(box: "BaseMailBox", uids: Sequence[int], most_bytes: int) -> dict[int, bytes]:
    r"""The first bytes of messages. Source: RFC 3501, 6.4.5: BODY.PEEK does not set `\\Seen`."""
    found: dict[int, bytes] = {}
    items = _fetch(box, [str(uid) for uid in uids], f"(UID BODY.PEEK[]<0.{most_bytes}>)")
    for item, after in pairwise([*items, b""]):
        if isinstance(item, tuple):
            found[_read_uid(item[0], after)] = item[1]
    return found


def _read_uid(before: bytes, after: bytes | tuple[bytes, bytes]) -> int:
    """The UID of a message from what stands before and after its text. Source: RFC 3501, 7.4.2: in any order."""
    uid = _UID.search(before) or (_UID.search(after) if isinstance(after, bytes) else None)
    if uid is None:
        raise imaplib.IMAP4.error("FETCH: a message without its UID")
    return int(uid[1])


def _fetch(box: "BaseMailBox", uids: Sequence[str], what: str) -> "list[bytes | tuple[bytes, bytes]]":
    if not uids:
        return []
    kind, items = box.client.uid("FETCH", ",".join(uids), what)
    if kind != "OK":
        raise imaplib.IMAP4.error(f"FETCH: {kind}")
    return [it for it in items if it is not None]


@contextmanager
def _translating(place: ImapPlace, password: str) -> Iterator[None]:
    """Our errors for those of the libraries; what a server says of an error may repeat the password, and then does not."""
    from imap_tools.errors import ImapToolsError, MailboxFolderSelectError

    where = _say_where(place)
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise SourceError(
            f"{where} has a certificate that is not trusted ({error.verify_message}); name the one of its authority as "
            "ca_file",
            source=place.source,
        ) from error
    except (imaplib.IMAP4.abort, OSError) as error:
        why = _say_why(error, place)
        raise SourceUnavailableError(
            f"{where} cannot be reached ({why}); check host, port and security, and that it runs", source=place.source
        ) from None
    except MailboxFolderSelectError as error:
        raise SourceError(
            f"{where} has no folder {place.folder!r} to open ({_say(error, password)}); check its name",
            source=place.source,
        ) from None
    except (imaplib.IMAP4.error, ImapToolsError, ValueError) as error:
        raise SourceError(
            f"{where} refused a command ({_say(error, password)}); check that it is an IMAP server",
            source=place.source,
        ) from None


def _say_where(place: ImapPlace) -> str:
    return f"the source {place.source}, on {place.host} port {place.port},"


def _say_why(error: Exception, place: ImapPlace) -> str:
    """Why a server cannot be reached, without its words: it may end the connection while it is given the password."""
    if isinstance(error, TimeoutError):
        return f"no answer in {place.timeout_secs:g} seconds"
    if isinstance(error, imaplib.IMAP4.abort):
        return "it ended the connection or does not speak IMAP"
    return clean_line(f"{type(error).__name__}: {error}", most_chars=160)


def _say(error: Exception, password: str) -> str:
    return clean_line(f"{type(error).__name__}: {error}".replace(password, "[the password]"), most_chars=160)
