"""From a file to a transcript: the formats of benchmarks first, then those that the package reads."""

from pathlib import Path
from typing import Final

from bench.transcripts import locomo, tau_bench
from everfold.adapters import transcripts
from everfold.adapters.transcripts.rows import read_rows
from everfold.core.log.transcripts import Transcript

_FORMATS: Final = {"locomo": locomo, "tau-bench": tau_bench}


def read_transcript(path: Path) -> Transcript:
    """Read a transcript file whole, or refuse it whole; the format is told by content.

    Raises:
        InvalidInputError: It is not what its format says; with ``line``.
    """
    rows = read_rows(path.read_bytes())
    for name, module in _FORMATS.items():
        if module.matches(rows):
            return Transcript(format=name, conversations=module.read(rows, path.stem))
    return transcripts.read_transcript(path)
