"""Code lines: comments and changes of a program's text that stand in a message without a fence around them.

A line that adds or takes away a comment, a hunk of a diff, a comment between slashes and stars, and lines of comment
and code below each other. A line behind "#" with no code beside it is a heading, and the writer's own.

Source: the unified format of GNU diff; comments of Python, C and the languages that took theirs over.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from everfold.core.statements.segments import Span

_CHANGED_COMMENT: Final = re.compile(r"^[ \t]{0,3}[+-][ \t]*(?:#[ \t]|//|/\*)[^\n]*", re.MULTILINE)
_BLOCK_COMMENT: Final = re.compile(r"^[ \t]*/\*.*?(?:\*/|\Z)", re.MULTILINE | re.DOTALL)
_HUNK: Final = re.compile(r"^@@ -\d+(?:,(\d{1,4}))? \+\d+(?:,(\d{1,4}))? @@[^\n]*(?:\n|\Z)", re.MULTILINE)
_CHANGE_MARKS: Final = ("+", "-", " ", "\\")
_has_comment: Final = re.compile(r"^[ \t]*(?:#|//)[ \t]", re.MULTILINE).search
_match_comment: Final = re.compile(r"\s*(?:#|(//))[ \t]").match
_match_code: Final = re.compile(
    r"\s*(?:(?:async )?def \w+\(|class \w+(?:\(.*\))?:\s*$|from [\w.]+ import |import [\w.]+;?\s*$|#include |@\w[\w.]*(?:\(.*\))?\s*$"
    r"|(?:const|let|var|final) \w.* = |(?:func|fn|function) \w+\(|(?:public|private|protected|static) .*[({;]"
    r"|[\w.\[\]]+ [-+*/|]?= \S|[\w.]+\(.*\);?\s*$|[})\]]+;?\s*$)"
).match
"""The plainest lines of code, of which none is a sentence."""
_LEAST_SLASHED: Final = 2
"""So many lines of comment between slashes below each other need no code beside them."""


def list_code(text: str) -> Iterator[Span]:
    """The comments and the changes of code in a text, in no order. O(length)."""
    for pattern in (_CHANGED_COMMENT, _BLOCK_COMMENT):
        yield from (found.span() for found in pattern.finditer(text))
    for hunk in _HUNK.finditer(text):
        yield hunk.start(), _find_hunk_end(text, hunk)
    if _has_comment(text):
        yield from _list_commented(text)


def _find_hunk_end(text: str, hunk: re.Match[str]) -> int:
    """Where the lines end that a hunk's head counts; an empty one among them is unchanged."""
    counted = max(int(hunk[1] or 1), int(hunk[2] or 1))
    at = hunk.end()
    for number, line in enumerate(text[at:].splitlines(keepends=True)):
        if not line.startswith(_CHANGE_MARKS) and not (number < counted and line.isspace()):
            break
        at += len(line)
    return at


def _list_commented(text: str) -> Iterator[Span]:
    """Comments and lines of code below each other, where code is among them, or comments that no heading looks like."""
    at = 0
    for is_code, run in groupby(text.splitlines(keepends=True), key=_is_code_or_comment):
        lines = list(run)
        end = at + sum(map(len, lines))
        if is_code and _is_commented(lines):
            yield at, end
        at = end


def _is_code_or_comment(line: str) -> bool:
    return _match_comment(line) is not None or _match_code(line) is not None


def _is_commented(lines: list[str]) -> bool:
    comments = [found for found in map(_match_comment, lines) if found]
    slashed_count = sum(found[1] is not None for found in comments)
    return slashed_count >= _LEAST_SLASHED or 0 < len(comments) < len(lines)
