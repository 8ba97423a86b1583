"""The answer of a context source as plain lines: without invisible characters, with absolute dates, cut to a budget."""

import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from everfold.core.text.tokens import estimate_text_tokens, truncate_to_tokens
from everfold.core.threats.disguises import UNSEEN

_LINE_ENDS: Final = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NOT_SHOWN: Final = re.compile(f"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f{UNSEEN}]")
"""Control characters, also those of terminals, and what is not seen: bidirectional marks, joiners, tags.

Source: Unicode UAX 9 and Default_Ignorable_Code_Point; ECMA-48 for the controls.
"""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPACES: Final = re.compile(r"\s+")
_MOST_MARKS: Final = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]+"
)
"""Piles of combining marks that would cover the lines around them; three carry every language's letters."""

CUT_TOKENS: Final = 24
"""What the mark of `fit_lines` may cost. Source: our estimate of it with two numbers of seven digits, 21, and reserve."""

_MOST_DEPTH: Final = 12
"""How deep JSON is written as indented lines; what lies deeper stands as compact JSON."""
_MOST_INLINE_CHARS: Final = 80


def clean_line(text: str, *, most_chars: int = 300) -> str:
    """A text of others as one line: spaces and line ends joined, what is not seen left out, cut with `...`."""
    line = _SPACES.sub(" ", _clean(_LINE_ENDS.sub(" ", text))).strip()
    return line if len(line) <= most_chars else line[: max(most_chars - 3, 0)].rstrip() + "..."


def clean_text(text: str) -> str:
    """A text of others with its lines: what is not seen left out, ends trimmed, at most one empty line in a row."""
    kept: list[str] = []
    for line in (_clean(line).expandtabs(4).rstrip() for line in _LINE_ENDS.split(text)):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def _clean(text: str) -> str:
    shown = _NOT_SHOWN.sub("", _SURROGATE.sub("\ufffd", text))
    return unicodedata.normalize("NFC", _MOST_MARKS.sub(r"\1", shown))


def name_moment(at: datetime) -> str:
    """An aware time as `2026-11-22 09:00 +01:00`."""
    text = at.isoformat(sep=" ", timespec="minutes")
    return f"{text[:16]} {text[16:]}"


def fit_lines(text: str, budget_tokens: int) -> str:
    """The beginning of a text that fits the budget, cut at a line's end, with a line that says how much was left out.

    Only a first line that is too long by itself is cut inside, never within a character and what joins to it. A budget
    of 0 bounds nothing; one smaller than `CUT_TOKENS` leaves that line alone. O(n log n) in the lines.

    Source: DESIGN section 6, a cap of 0 is none; OF-67 for the visible mark.
    """
    if budget_tokens <= 0 or estimate_text_tokens(text) <= budget_tokens:
        return text
    lines = text.split("\n")
    usable_tokens = max(budget_tokens - CUT_TOKENS, 0)
    count = _count_fitting(lines, usable_tokens)
    kept = "\n".join(lines[:count]) if count else truncate_to_tokens(lines[0], usable_tokens, head_share=1.0).head
    left = text[len(kept) :]
    noun = "line" if len(lines) - count == 1 else "lines"
    mark = f"[... {len(lines) - count:,} more {noun} left out, about {estimate_text_tokens(left):,} tokens]"
    return f"{kept.rstrip()}\n{mark}" if kept.strip() else mark


def _count_fitting(lines: list[str], usable_tokens: int) -> int:
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_text_tokens("\n".join(lines[:middle])) <= usable_tokens:
            low = middle
        else:
            high = middle - 1
    return low


def render_json(value: object) -> str:
    """A JSON value as compact readable lines: `key: value`, lists as `- ...`, what is inside indented by two.

    A text alone is itself. Empty values are left out, so an answer that holds nothing gives the empty text.
    """
    if isinstance(value, str):
        return clean_text(value)
    return "\n".join(_render_lines(value, 0))


def _render_lines(value: object, depth: int) -> Iterator[str]:
    if depth >= _MOST_DEPTH:
        yield clean_line(_dump(value), most_chars=1000)
        return
    match value:
        case dict():
            for key, member in value.items():
                yield from _render_member(f"{clean_line(str(key))}:", member, depth)
        case list():
            for member in value:
                yield from _render_member("-", member, depth)
        case _:
            yield from _write_scalar(value).split("\n")


def _render_member(label: str, member: object, depth: int) -> Iterator[str]:
    if _is_empty(member):
        return
    text = _write_inline(member) if isinstance(member, dict | list) else _write_scalar(member)
    if text is None:
        yield label
        yield from (f"  {line}" for line in _render_lines(member, depth + 1))
        return
    first, *rest = text.split("\n")
    yield f"{label} {first}"
    yield from (f"  {line}" for line in rest)


def _write_inline(member: dict[object, object] | list[object]) -> str | None:
    """A short list of plain values on one line; None for anything else."""
    if not isinstance(member, list) or any(isinstance(it, dict | list) for it in member):
        return None
    text = ", ".join(_write_scalar(it) for it in member)
    return text if len(text) <= _MOST_INLINE_CHARS and "\n" not in text else None


def _write_scalar(value: object) -> str:
    return clean_text(value) if isinstance(value, str) else _dump(value)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})
