"""Code lines: comments and changes of a program's text that stand in a message without a fence around them.

Lines that add and take away comments, a hunk of a diff, a comment between slashes and stars, and lines of comment and
code below each other. A line behind "#" with a lone name or call below it is a heading, and the writer's own.

Source: the unified format of GNU diff; comments of Python, C and the languages that took theirs over.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from everfold.core.statements.segments import Span

_CHANGED_COMMENT: Final = re.compile(r"^[ \t]{0,3}[+-][ \t]*(?:#[ \t]|//|/\*)[^\n]*", re.MULTILINE)
_CHANGED_RUN: Final = re.compile(r"(?:^[ \t+-][^\n]*(?:\n|\Z))+", re.MULTILINE)
_CHANGED_LINE: Final = re.compile(r"^[ \t]{0,3}([+-])([^\n]*)", re.MULTILINE)
_COMMENT_OPENING: Final = re.compile(r"^[ \t]*/\*\*?(?=\s|\Z)", re.MULTILINE)
"""Not the pattern of a path ("/*.log"): a blank or the end of the line is behind it."""
_COMMENT_CLOSING: Final = "*/"
_EMPTY_LINE: Final = re.compile(r"\n[ \t]*\n|\Z")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_HUNK: Final = re.compile(r"^@@ -\d+(?:,(\d{1,4}))? \+\d+(?:,(\d{1,4}))? @@[^\n]*(?:\n|\Z)", re.MULTILINE)
_NO_NEWLINE_MARK: Final = "\\"
_NEW_MARKS: Final = ("+", _NO_NEWLINE_MARK)
_OLD_MARKS: Final = ("-", _NO_NEWLINE_MARK)
_CHANGE_MARKS: Final = ("+", "-", " ", _NO_NEWLINE_MARK)
"""Of lines that are new, old, on both sides, and of the remark that the file does not end in a line break."""
_has_comment: Final = re.compile(r"^[ \t]*(?:#|//)[ \t]", re.MULTILINE).search
_match_comment: Final = re.compile(r"\s*(?:#|(//))[ \t]").match
_match_strong_code: Final = re.compile(
    r"\s*(?:(?:async )?def \w+\(|class \w+(?:\(.*\))?:\s*$|from [\w.]+ import |#include "
    r"|(?:const|let|var|final) \w.* = |(?:func|fn|function) \w+\(|(?:public|private|protected|static) .*[({;]|[})\]]+;?\s*$|[\w.]+\(.*\);\s*$)"
).match
"""Lines of code that no person writes in a message of their own."""
_match_call: Final = re.compile(r"\s*[a-z_]\w*\(.*\)\s*$").match
_match_weak_code: Final = re.compile(r"\s*(?:[\w.\[\]]+ [-+*/|]?= \S|[\w.]+\(.*\)\s*$)").match
"""Calls and assignments, of which two make code of what stands beside them."""
_match_name: Final = re.compile(r"\s*(?:import [\w.]+;?\s*$|@\w[\w.]*(?:\(.*\))?\s*$)").match
"""Lines that only name something: they stand among code, and below a heading too."""
_LEAST_WEAK: Final = 2
_speaks_of_self: Final = re.compile(r"\b(?:I|my|me|we|our|us|ich|mein|meine|je|mon|ma|mes|yo|mi|mis)\b").search
_LEAST_SLASHED: Final = 2
"""So many lines of comment between slashes below each other need no code beside them."""


def list_code(text: str) -> Iterator[Span]:
    """The comments and the changes of code in a text, in no order. O(length)."""
    for run in _CHANGED_RUN.finditer(text):
        if _is_change(run[0]):
            yield from (found.span() for found in _CHANGED_COMMENT.finditer(text, run.start(), run.end()))
    yield from _list_block_comments(text)
    for hunk in _HUNK.finditer(text):
        yield hunk.start(), _find_hunk_end(text, hunk)
    if _has_comment(text):
        yield from _list_commented(text)


def _is_change(run: str) -> bool:
    """Whether lines below each other add and take away, or change a strong line of code; others are items of a list."""
    changed = _CHANGED_LINE.findall(run)
    return len({mark for mark, _ in changed}) > 1 or any(_match_strong_code(line) for _, line in changed)


def _list_block_comments(text: str) -> Iterator[Span]:
    """Comments between slashes and stars; one that is not closed ends with its paragraph."""
    last_closing = text.rfind(_COMMENT_CLOSING)
    at = 0
    while opened := _COMMENT_OPENING.search(text, at):
        at = _find_comment_end(text, opened.end(), is_closed=opened.end() <= last_closing)
        yield opened.start(), at


def _find_comment_end(text: str, start: int, *, is_closed: bool) -> int:
    if is_closed:
        return text.index(_COMMENT_CLOSING, start) + len(_COMMENT_CLOSING)
    found = _EMPTY_LINE.search(text, start)
    return found.start() if found else len(text)


def _find_hunk_end(text: str, hunk: re.Match[str]) -> int:
    """Where the lines end that a hunk's head counts, old and new ones; an empty one among them is unchanged."""
    old_count, new_count = int(hunk[1] or 1), int(hunk[2] or 1)
    at = hunk.end()
    for line in _LINE.finditer(text, at):
        mark = line[0][0]
        if (old_count <= 0 and new_count <= 0 and mark != _NO_NEWLINE_MARK) or not (
            mark in _CHANGE_MARKS or line[0].isspace()
        ):
            break
        old_count -= mark not in _NEW_MARKS
        new_count -= mark not in _OLD_MARKS
        at = line.end()
    return at


def _list_commented(text: str) -> Iterator[Span]:
    """Comments and lines of code below each other, where code is among them, or comments that no heading looks like."""
    at = 0
    for is_code, run in groupby(_LINE.findall(text), key=_is_code_or_comment):
        lines = list(run)
        end = at + sum(map(len, lines))
        if is_code and _is_commented(lines):
            yield at, end
        at = end


def _is_code_or_comment(line: str) -> bool:
    return any(match(line) for match in (_match_comment, _match_strong_code, _match_weak_code, _match_name))


def _is_commented(lines: list[str]) -> bool:
    comments = [found for found in map(_match_comment, lines) if found]
    slashed = [found for found in comments if found[1] is not None and not _speaks_of_self(found.string)]
    return len(slashed) >= _LEAST_SLASHED or (bool(comments) and _has_code(lines))


def _has_code(lines: list[str]) -> bool:
    """Whether lines have a strong one of code, two weak ones, or a call above what might be a heading."""
    weak_count = sum(_match_weak_code(line) is not None for line in lines)
    return weak_count >= _LEAST_WEAK or _match_call(lines[0]) is not None or any(map(_match_strong_code, lines))
