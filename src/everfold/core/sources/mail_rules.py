"""Which mail a person wrote and which was sent to many, by common headers; and where its own text begins.

No sender, company or language is known here: only the message's own headers and the marks of its reader's
programs.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from everfold.core.sources.source_texts import clean_line

BulkReason = Literal["junk", "promotion", "newsletter", "mailing list", "bulk", "automatic"]
"""Why a message is left out."""

Headers = Mapping[str, Sequence[str]]
"""The values of each header by its name in lower case."""

_JUNK_FLAGS: Final = frozenset({"$junk", "junk"})
"""Source: IANA registry of IMAP keywords, `$Junk`; `Junk` as older programs write it."""
_NOTABLE_FLAGS: Final = frozenset({"\\flagged", "$important", "$flagged", "important", "starred"})
"""Source: RFC 3501, 2.3.2, `\\Flagged`; RFC 8457, `$Important`; the others are labels of an exported mailbox."""
_PROMOTION_LABELS: Final = re.compile(r"(?:category[ _]?)?(?:promotions|social|forums)\Z")
_BULK_PRECEDENCE: Final = frozenset({"bulk", "list", "junk"})
"""Source: RFC 3834, section 2, and RFC 2076, 3.9."""
_BULK_COMPLAINT_LEVEL: Final = re.compile(r"\bbcl:\s*([0-9]+)")
_BULK_LEVEL_FROM: Final = 7
"""Source: Microsoft documents the bulk complaint level in `X-Microsoft-Antispam` and 7 as its default threshold."""
_REPORT: Final = re.compile(r"multipart/report\b.*report-type=\"?(?:delivery-status|disposition-notification)")
"""A message of ours that did not arrive. Source: RFC 6522 and RFC 3464."""
_MOST_READ_CHARS: Final = 20_000
_QUOTED: Final = re.compile(r"\s*(?:>|\|\s)")
_ATTRIBUTION: Final = re.compile(r"\s*\S.{0,200}(?:<[^<>\s@]+@[^<>\s@]+>|\d{4}|\d:\d\d)[^\n]{0,60}:\s*\Z")
_SIGNATURE: Final = re.compile(r"-- ?\Z")
"""Source: RFC 3676, 4.3."""
_FORWARDED: Final = re.compile(r"\s*(?:-{3,}|_{8,})")


def find_bulk_reason(
    headers: Headers, flags: Collection[str] = (), *, is_invitation: bool = False
) -> BulkReason | None:
    """Why a message is counted and not shown; None for one to show.

    What its reader starred is always shown. A report that a message could not be delivered and an invitation count
    as a person's, although machines send them.

    Args:
        headers: The message's.
        flags: Its flags, keywords and labels, in lower case.
        is_invitation: One of its parts is an appointment.

    Source: RFC 2369 (List-Unsubscribe), RFC 2919 (List-Id), RFC 3834 (Auto-Submitted, Precedence), RFC 8058.
    """
    if is_notable(headers, flags):
        return None
    if _JUNK_FLAGS & set(flags) or _first(headers, "x-spam-flag").startswith("yes"):
        return "junk"
    if any(_PROMOTION_LABELS.match(label) for label in (*flags, *list_labels(headers))):
        return "promotion"
    if "list-unsubscribe" in headers or "list-unsubscribe-post" in headers:
        return "newsletter"
    if "list-id" in headers or "list-post" in headers:
        return "mailing list"
    if _is_bulk(headers):
        return "bulk"
    return "automatic" if _is_automatic(headers) and not is_invitation else None


def is_notable(headers: Headers, flags: Collection[str] = ()) -> bool:
    """Whether the reader, or a program of theirs, marked the message; what its sender says of it does not count."""
    return bool(_NOTABLE_FLAGS & {*flags, *list_labels(headers)})


def list_labels(headers: Headers) -> list[str]:
    """The labels that an exported mailbox keeps in a header, in lower case."""
    values = (" ".join(value.split()) for value in headers.get("x-gmail-labels", ()))
    return [label.strip(' "').lower() for value in values for label in value.split(",")]


def _is_bulk(headers: Headers) -> bool:
    level = _BULK_COMPLAINT_LEVEL.search(_first(headers, "x-microsoft-antispam"))
    return _first(headers, "precedence") in _BULK_PRECEDENCE or (
        level is not None and int(level[1][:4]) >= _BULK_LEVEL_FROM
    )


def _is_automatic(headers: Headers) -> bool:
    if _REPORT.match(_first(headers, "content-type")):
        return False
    return _first(headers, "auto-submitted").partition(";")[0].strip() not in ("", "no")


def _first(headers: Headers, name: str) -> str:
    values = headers.get(name) or ("",)
    return " ".join(values[0].split()).lower()


def read_first_lines(body: str, *, most_chars: int) -> str:
    """The beginning of what a message itself says, on one line: quotes of others and the signature left out."""
    said: list[str] = []
    was_quote = False
    for line in body[:_MOST_READ_CHARS].splitlines():
        if _SIGNATURE.match(line) or (said and _FORWARDED.match(line)):
            break
        is_quote = _QUOTED.match(line) is not None
        if not is_quote:
            said.append(line)
        elif said and not was_quote and _ATTRIBUTION.match(said[-1]):
            said.pop()
        was_quote = is_quote
    return clean_line("\n".join(said), most_chars=most_chars)
