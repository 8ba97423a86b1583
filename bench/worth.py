"""What a window is worth: the figures of the table in bench/README.md, section "worth".

Run: python -m bench worth [--half first|second], or parts of it: python -m bench.worth answers recall [--half second]
The first half of each data set is for development, the second for the report.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from bench.report import Row, print_rows
from bench.worth_answers import measure_answers, measure_recall, measure_recall_with_memory
from bench.worth_baselines import BASELINES
from bench.worth_cost import measure_cost
from bench.worth_latency import measure_latency
from bench.worth_rules import measure_planted, measure_spread, measure_tau
from bench.worth_summaries import measure_summaries
from bench.worth_windows import Scope
from everfold.core.observation.costs import UNIT_PRICES, Prices

TITLE = "what a window is worth: answers, rules and what it costs"

PARTS: Final[Mapping[str, Callable[[Scope], list[Row]]]] = {
    "answers": measure_answers,
    "recall": measure_recall,
    "recall-memory": measure_recall_with_memory,
    "rules": measure_tau,
    "planted": measure_planted,
    "spread": measure_spread,
    "summaries": measure_summaries,
    "cost": measure_cost,
    "latency": measure_latency,
}


def run(*, is_quick: bool, half: Literal["first", "second"] = "first") -> tuple[list[Row], list[str]]:
    """Every part over one half; a quick run takes the first part alone."""
    parts = list(PARTS)[:1] if is_quick else list(PARTS)
    note = f"The {half} half of each data set. The second half is the report; the first is for development."
    rows = [row for name in parts for row in PARTS[name](Scope(half=half))]
    return rows, [note, *_tell_beaten(rows)]


def _tell_beaten(rows: Sequence[Row]) -> list[str]:
    """Where a baseline shows more than the window in the same budget: each row named "...: who" beside that of the window."""
    own = {row.figure: row.value for row in rows}
    beaten = [
        f"{who} {row.value:.1f} % against {value:.1f} % ({what})"
        for row in rows
        if isinstance(row.value, float)
        for what, _, who in [row.figure.rpartition(": ")]
        if who in BASELINES and isinstance(value := own.get(what), float) and row.value > value
    ]
    return [f"Baselines that show more than the window: {'; '.join(beaten) or 'none'}."]


def main(arguments: Sequence[str]) -> None:
    """Measure the parts that are named, all when none is, and print them."""
    parser = argparse.ArgumentParser(prog="python -m bench.worth", description="Measure what a window is worth.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="part", help=", ".join(PARTS))
    parser.add_argument("--half", choices=["first", "second"], default="first", help="which half of each data set")
    parser.add_argument(
        "--share", type=float, action="append", help="of answers and recall: only this budget, as a share of the talk"
    )
    parser.add_argument("--misses", action="store_true", help="print the rules that do not stand")
    parser.add_argument("--price", type=float, default=UNIT_PRICES.input, help="of a million input tokens")
    parser.add_argument("--cached-price", type=float, default=UNIT_PRICES.cached, help="of a million cached ones")
    chosen = parser.parse_args(arguments)
    shares = tuple(chosen.share or Scope().shares)
    prices = Prices(input=chosen.price, cached=chosen.cached_price)
    scope = Scope(half=chosen.half, shares=shares, tells_misses=chosen.misses, prices=prices)
    for name in chosen.parts or PARTS:
        began = time.perf_counter()
        rows = PARTS[name](scope)
        print_rows(f"{name} ({time.perf_counter() - began:.0f} s)", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
