"""Draw `docs/pictures/states.svg`: the states of a compaction, and the causes that change them.

The arrows are made from the table of transitions. Only the places of the states are chosen here.
`make pages` writes the picture anew; `tests/docs/test_reference.py` compares.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from everfold.core.compaction.transitions import OPEN_STATES, Cause, CompactionState

OPEN, NEW = "open", "none"
Moves = Mapping[tuple[str, str], tuple[str, ...]]

WIDTH, HEIGHT, BOX_WIDE, BOX_HIGH = 780, 400, 110, 36
PLACES: Final = {
    "pending": (240, 90),
    "running": (450, 90),
    "ready": (660, 90),
    "done": (240, 350),
    "degraded": (450, 350),
    "cancelled": (660, 350),
}
"""The middle of each state."""
ARROWS: Final = {
    (NEW, "pending"): ("M57 90H185", 112, 82),
    ("pending", "running"): ("M295 82H395", 345, 74),
    ("running", "pending"): ("M395 98H295", 345, 115),
    ("running", "ready"): ("M505 90H605", 555, 82),
    ("ready", "pending"): ("M660 108Q450 226 240 108", 450, 185),
    (OPEN, "done"): ("M240 205V332", 262, 275),
    (OPEN, "degraded"): ("M450 205V332", 484, 275),
    (OPEN, "cancelled"): ("M660 205V332", 696, 275),
    ("degraded", "pending"): ("M420 332 270 108", 340, 275),
    (NEW, "done"): ("M50 97Q50 350 185 350", 100, 275),
}
"""The line of each arrow, and the middle of its causes. `open` is the frame around the states in which work is left."""

STYLE: Final = """\
  text { font: 13px system-ui, sans-serif; fill: #333d4b; text-anchor: middle; }
  .cause { font-size: 12px; fill: #5c6675; }
  .card { fill: #ffffff; stroke: #dfe4ea; }
  .state { fill: #eef4fb; stroke: #2f7fd1; } .frame { fill: none; stroke: #a3adba; stroke-dasharray: 5 4; }
  .move { fill: none; stroke: #5c6675; marker-end: url(#head); } #head path { fill: #5c6675; }
  @media (prefers-color-scheme: dark) {
    text { fill: #dfe4ea; } .cause { fill: #a3adba; }
    .card { fill: #14181e; stroke: #2b323c; }
    .state { fill: #1c2b3d; stroke: #5d9fe6; } .frame { stroke: #5c6675; }
    .move { stroke: #a3adba; } #head path { fill: #a3adba; }
  }"""
HEAD: Final = (
    '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0 8 4 0 8z"/></marker>'
)


def list_moves(table: Mapping[Cause, Mapping[CompactionState | None, CompactionState]]) -> Moves:
    """The causes by the states before and after them. What every open state does is told once, of `open`."""
    causes: dict[tuple[str, str], tuple[str, ...]] = {}
    for cause, moves in table.items():
        changes = {(before or NEW, after) for before, after in moves.items() if before != after}
        for after in {after for _, after in changes}:
            if (shared := {(state, after) for state in OPEN_STATES}) <= changes:
                changes = changes - shared | {(OPEN, after)}
        for change in changes:
            causes[change] = (*causes.get(change, ()), cause)
    return dict(sorted(causes.items()))


def draw_states(moves: Moves) -> str:
    """The picture as SVG.

    Raises:
        KeyError: the table has a move without an arrow here; give it one.
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            "<title>The states of a compaction and the causes that change them</title>",
            f"<style>\n{STYLE}\n</style>",
            f"<defs>{HEAD}</defs>",
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
            '<rect class="frame" x="160" y="35" width="580" height="170" rx="10"/>',
            '<circle class="state" cx="50" cy="90" r="7"/>',
            *(line for state in PLACES for line in _draw_state(state)),
            *(line for move, causes in moves.items() for line in _draw_arrow(move, causes)),
            "</svg>\n",
        ]
    )


def _draw_state(state: str) -> Iterator[str]:
    x, y = PLACES[state]
    left, top = x - BOX_WIDE // 2, y - BOX_HIGH // 2
    yield f'<rect class="state" x="{left}" y="{top}" width="{BOX_WIDE}" height="{BOX_HIGH}" rx="6"/>'
    yield f'<text x="{x}" y="{y + 5}">{state}</text>'


def _draw_arrow(move: tuple[str, str], causes: tuple[str, ...]) -> Iterator[str]:
    path, x, y = ARROWS[move]
    yield f'<path class="move" d="{path}"/>'
    yield f'<text class="cause" x="{x}" y="{y}">{", ".join(causes)}</text>'
