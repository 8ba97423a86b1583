"""A mailbox: IMAP, a maildir or an mbox. What is unread or marked by its reader is shown, and what goes to many is not."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

from everfold.adapters.sources.calendar import find_zone
from everfold.adapters.sources.environment import find_path
from everfold.adapters.sources.imap import ImapPlace, is_loopback, read_imap
from everfold.adapters.sources.mail_files import read_maildir, read_mbox
from everfold.adapters.sources.mail_messages import Mail, RawMail, read_mail
from everfold.adapters.sources.own_threads import OwnThreads
from everfold.adapters.sources.source_settings import check_above_zero, check_name, name_nearest
from everfold.core.sources.source_texts import clean_line, fit_lines, name_moment
from everfold.errors import InvalidInputError

_PORTS: Final = {"tls": 993, "starttls": 143, "none": 143}
"""Source: RFC 8314, section 3.2; RFC 3501, section 2.1."""
_MOST_BYTES: Final = 8_388_608
_MOST_PORT: Final = 65_535
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_FORMATS: Final = ("maildir", "mbox")
_MOST_SUBJECT_CHARS: Final = 200
_MOST_SENDER_CHARS: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxSettings:
    """Which mailbox, and how much of it.

    Attributes:
        name: The source is `mail://NAME`.
        host: A server, with `username` and `password_env`, the variable that holds the password; or `path`, a maildir
            or an mbox.
        port: 993 with TLS and 143 without when None.
        security: `tls`, `starttls`, or `none`, which only a server on this machine may have unless `allow_plaintext`.
        format: `maildir` or `mbox`; a folder is a maildir and a file an mbox when None.
        time_zone: In which to show times.
        max_messages: Of how many messages of the window of time the text is read, the newest.
        max_bytes: How much of each message is read.
        body_chars: How much of a message's own words is shown.
        ca_file: A file of certificates to trust beside the usual ones.
    """

    name: str
    host: str | None = None
    port: int | None = None
    security: str = "tls"
    username: str | None = None
    password_env: str | None = None
    folder: str = "INBOX"
    allow_plaintext: bool = False
    ca_file: str | None = None
    path: str | None = None
    format: str | None = None
    time_zone: str = "UTC"
    max_messages: int = 100
    max_bytes: int = 65_536
    body_chars: int = 280
    timeout_secs: float = 20.0

    def __post_init__(self) -> None:
        what = f"the mailbox {self.name!r}"
        check_name(self.name, what=what)
        find_zone(self.time_zone, what=what)
        check_above_zero(self, "max_messages", "max_bytes", "timeout_secs", what=what)
        if self.max_bytes > _MOST_BYTES:
            raise InvalidInputError(f"{what}: max_bytes is at most {_MOST_BYTES}, the beginning of a message")
        if (self.host is None) == (self.path is None):
            raise InvalidInputError(f"{what} needs one of host, for a server, and path, for a maildir or an mbox")
        if self.format is not None and self.format not in _FORMATS:
            raise InvalidInputError(f"{what}: there is no format {self.format!r}{name_nearest(self.format, _FORMATS)}")
        if self.host is not None:
            self._check_server(self.host, what)

    def _check_server(self, host: str, what: str) -> None:
        if self.security not in _PORTS:
            raise InvalidInputError(
                f"{what}: there is no security {self.security!r}{name_nearest(self.security, list(_PORTS))}"
            )
        if self.username is None or self.password_env is None:
            raise InvalidInputError(f"{what} needs username, and password_env, the variable that holds its password")
        if self.port is not None and not 0 < self.port <= _MOST_PORT:
            raise InvalidInputError(f"{what}: the port is from 1 to 65535, not {self.port}")
        if self.security == "none" and not is_loopback(host) and not self.allow_plaintext:
            raise InvalidInputError(
                f'{what} would send its password unencrypted to {host}; use security = "tls", or allow it with '
                "allow_plaintext = true"
            )
        if _CONTROL.search(f"{host}{self.username}{self.folder}"):
            raise InvalidInputError(f"{what}: host, username and folder must not contain control characters")


class MailboxSource:
    """See `everfold.ports.sources.ContextSource`. The prompt is not read: a mailbox answers one question only.

    Args:
        settings: Which mailbox.
        environ: Where its password is; the process's own environment when None.
    """

    def __init__(self, settings: MailboxSettings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self._threads = OwnThreads(self.name)

    @property
    def name(self) -> str:
        """See the port."""
        return f"mail://{self._settings.name}"

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:  # noqa: ARG002
        """See the port. What came in the window of time, marked messages first, then the newest; nothing is marked read.

        Times of messages are whole seconds. So the window begins and ends with one: a message that comes in the second
        of the question belongs to the next window.
        """
        from_at, to_at = from_at.replace(microsecond=0), to_at.replace(microsecond=0)
        mails = await self._threads.run(lambda: self._read(from_at, to_at))
        zone = ZoneInfo(self._settings.time_zone)
        is_all = len(mails) < self._settings.max_messages
        return fit_lines("\n".join(_write_mails(mails, from_at, to_at, zone, is_all=is_all)), budget_tokens)

    async def close(self) -> None:
        """See the port; no connection outlives its question."""

    def _read(self, from_at: datetime, to_at: datetime) -> list[Mail]:
        return [read_mail(raw, body_chars=self._settings.body_chars) for raw in self._read_raw(from_at, to_at)]

    def _read_raw(self, from_at: datetime, to_at: datetime) -> list[RawMail]:
        given = self._settings
        most_count, most_bytes = given.max_messages, given.max_bytes
        if given.path is None:
            return read_imap(
                self._place(), self._environ, from_at=from_at, to_at=to_at, most_count=most_count, most_bytes=most_bytes
            )
        path = find_path(given.path, source=self.name)
        kind = given.format or ("maildir" if path.is_dir() else "mbox")
        read = read_maildir if kind == "maildir" else read_mbox
        found = read(path, from_at=from_at, to_at=to_at, most_count=most_count, most_bytes=most_bytes, source=self.name)
        return [it for it in found if not {"\\deleted", "\\draft"} & set(it.flags)]

    def _place(self) -> ImapPlace:
        given = self._settings
        security: Literal["tls", "starttls", "none"] = given.security  # type: ignore[assignment]  # checked when made
        return ImapPlace(
            source=self.name,
            host=given.host or "",
            port=given.port or _PORTS[security],
            security=security,
            username=given.username or "",
            password_env=given.password_env or "",
            folder=given.folder,
            ca_file=given.ca_file,
            timeout_secs=given.timeout_secs,
        )


def _write_mails(
    mails: Sequence[Mail], from_at: datetime, to_at: datetime, zone: ZoneInfo, *, is_all: bool
) -> Iterator[str]:
    """The lines of a summary: none when no message is to be shown."""
    shown = [it for it in mails if it.bulk_reason is None and (it.is_unread or it.is_notable)]
    if not shown:
        return
    begin, end = (name_moment(at.astimezone(zone)) for at in (from_at, to_at))
    bound = "" if is_all else f"; only the newest {len(mails)} were read"
    yield f"Messages from {begin} to {end}: {_count(mails, shown)}{bound}."
    for mail in sorted(shown, key=lambda it: (not it.is_notable, -it.received_at.timestamp())):
        yield from _write_mail(mail, zone)


def _count(mails: Sequence[Mail], shown: Sequence[Mail]) -> str:
    """What is below and what is not, by kind."""
    kinds = Counter(it.bulk_reason or "already read" for it in mails if it not in shown)
    left_out = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{len(shown)} shown" + (f"; left out: {left_out}" if left_out else "")


def _write_mail(mail: Mail, zone: ZoneInfo) -> Iterator[str]:
    marks = ", ".join(word for word, holds in (("marked", mail.is_notable), ("unread", mail.is_unread)) if holds)
    sender = clean_line(mail.sender, most_chars=_MOST_SENDER_CHARS) or "(unknown sender)"
    subject = clean_line(mail.subject, most_chars=_MOST_SUBJECT_CHARS) or "(no subject)"
    yield f"- {name_moment(mail.received_at.astimezone(zone))} [{marks}] from {sender}: {subject}"
    if mail.first_lines:
        yield f"  {mail.first_lines}"
