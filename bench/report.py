"""What a benchmark gives: rows for the table, and where the table is kept."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import apsw

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "RESULTS.md"
DATA = Path(os.environ.get("EVERFOLD_DATA", ROOT.parent / "shared" / "data"))

_HEAD = """# Results

Medians of repeated runs; the two sides of a ratio are measured in one run. Each section names the day and the machine on
which it was measured: compare times within a section only. What each figure means is in [README.md](README.md). A target is "<=" or ">=" a number, and is missing where the figure is only told.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure.

    Attributes:
        figure: What was measured.
        value: What came out; a text for what is no number.
        unit: Of the value.
        least: The value must be at least this.
        most: The value must be at most this.
        digits: Digits after the point that mean something.
    """

    figure: str
    value: float | str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    digits: int = 2

    @property
    def verdict(self) -> Literal["", "met", "missed"]:
        """Whether the target is met; empty where there is none."""
        if isinstance(self.value, str) or (self.least is None and self.most is None):
            return ""
        is_met = (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)
        return "met" if is_met else "missed"

    def cells(self) -> tuple[str, str, str, str]:
        """Figure, value, target and verdict as text."""
        value = self.value if isinstance(self.value, str) else f"{self.value:,.{self.digits}f}"
        bounds = [f">= {self.least:,g}"] if self.least is not None else []
        bounds += [f"<= {self.most:,g}"] if self.most is not None else []
        target = ", ".join(bounds)
        return self.figure, f"{value} {self.unit}".strip(), target, self.verdict


def describe_machine() -> str:
    """Processor, cores, memory, Python and SQLite of this machine, in one line."""
    model = _first_match(Path("/proc/cpuinfo"), r"model name\s*:\s*(.+)") or platform.processor() or "unknown processor"
    memory = _first_match(Path("/proc/meminfo"), r"MemTotal:\s*(\d+) kB")
    size = f"{int(memory) / 2**20:.0f} GB of memory" if memory else "unknown memory"
    return (
        f"{model}, {os.cpu_count()} cores, {size}; {platform.system()}, Python {platform.python_version()}, "
        f"SQLite {apsw.sqlite_lib_version()} (APSW {apsw.apsw_version()})"
    )


def _first_match(path: Path, pattern: str) -> str | None:
    if not path.exists():
        return None
    match = re.search(pattern, path.read_text())
    return match[1].strip() if match else None


def read_load() -> str:
    """How busy the machine is with other work before a benchmark begins."""
    return f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores busy before"


def write_section(
    name: str, title: str, rows: Sequence[Row], *, command: str, load: str, notes: Sequence[str] = ()
) -> str:
    """One benchmark as a section of the results."""
    lines = [f"## {name}: {title}", "", f"`{command}`; {datetime.now(UTC):%Y-%m-%d}; {load}; {describe_machine()}", ""]
    lines += ["| figure | value | target | |", "|---|---:|---:|---|"]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    if notes:
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


def save_section(path: Path, name: str, section: str, *, order: Sequence[str]) -> None:
    """Put a section in its place in the results file; the others stay."""
    sections: dict[str, str] = {}
    if path.exists():
        for block in re.split(r"^(?=## )", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            sections[block[3:].partition(":")[0]] = block.strip() + "\n"
    sections[name] = section
    known = [sections[key] for key in order if key in sections]
    path.write_text("\n".join([_HEAD, *known]), "utf-8")


def print_rows(name: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
    """The same for a terminal."""
    print(f"\n{name}")
    width = max(len(row.figure) for row in rows)
    for row in rows:
        figure, value, target, verdict = row.cells()
        print(f"  {figure:{width}}  {value:>22}  {target:>10}  {verdict}")
    for note in notes:
        print(f"  {note}")
