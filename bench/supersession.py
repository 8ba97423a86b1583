"""How many pairs of statements are rightly told apart, on pairs that were labelled by several hands.

Run: python bench/supersession.py [--misses]. Misses are shown of the pairs that the rules
were tuned on only: the others are held back.
"""

import json
import sys
from pathlib import Path
from typing import Final, TypedDict

from everfold.core.replacement.replacement import replaces

_PAIRS: Final = Path(__file__).parents[1] / "tests" / "data" / "supersession"
_KINDS: Final = ("distinct", "marked", "unmarked")


class Pair(TypedDict):
    """Two statements of one person, one after the other."""

    kind: str
    before: str
    after: str


def main() -> None:
    """Print for each file and kind how many pairs replace, said and saved."""
    for name in ("own", "fresh", "styles", "tempting", "unseen", "held_back"):
        rows = (_PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        with_misses = "--misses" in sys.argv and name in ("own", "fresh", "styles", "tempting")
        report(name, [json.loads(row) for row in rows], with_misses=with_misses)


def report(name: str, pairs: list[Pair], *, with_misses: bool) -> None:
    """Print the figures of one file, and the pairs of it that are decided wrongly."""
    for kind in _KINDS:
        given = [pair for pair in pairs if pair["kind"] == kind]
        said = [pair for pair in given if replaces(pair["after"], pair["before"], is_near=True)]
        saved = [pair for pair in given if replaces(pair["after"], pair["before"], is_saved=True, is_near=True)]
        print(f"{name:10} {kind:9} {len(said):4} of {len(given)} replaced where said, {len(saved):4} where saved")
        wrong = said if kind == "distinct" else [pair for pair in given if pair not in said]
        for pair in wrong if with_misses else ():
            print(f"    {pair['before']} | {pair['after']}")


if __name__ == "__main__":
    main()
