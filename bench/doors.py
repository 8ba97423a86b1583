"""What a door adds to a call of the model, in the environment of each framework.

`make doors` makes the environments; a door without one is left out. Each is measured in a process of its own by
`doors_side.py`: the hooks of the door are called as the framework calls them, with the framework's own objects.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

from bench.report import ROOT, Row

TITLE = "what a door adds to a call of the model"
DOORS = ("langchain", "openai-agents", "pydantic-ai", "google-adk", "agent-framework", "strands", "llama-index")
MOST_MS = 3.0
"""Source: the requirement that an adapter adds at most 3 ms a model call at 1,000 messages."""


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Measure every door that has an environment."""
    found = [door for door in DOORS if _find_python(door).exists()]
    rows = [row for door in found for row in _rows(door, _measure(door, is_quick=is_quick))]
    missing = [f"Not measured, for there is no environment: {door}." for door in DOORS if door not in found]
    return rows, ["Medians of processor time.", *missing]


def _find_python(door: str) -> Path:
    return ROOT / f".venv-door-{door}" / "bin" / "python"


def _measure(door: str, *, is_quick: bool) -> dict[str, Any]:
    """What one door takes, in milliseconds."""
    done = subprocess.run(
        [_find_python(door), "-W", "ignore", "-m", "bench.doors_side", door, *(["--quick"] if is_quick else [])],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": "/tmp"},  # a clean one
        text=True,
    )
    given: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return given


def _rows(door: str, given: dict[str, Any]) -> list[Row]:
    count = given["messages_count"]
    return [
        Row(figure=f"{door}: the adapter, {count:,} messages", value=given["adapter_ms"], unit="ms", most=MOST_MS),
        Row(figure=f"{door}: the engine's own calls beside it", value=given["engine_ms"], unit="ms"),
    ]
