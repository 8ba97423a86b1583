"""One message of a mailbox, from its raw bytes, whatever kept it."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import MessageError
from email.header import Header, decode_header
from email.message import Message
from email.policy import Compat32
from typing import TYPE_CHECKING, Final

from everfold.adapters.sources.charsets import find_charset
from everfold.adapters.sources.html_text import read_html
from everfold.core.sources.mail_rules import (
    BulkReason,
    Headers,
    find_bulk_reason,
    is_notable,
    list_labels,
    read_first_lines,
)
from everfold.core.sources.source_texts import clean_line

if TYPE_CHECKING:
    from imap_tools.utils import EmailAddress

_FAULTS: Final = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    AssertionError,
    MessageError,
)
"""What the library stumbles with over a message that is none, or is made to break it."""
_MOST_HEADERS: Final = 500
_MOST_HEADER_CHARS: Final = 4_000
_MOST_NAME_CHARS: Final = 60
_LABELS: Final = "x-gmail-labels"
_ADDRESS: Final = re.compile(r"[^\s<>]+@[^\s<>]+")


class _ShortHeaders(Compat32):
    """Reads a header only so far: the time that its parameters take grows with the square of their length.

    The sender's is whole, its spaces joined: a part of it may name another.
    """

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, " ".join(value.split()) if name.lower() == "from" else value[:_MOST_HEADER_CHARS]


_SHORT_HEADERS: Final = _ShortHeaders()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawMail:
    r"""A message as its mailbox gave it.

    Attributes:
        raw: Its first bytes.
        received_at: When it came in, aware; not what its sender says.
        flags: Its flags, keywords and labels, in lower case; the mailbox adds `\seen` where it keeps that otherwise.
    """

    raw: bytes
    received_at: datetime
    flags: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """What of a message is shown; its texts are still the sender's, and are cleaned when they are written.

    Attributes:
        bulk_reason: Why it is left out, or None for one to show.
        is_notable: Its reader marked it.
        first_lines: Where its own words begin, on one line.
    """

    received_at: datetime
    sender: str
    subject: str
    first_lines: str
    is_unread: bool
    is_notable: bool
    bulk_reason: BulkReason | None


def read_mail(given: RawMail, *, body_chars: int) -> Mail:
    """The message, with what of it can be read; nothing in it is loaded, opened or followed."""
    from imap_tools import MailMessage

    try:
        message = MailMessage.from_bytes(b"")
        message.obj = message_from_bytes(given.raw, policy=_SHORT_HEADERS)
        headers = _read_headers(message.obj)
        flags = frozenset(given.flags)
        is_seen = (
            "\\seen" in flags or "opened" in (labels := list_labels(headers)) or (labels and "unread" not in labels)
        )
        return Mail(
            received_at=given.received_at,
            sender=_read_sender(message.obj),
            subject=_try_text(lambda: message.subject),
            first_lines=read_first_lines(_try_text(lambda: _read_body(message.obj)), most_chars=body_chars)
            if body_chars
            else "",
            is_unread=not is_seen,
            is_notable=is_notable(headers, flags),
            bulk_reason=find_bulk_reason(headers, flags, is_invitation=_is_invitation(message.obj)),
        )
    except _FAULTS:
        return Mail(
            received_at=given.received_at,
            sender="",
            subject="(this message cannot be read)",
            first_lines="",
            is_unread="\\seen" not in given.flags,
            is_notable=False,
            bulk_reason=None,
        )


def _read_headers(message: Message) -> Headers:
    """Its headers as they are, and the first one of labels decoded, which the export puts before those of the sender.

    To decode a header takes time that grows with the square of its length.
    """
    headers: dict[str, list[str]] = {}
    for name, value in message.items()[:_MOST_HEADERS]:
        headers.setdefault(name.lower(), []).append(str(value))
    if labels := headers.get(_LABELS):
        headers[_LABELS] = [_decode(labels[0])]
    return headers


def _decode(value: str) -> str:
    """A header with its encoded words read, where they can be. Source: RFC 2047."""
    from imap_tools.utils import decode_value

    try:
        return "".join(decode_value(*part) for part in decode_header(value)) if "=?" in value else value
    except _FAULTS:
        return value


def _read_sender(message: Message) -> str:
    """The first author and how many more there are.

    Empty where the header may go on after the bytes that were read, or the first author has no end within the limit.
    """
    try:
        authors, more = _parse_authors(message.get("From", "")) if _has_ended(message, "from") else ((), "")
    except _FAULTS:
        return ""
    first = _name_author(authors[0]) if authors else ""
    return first and first + more


def _name_author(author: "EmailAddress") -> str:
    """Name and address; the name cannot pass for another address, because the address stands beside it."""
    name = "" if author.name == author.email else clean_line(author.name, most_chars=_MOST_NAME_CHARS)
    if _ADDRESS.fullmatch(author.email):
        return f"{name} <{author.email}>" if name else author.email
    return "" if "@" in name else name


def _has_ended(message: Message, name: str) -> bool:
    """Whether a header or a body follows on the headers of this name. As bytes the body costs no decoding."""
    has_body = message.is_multipart() or bool(message.get_payload(decode=True))
    return has_body or [it.lower() for it in message.keys()[-1:]] != [name]


def _parse_authors(header: str | Header) -> "tuple[Sequence[EmailAddress], str]":
    """The authors, and the words for those after the first. Where the header is too long, the last one may go on."""
    from imap_tools.utils import decode_value, parse_email_addresses

    text = header if isinstance(header, str) else decode_value(*decode_header(header)[0])
    found = parse_email_addresses(text[:_MOST_HEADER_CHARS])
    is_cut = len(text) > _MOST_HEADER_CHARS
    whole = found[:-1] if is_cut else found
    authors = [it for it in whole if it.email] or whole[:1]
    more_count = len(authors) - 1 + is_cut
    return authors, f" and {'at least ' if is_cut else ''}{more_count} more" if more_count else ""


def _read_body(message: Message) -> str:
    """Its plain text, else the words of its HTML; not those of a file or of another message that it brings."""
    texts = [it for it in _walk(message) if it.get_content_disposition() != "attachment" and not it.get_filename()]
    plain = "\n".join(_read_text(it) for it in texts if it.get_content_type() in ("text/plain", "text/"))
    if plain.strip():
        return plain
    return "\n".join(read_html(_read_text(it)) for it in texts if it.get_content_type() == "text/html")


def _read_text(part: Message) -> str:
    from imap_tools.utils import decode_value

    try:
        payload = part.get_payload(decode=True)
        charset = find_charset(part.get_content_charset())
        return decode_value(payload, charset) if isinstance(payload, bytes) else ""
    except _FAULTS:
        return ""


def _try_text(read: Callable[[], object]) -> str:
    try:
        return str(read())
    except _FAULTS:
        return ""


def _is_invitation(message: Message) -> bool:
    return any(part.get_content_type() == "text/calendar" for part in _walk(message))


def _walk(message: Message) -> Iterator[Message]:
    """The parts of a message in their order, without those of messages within it."""
    waiting = [message]
    for _ in range(_MOST_HEADERS):
        if not waiting:
            return
        part = waiting.pop()
        yield part
        inner = part.get_payload() if part.is_multipart() and part.get_content_maintype() == "multipart" else None
        if isinstance(inner, list):
            waiting.extend(it for it in reversed(inner) if isinstance(it, Message))


def parse_header_date(raw: bytes) -> datetime | None:
    """What the sender says of the time, where the mailbox does not know better; UTC where no zone is given."""
    from email.utils import parsedate_to_datetime

    found = re.search(rb"^Date:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)", raw[:65_536], re.MULTILINE | re.IGNORECASE)
    if found is None:
        return None
    try:
        at = parsedate_to_datetime(" ".join(found[1].decode("ascii", "replace").split()))
    except _FAULTS:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
