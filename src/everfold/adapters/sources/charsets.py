"""The character sets that mails and web pages name."""

import codecs
from typing import Final

_OF_HOST_NAMES: Final = frozenset({"idna", "punycode"})
"""Codecs of Python for labels of at most 63 characters; the time that they take grows with the square of a text's length.

Source: RFC 3492; RFC 1035, 2.3.4.
"""


def find_charset(name: str | None) -> str | None:
    """The character set of this name; None where it is unknown or does not decode text."""
    try:
        return None if name is None or codecs.lookup(name).name in _OF_HOST_NAMES else name
    except (LookupError, ValueError):
        return None
