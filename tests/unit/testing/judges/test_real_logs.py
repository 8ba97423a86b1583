"""Real logs of tool-calling agents pass the judge as they are, where they lie beside the project."""

import json
from pathlib import Path
from typing import Any

from everfold.testing import check_openai_request


def test_airline_logs_are_valid_requests(real_data: Path) -> None:
    """Each of the airline conversations is accepted as it was logged."""
    logs = [
        json.loads(line)["messages"] for line in (real_data / "tau-airline-dev.jsonl").read_text("utf-8").splitlines()
    ]
    violations = {index: check_openai_request({"messages": log}) for index, log in enumerate(logs)}
    assert {index: found for index, found in violations.items() if found} == {}


def test_the_coding_log_is_a_valid_request(real_data: Path) -> None:
    """The coding agent's run is accepted as it was logged, but for a call at its end that was never answered."""
    log: list[dict[str, Any]] = json.loads((real_data / "coding-dev.json").read_text("utf-8"))
    violations = check_openai_request({"messages": log})
    last_is_open = bool(log[-1].get("tool_calls"))
    assert len(violations) == int(last_is_open)
    assert all("the end: no tool message answers" in violation for violation in violations)
