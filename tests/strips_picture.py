"""Draw `docs/pictures/strips.svg`: what becomes of each message of the demo's conversation, compaction by compaction.

`make pages` writes the picture anew; `tests/docs/test_reference.py` compares.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import everfold
from everfold.core.compaction.strips import Fate, Strip
from everfold.demo.reading import read_demo

MESSAGES_COUNT = 112
LIMIT_TOKENS = 4000
SETTINGS = {"compaction": {"synchronous": True}, "recall": {"enabled": False}}

LEFT, TOP, CELL, HIGH, GAP = 164, 40, 6.4, 26, 18
WIDTH = LEFT + round(MESSAGES_COUNT * CELL) + 16

NAMES = {
    "head": "first message",
    "kept": "user message, kept word for word",
    "tail": "newest messages",
    "digest": "in a digest",
    "rollup": "in the rollup of the oldest",
    "quote": "in the rollup, its rule quoted",
}
"""What the legend tells of each colour; a kept message that folds now has the colour of what it folds into."""

STYLE = """\
  text { font: 13px system-ui, sans-serif; fill: #333d4b; }
  .small { font-size: 12px; fill: #5c6675; }
  .card { fill: #ffffff; stroke: #dfe4ea; }
  .head { fill: #143a7a; } .kept { fill: #2f7fd1; } .tail { fill: #79b7ea; }
  .digest { fill: #e39a2d; } .rollup { fill: #f1d9ac; } .quote { fill: #c23a73; }
  @media (prefers-color-scheme: dark) {
    text { fill: #dfe4ea; } .small { fill: #a3adba; }
    .card { fill: #14181e; stroke: #2b323c; }
    .head { fill: #bcd5ff; } .kept { fill: #5d9fe6; } .tail { fill: #2f5e8d; }
    .digest { fill: #d98f27; } .rollup { fill: #6b532a; } .quote { fill: #ea6a9d; }
  }"""


async def draw_picture() -> str:
    """The picture as SVG: a row for the log after each compaction, and one for the log as it is now."""
    rows = await _read_rows()
    legend_at = TOP + len(rows) * (HIGH + GAP) + 8
    high = legend_at + 50
    body = [line for index, row in enumerate(rows) for line in _draw_row(TOP + index * (HIGH + GAP), *row)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" role="img">',
            f"<title>A log of {MESSAGES_COUNT} messages after each of its compactions</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{high - 1}" rx="8"/>',
            f'<text class="small" x="{LEFT}" y="28">message 1</text>',
            f'<text class="small" x="{WIDTH - 16}" y="28" text-anchor="end">message {MESSAGES_COUNT}</text>',
            *body,
            *_draw_legend(legend_at),
            "</svg>\n",
        ]
    )


async def _read_rows() -> list[tuple[str, str, Strip]]:
    """Two lines of words, and the strip, for each row."""
    async with everfold.open("memory://", settings=SETTINGS) as engine:
        session = await engine.session(user="ilse", agent="shop", limit=LIMIT_TOKENS)
        for entry in read_demo().messages[:MESSAGES_COUNT]:
            if entry.wire["role"] == "assistant":
                await session.window()
            await session.append(entry.wire, said_at=entry.said_at)
        window = await session.window()
        trace = await session.inspect.trace()
    rows = [
        (
            f"Compaction {number}",
            f"{step.report.tokens_before:,} → {step.report.tokens_after:,} tokens",
            step.after,
        )
        for number, step in enumerate(trace.compactions, start=1)
    ]
    return [*rows, ("Now", f"{window.report.tokens:,} of {window.report.budget_tokens:,} tokens", trace.now)]


def _draw_row(top: int, name: str, figures: str, strip: Strip) -> Iterator[str]:
    yield f'<text x="16" y="{top + 11}">{name}</text>'
    yield f'<text class="small" x="16" y="{top + 26}">{figures}</text>'
    starts = accumulate((count for _, count in strip.runs), initial=0)
    for (fate, count), start in zip(strip.runs, starts, strict=False):
        for cell in range(start, start + count):
            yield f'<rect class="{_name(fate)}" x="{LEFT + cell * CELL:.1f}" y="{top}" width="5.4" height="{HIGH}"/>'


def _name(fate: Fate) -> str:
    name = {"folded_later": "rollup", "running": "kept"}.get(fate, fate)
    if name not in NAMES:
        raise ValueError(f"no colour for {fate}: choose a conversation without it")
    return name


def _draw_legend(top: int, columns: Sequence[int] = (LEFT, LEFT + 262, LEFT + 494)) -> Iterator[str]:
    for index, (fate, words) in enumerate(NAMES.items()):
        x, y = columns[index // 2], top + index % 2 * 22
        yield f'<rect class="{fate}" x="{x}" y="{y}" width="12" height="12"/>'
        yield f'<text class="small" x="{x + 18}" y="{y + 11}">{words}</text>'
