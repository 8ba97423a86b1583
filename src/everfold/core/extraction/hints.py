"""Hints of plug-ins and of what was found, joined and bounded."""

from collections.abc import Sequence
from typing import Final

from everfold.core.memory.items import Item

HINT_CHARS = 600
"""The most that is taken of one plug-in's hint. Source: a hint is a few lines beside a digest of at most 2,048 tokens
(DESIGN 3.4), so that all hints together take at most a quarter of what the digest may have."""

HINTS_CHARS = 2000
"""The most that the hints of all plug-ins take together, names included. Source: as for one hint."""

NAME_CHARS = 60

MOST_HINTED: Final = 24
"""How many items a hint names at most; its length cuts it sooner where they are long."""

_CUT = "…"


def join_hints(hints: Sequence[tuple[str, str]]) -> str:
    """One text of all hints, each after the name of its plug-in, in their order.

    A hint is cut at `HINT_CHARS`; those that no longer fit into `HINTS_CHARS` are cut or left out from the end. Empty
    hints are left out.
    """
    lines: list[str] = []
    left_chars = HINTS_CHARS
    for name, hint in hints:
        text = _cut(hint.strip(), HINT_CHARS)
        head = f"[{_cut(' '.join(name.split()), NAME_CHARS)}] "
        if not text or left_chars <= len(head) + len(_CUT):
            continue
        line = head + _cut(text, left_chars - len(head))
        lines.append(line)
        left_chars -= len(line) + 1
    return "\n".join(lines)


def hint_items(found: Sequence[tuple[int, Item]]) -> str:
    """What memory has from messages, each item after the number of its message: what counts most first, a line each.

    Bounded as every hint is.
    """
    ranked = sorted(found, key=lambda one: (not one[1].is_explicit, -one[1].authority, -one[1].confidence, one[0]))
    lines = [f"#{seq} {item.kind}: {' '.join(item.statement.split())}" for seq, item in ranked[:MOST_HINTED]]
    return join_hints([("memory", "\n".join(lines))])


def _cut(text: str, cap_chars: int) -> str:
    return text if len(text) <= cap_chars else text[: cap_chars - len(_CUT)].rstrip() + _CUT
