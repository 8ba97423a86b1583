"""Real logs of tool-calling agents pass the judge as they are, where they lie beside the project."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everfold.testing import check_openai_request


def _data_folders() -> Iterator[Path]:
    if "EVERFOLD_DATA" in os.environ:
        yield Path(os.environ["EVERFOLD_DATA"])
    yield Path(__file__).parents[3].parent / "shared" / "data"


def _read(name: str) -> str:
    for folder in _data_folders():
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    pytest.skip(f"{name} lies neither in EVERFOLD_DATA nor in ../shared/data")


def test_airline_logs_are_valid_requests() -> None:
    """Each of the airline conversations is accepted as it was logged."""
    logs = [json.loads(line)["messages"] for line in _read("tau-airline-dev.jsonl").splitlines()]
    violations = {index: check_openai_request({"messages": log}) for index, log in enumerate(logs)}
    assert {index: found for index, found in violations.items() if found} == {}


def test_the_coding_log_is_a_valid_request() -> None:
    """The coding agent's run is accepted as it was logged, but for a call at its end that was never answered."""
    log: list[dict[str, Any]] = json.loads(_read("coding-dev.json"))
    violations = check_openai_request({"messages": log})
    last_is_open = bool(log[-1].get("tool_calls"))
    assert len(violations) == int(last_is_open)
    assert all("the end: no tool message answers" in violation for violation in violations)
