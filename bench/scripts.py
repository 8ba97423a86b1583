"""The measurements that are scripts of their own, by the lines that sum them up: tokens, statements, digests."""

import os
import re
import subprocess
import sys
from pathlib import Path

from bench.report import DATA, ROOT, Row

_TITLES = {
    "tokens": "the token estimate beside cl100k_base",
    "statements": "what the detector of extract lines finds, on labelled sentences",
    "digests": "what extractive digests of real conversations hold",
}
_FILES = {"tokens": "tokens_accuracy.py", "statements": "statements.py", "digests": "digest_quality.py"}


def title(name: str) -> str:
    """The heading of a script's section."""
    return _TITLES[name]


def run_script(name: str) -> tuple[list[Row], list[str]]:
    """Run a script and take its figures out of what it prints."""
    result = subprocess.run(
        [sys.executable, str(Path(__file__).parent / _FILES[name])],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "EVERFOLD_DATA": str(DATA), "EVERFOLD_BENCH_DATA": str(DATA), "PYTHONPATH": _python_path()},
    )
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        return [Row(figure=name, value=f"not measured: {last}")], []
    rows = {"tokens": _read_tokens, "statements": _read_statements, "digests": _read_digests}[name](result.stdout)
    return rows, [f"By `python bench/{_FILES[name]}`, which prints all of it."]


def _python_path() -> str:
    return os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])


def _read_tokens(text: str) -> list[Row]:
    rows: list[Row] = []
    stressed: dict[str, float] = {}
    for line in text.splitlines():
        if match := re.match(r"(\w+): ([\w ]+?)\s+\d+\s+\d+\s+\d+\s+(\d+\.\d+)\s", line):
            if match[1] == "stress":
                stressed[match[2]] = float(match[3])
                continue
            figure = f"estimate to real, {match[1]}: {match[2]}"
            rows.append(Row(figure=figure, value=float(match[3]), least=0.85, most=1.15, digits=3))
        elif match := re.match(r"(.+): ([\d.]+) (microseconds|MB/s)$", line):
            unit = match[3].replace("microseconds", "µs")
            rows.append(Row(figure=match[1], value=float(match[2]), unit=unit, digits=1))
    for name in sorted({min(stressed, key=stressed.__getitem__), max(stressed, key=stressed.__getitem__)}):
        figure = f"estimate to real, furthest of {len(stressed)} stress texts: {name}"
        rows.append(Row(figure=figure, value=stressed[name], digits=3))
    return rows


def _read_statements(text: str) -> list[Row]:
    rows: list[Row] = []
    for line in text.splitlines():
        if match := re.match(r"(\w+): (\d+) sentences; standing precision ([\d.]+) \(.*?\) recall ([\d.]+)", line):
            of = f"standing statements, {match[1]} ({match[2]} sentences)"
            rows.append(Row(figure=f"{of}: precision", value=float(match[3]), digits=3))
            rows.append(Row(figure=f"{of}: recall", value=float(match[4]), digits=3))
        elif match := re.match(r"(\S.+): ([\d.]+) (us|MB/s)$", line):
            rows.append(Row(figure=match[1], value=float(match[2]), unit=match[3].replace("us", "µs"), digits=1))
    return rows


def _read_digests(text: str) -> list[Row]:
    rows: list[Row] = []
    of = ""
    for line in text.splitlines():
        if match := re.match(r"(.+?), (\d+ talks), ([\d.]+) ms each", line):
            of = match[1]
            rows.append(Row(figure=f"{of}, {match[2]}: a digest", value=float(match[3]), unit="ms", digits=1))
        elif line.startswith("   "):
            rows.append(Row(figure=f"{of}: share that is held", value=re.sub(r"\s{2,}", ", ", line.strip())))
    return rows
