"""What it takes to begin: importing the package, the command's help, and what the core install brings along."""

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.report import ROOT, Row

TITLE = "import and install"
RUNS_COUNT = 20


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Time fresh processes, and count the distributions of the core's lock."""
    runs_count = 5 if is_quick else RUNS_COUNT
    bare = _process_ms(["-c", "pass"], runs_count)
    imported = _process_ms(["-c", "import everfold"], runs_count)
    opened = _process_ms(["-c", "import everfold; everfold.open; everfold.Everfold"], runs_count)
    rows = [
        Row(figure="import everfold, whole process", value=imported, unit="ms", most=150, digits=0),
        Row(figure="of it Python itself", value=bare, unit="ms", digits=0),
        Row(figure="import everfold and what opens a store", value=opened, unit="ms", most=250, digits=0),
    ]
    if (ROOT / "src" / "everfold" / "cli").is_dir():
        helped = _process_ms(["-m", "everfold.cli.main", "--help"], runs_count)
        rows.append(Row(figure="everfold --help, whole process", value=helped, unit="ms", most=250, digits=0))
    count = len(re.findall(r"^[\w.-]+==", (ROOT / "requirements" / "core.txt").read_text(), flags=re.MULTILINE)) + 1
    rows.append(Row(figure="distributions of the core install, everfold among them", value=count, most=19, digits=0))
    return rows, [f"Medians of {runs_count} processes."]


def _process_ms(arguments: list[str], runs_count: int) -> float:
    """Median milliseconds of a fresh process; the first, which fills caches, does not count."""
    secs: list[float] = []
    for _ in range(runs_count + 1):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parent)
        secs.append(time.perf_counter() - started)
    return statistics.median(secs[1:]) * 1e3
