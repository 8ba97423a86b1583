"""Writes the file that `everfold demo` replays: `python -m bench.pack_demo`."""

import json
from collections import defaultdict
from dataclasses import asdict
from typing import Any

from bench.material.demo import demo_log
from bench.report import ROOT

PATH = ROOT / "src" / "everfold" / "demo" / "conversation.jsonl"


def write_rows() -> str:
    """One line for each message, with the facts that it says."""
    log = demo_log()
    facts: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for fact in log.facts:
        row = {key: value for key, value in asdict(fact).items() if value is not None}
        facts[row.pop("seq")].append(row)
    rows: list[dict[str, Any]] = []
    for seq, entry in enumerate(log.entries, 1):
        planted = {"facts": facts[seq]} if seq in facts else {}
        rows.append({"said_at": entry.said_at.isoformat(), "message": entry.wire, **planted})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    PATH.write_text(write_rows(), "utf-8")
