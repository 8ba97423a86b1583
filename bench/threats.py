"""What the scan of memory catches, what it takes for an attack by mistake, and what it costs."""

import json
import time
from typing import TypedDict

from bench.report import ROOT, Row
from everfold.core.threats.scanning import scan_memory

TITLE = "attacks caught and false alarms of the memory scan"
_LABELS = ROOT / "tests" / "data" / "threats"


class Label(TypedDict):
    """An attack with the kinds that fit it, or a benign note."""

    text: str
    kinds: list[str]
    split: str


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Scan both corpora by part, and time the benign notes."""
    rounds_count = 3 if is_quick else 20
    attacks, benign = read_labels("attacks"), read_labels("benign")
    rows: list[Row] = []
    for split in ("dev", "held", "fresh"):
        rows += rate(
            [it for it in attacks if it["split"] == split], [it for it in benign if it["split"] == split], split
        )
    texts = [label["text"] for label in benign]
    ascii_page = "\n".join(text for text in texts if text.isascii())
    other_page = "\n".join(text for text in texts if not text.isascii())
    rows += [
        Row(
            figure="scan of a benign note, mean",
            value=time_scans(texts, rounds_count) / len(texts),
            unit="us",
            digits=0,
        ),
        Row(
            figure="scan of ASCII, 1,000 characters", value=per_thousand(ascii_page, rounds_count), unit="us", digits=0
        ),
        Row(
            figure="scan of other scripts, 1,000 characters",
            value=per_thousand(other_page, rounds_count),
            unit="us",
            digits=0,
        ),
    ]
    return rows, [
        f"Mean length of a note: {sum(map(len, texts)) / len(texts):.0f} characters. Means of {rounds_count} rounds."
    ]


def read_labels(name: str) -> list[Label]:
    """One corpus."""
    rows = (_LABELS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(row) for row in rows]


def rate(attacks: list[Label], benign: list[Label], split: str) -> list[Row]:
    """Catch rate, the same with the kind, and false alarm rate of one part."""
    found = [{threat.kind for threat in scan_memory(label["text"], is_note=True)} for label in attacks]
    as_kind = sum(bool(kinds & set(label["kinds"])) for kinds, label in zip(found, attacks, strict=True))
    alarms = sum(bool(scan_memory(label["text"], is_note=True)) for label in benign)
    return [
        _share(f"attacks caught, {split}", sum(map(bool, found)), len(attacks)),
        _share(f"attacks caught as their kind, {split}", as_kind, len(attacks)),
        _share(f"false alarms, {split}", alarms, len(benign)),
    ]


def _share(figure: str, count: int, total: int) -> Row:
    return Row(figure=f"{figure} ({count} of {total})", value=count / total * 100, unit="%", digits=1)


def per_thousand(text: str, rounds_count: int) -> float:
    """Microseconds of processor time for 1,000 characters, scanned in texts of that length."""
    pieces = [text[at : at + 1_000] for at in range(0, len(text), 1_000)]
    return time_scans(pieces, rounds_count) / len(text) * 1_000


def time_scans(texts: list[str], rounds_count: int) -> float:
    """Microseconds of processor time to scan all texts once; the first round, which makes patterns ready, is left out."""
    for text in texts:
        scan_memory(text)
    started = time.process_time()
    for _ in range(rounds_count):
        for text in texts:
            scan_memory(text)
    return (time.process_time() - started) / rounds_count * 1e6


if __name__ == "__main__":
    from bench.report import print_rows

    print_rows("threats", *run(is_quick=False))
