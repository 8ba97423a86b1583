"""What the tests of rules know of the form of a pattern."""

import re

_EXCEPTION = re.compile(r"\(\?<?!")


def has_exceptions(pattern: str) -> bool:
    """Whether a pattern has a negative lookahead or lookbehind."""
    return _EXCEPTION.search(pattern) is not None


def drop_exceptions(pattern: str) -> str:
    """A pattern without its negative lookaheads and lookbehinds."""
    while (opened := _EXCEPTION.search(pattern)) is not None:
        pattern = pattern[: opened.start()] + pattern[_find_end(pattern, opened.end()) :]
    return pattern


def _find_end(pattern: str, at: int) -> int:
    """Where the group ends that was opened before a place."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        at += 2 if pattern[at] == "\\" else 1
    return at
