"""Runs benchmarks and writes RESULTS.md: `python -m bench [name ...] [--quick] [--profile]`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from bench.report import RESULTS, Row, print_rows, read_load, save_section, write_section
from bench.scripts import run_script, title

NAMES = (
    "turn",
    "endless",
    "folds",
    "holding",
    "refresh",
    "import",
    "search",
    "peers",
    "startup",
    "tokens",
    "statements",
    "strengths",
    "extraction",
    "memory",
    "size",
    "digests",
    "threats",
    "vectors",
    "server",
    "doors",
    "gateway",
    "postgres",
    "replicas",
    "hook",
    "worth",
)
MODULES = {"import": "batch_import"}
SCRIPTS = ("tokens", "statements", "digests")
_PROFILED = ("turn", "endless", "folds", "import")


def main() -> None:
    """Run what is asked for, all when nothing is; a quick run only prints."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, and write bench/RESULTS.md.")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="name", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="smaller runs; prints, and writes nothing without --out")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, where a benchmark can")
    parser.add_argument(
        "--against", type=Path, help="a folder with another everfold, as an unpacked wheel: turns of both"
    )
    parser.add_argument("--half", choices=["first", "second"], default="first", help="of worth: which half of the data")
    parser.add_argument("--out", type=Path, help="the results file; bench/RESULTS.md when left out")
    chosen = parser.parse_args()
    out = chosen.out or (None if chosen.quick or chosen.profile else RESULTS)
    command = " ".join(["python -m bench", *_hide_folder(sys.argv[1:], chosen.against)])
    for name in chosen.names or NAMES:
        load = read_load()
        title, rows, notes = measure(
            name, is_quick=chosen.quick, is_profiled=chosen.profile, against=chosen.against, half=chosen.half
        )
        print_rows(name, rows, notes)
        if out is not None:
            section = write_section(name, title, rows, command=command, load=load, notes=notes)
            save_section(out, name, section, order=NAMES)


def _hide_folder(words: Sequence[str], folder: Path | None) -> Iterator[str]:
    """The words of a command, with the name of a folder of this machine left out."""
    return (word if folder is None else word.replace(str(folder), "FOLDER") for word in words)


def measure(
    name: str, *, is_quick: bool, is_profiled: bool, against: Path | None = None, half: str = "first"
) -> tuple[str, list[Row], list[str]]:
    """One benchmark's title, rows and notes."""
    if name in SCRIPTS:
        return (title(name), *run_script(name))
    module = import_module(f"bench.{MODULES.get(name, name)}")
    options: dict[str, object] = {"profile": True} if is_profiled and name in _PROFILED else {}
    if against is not None and name == "turn":
        options["against"] = against
    if name == "worth":
        options["half"] = half
    return (module.TITLE, *module.run(is_quick=is_quick, **options))


if __name__ == "__main__":
    main()
